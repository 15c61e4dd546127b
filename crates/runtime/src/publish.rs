//! Putting jobs in.

use std::fmt;
use std::iter::Peekable;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::admission::Patience;
use crate::dead_letters::{Body, DeadLetter, Filter, Reason, Redriven};
use crate::dead_letters::{DeadLetterError, DeadLetters, EntryId};
use crate::engine::Engine;
use crate::job::{Job, JobId};
use crate::publish_error::PublishError;

/// Puts jobs into a runtime. Clone it for more publishers.
///
/// A job keeps its place in its priority's capacity until it has come to its end: also while it
/// runs and while it waits for a retry. So a full priority tells its publishers, and never its
/// workers.
pub struct Publisher<P> {
    engine: Arc<Engine<P>>,
}

/// What became of many jobs published at once.
#[derive(Debug)]
#[must_use]
pub struct PublishedAll<P, I: Iterator<Item = Job<P>>> {
    /// How many went in.
    pub accepted: usize,
    /// Why the next one did not, if one did not. The job is inside.
    pub stopped_by: Option<PublishError<P>>,
    /// The jobs after that one, untouched.
    pub rest: Peekable<I>,
}

impl<P> Publisher<P> {
    pub(crate) fn new(engine: Arc<Engine<P>>) -> Self {
        Self { engine }
    }

    /// Accepts a job if its priority has room now.
    ///
    /// # Errors
    ///
    /// [`PublishError`], with the job.
    pub fn try_publish(&self, job: Job<P>) -> Result<JobId, PublishError<P>> {
        self.engine.publish(job, Patience::None)
    }

    /// Accepts a job, and waits for room as long as it takes.
    ///
    /// Inside a handler or an observer of the same runtime it does not wait, as that could be for
    /// itself: there it is [`try_publish`](Self::try_publish).
    ///
    /// # Errors
    ///
    /// [`PublishError`], with the job; `Full` only inside a handler or an observer.
    pub fn publish(&self, job: Job<P>) -> Result<JobId, PublishError<P>> {
        self.engine.publish(job, Patience::Endless)
    }

    /// Accepts a job, and waits for room for at most `timeout` of real time.
    ///
    /// # Errors
    ///
    /// [`PublishError`], with the job.
    pub fn publish_timeout(
        &self,
        job: Job<P>,
        timeout: Duration,
    ) -> Result<JobId, PublishError<P>> {
        let deadline = Instant::now().checked_add(timeout);
        self.engine.publish(job, deadline.map_or(Patience::Endless, Patience::Until))
    }

    /// Accepts jobs for as long as there is room, and hands back the rest.
    pub fn publish_all<I>(&self, jobs: I) -> PublishedAll<P, I::IntoIter>
    where
        I: IntoIterator<Item = Job<P>>,
    {
        let mut rest = jobs.into_iter().peekable();
        let mut accepted = 0;
        let mut stopped_by = None;
        while stopped_by.is_none()
            && let Some(job) = rest.next()
        {
            match self.try_publish(job) {
                Ok(_) => accepted += 1,
                Err(error) => stopped_by = Some(error),
            }
        }
        PublishedAll { accepted, stopped_by, rest }
    }

    /// Accepts a job and makes it a dead letter at once, without a run.
    ///
    /// # Errors
    ///
    /// [`PublishError`], with the job; never `Full`.
    pub fn publish_dead(
        &self,
        job: Job<P>,
        reason: Reason,
        error: impl Into<String>,
    ) -> Result<JobId, PublishError<P>> {
        self.engine.publish_dead(job, reason, error.into())
    }

    /// Keeps input that is no valid job as a dead letter with the reason
    /// [`Refused`](Reason::Refused). It was never accepted and does not count.
    pub fn refuse(
        &self,
        place: impl Into<String>,
        text: impl Into<String>,
        error: impl Into<String>,
    ) {
        let body = Body::Input { place: place.into(), text: text.into() };
        let at = self.engine.clock.wall();
        let (entry, error) = (EntryId::default(), error.into());
        self.engine.keep_letter(DeadLetter { entry, at, reason: Reason::Refused, error, body });
    }

    /// Puts the jobs of the dead letters that match back in, oldest first, for as long as there
    /// is room: attempts from 1, generation raised by one. What is not accepted stays.
    ///
    /// # Errors
    ///
    /// What kept a letter from being read or removed; those before it are redriven.
    pub fn redrive(&self, filter: &Filter) -> Result<Redrive, DeadLetterError> {
        let letters = &self.engine.dead_letters;
        let mut chosen = Vec::new();
        letters.for_each(filter, &mut |letter| {
            chosen.push(letter.entry);
            true
        })?;
        let mut redrive = Redrive::default();
        for entry in chosen {
            let accept = &mut |job| self.try_publish(job).map(drop).map_err(PublishError::into_job);
            match letters.redrive(entry, accept)? {
                Redriven::Accepted => redrive.accepted += 1,
                Redriven::NotAccepted => redrive.not_accepted += 1,
                Redriven::NoJob => redrive.without_job += 1,
                Redriven::Gone => {}
            }
        }
        Ok(redrive)
    }

    /// The dead letters.
    pub fn dead_letters(&self) -> &dyn DeadLetters<P> {
        &*self.engine.dead_letters
    }
}

/// What became of dead letters that were to be redriven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redrive {
    /// How many jobs went in.
    pub accepted: usize,
    /// How many jobs stay dead letters for want of room, or because nothing is taken in.
    pub not_accepted: usize,
    /// How many letters hold no job to redrive.
    pub without_job: usize,
}

impl<P> Clone for Publisher<P> {
    fn clone(&self) -> Self {
        Self { engine: Arc::clone(&self.engine) }
    }
}

impl<P> fmt::Debug for Publisher<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("in_the_runtime", &self.engine.admission.held()).finish()
    }
}
