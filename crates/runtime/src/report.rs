//! What can be seen of a runtime, while it runs and when it has ended.

use std::fmt;

use crate::books::{Counts, Waits};
use crate::dead_letters::{DeadLetter, DeadLetterError};
use crate::engine::Engine;
use crate::event::Facts;
use crate::job::{Job, JobId};
use crate::lanes::Lane;
use crate::lock::lock;

/// One priority, as it stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PriorityReport {
    /// What was accepted and what became of it.
    pub counts: Counts,
    /// How long jobs waited for their first start.
    pub waits: Waits,
    /// Fresh jobs waiting for a worker.
    pub waiting: usize,
    /// Retries that are due and wait for a worker.
    pub due_retries: usize,
    /// Jobs in the runtime: waiting, running, or between two attempts.
    pub held: usize,
    /// How many jobs may be in the runtime at once.
    pub capacity: usize,
}

/// A runtime as it stands. The figures are read one after the other while jobs move on; they
/// agree exactly when the runtime is at rest.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Each priority, the most urgent first. This is also the order in which they are served.
    pub priorities: Vec<PriorityReport>,
    /// Handlers that run.
    pub running: usize,
    /// Jobs that wait for their next attempt's time.
    pub retries_waiting: usize,
    /// Dead letters kept.
    pub dead_letters: usize,
    /// Dead letters that were counted but not kept.
    pub dead_letters_lost: u64,
}

impl Snapshot {
    pub(crate) fn of<P>(engine: &Engine<P>) -> Self {
        let priority = |(priority, (counts, waits)): (usize, (Counts, Waits))| PriorityReport {
            counts,
            waits,
            waiting: engine.lanes.waiting(Lane::Fresh, priority),
            due_retries: engine.lanes.waiting(Lane::Retry, priority),
            held: engine.admission.held_of(priority),
            capacity: engine.admission.capacity_of(priority),
        };
        Self {
            priorities: engine.books.read().into_iter().enumerate().map(priority).collect(),
            running: engine.shutdown.running(),
            retries_waiting: engine.timer.len(),
            dead_letters: engine.dead_letters.len(),
            dead_letters_lost: engine.dead_letters.lost(),
        }
    }

    /// The sums over all priorities.
    #[must_use]
    pub fn totals(&self) -> Counts {
        self.priorities.iter().fold(Counts::default(), |mut sum, priority| {
            sum += priority.counts;
            sum
        })
    }
}

/// A job whose handler did not return in time. It counts as returned, though it cannot be handed
/// back: the handler still has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Abandoned {
    /// Its number.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// Its priority.
    pub priority: usize,
    /// The attempt that still runs.
    pub attempt: u32,
}

/// What a shutdown leaves behind. Nothing is lost: `accepted = done + discarded + dead +
/// returned`.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Report<P> {
    /// Each priority, the most urgent first.
    pub priorities: Vec<PriorityReport>,
    /// The sums over all priorities.
    pub totals: Counts,
    /// The jobs that were not run to their end. One call gets them: the one that carried the
    /// shutdown out.
    pub returned: Vec<Job<P>>,
    /// Jobs whose handlers did not return in time.
    pub abandoned: Vec<Abandoned>,
    /// Dead letters that could not be kept, each with the reason why.
    pub unwritten: Vec<(DeadLetter<P>, DeadLetterError)>,
    /// Why dead letters that were kept may not survive a crash, if so.
    pub unsynced: Option<DeadLetterError>,
    /// Whether the shutdown has ended. `false` only if asked for inside a handler or an observer,
    /// which cannot wait for itself.
    pub complete: bool,
}

impl<P> Report<P> {
    /// `owner` gets the jobs.
    pub(crate) fn of(engine: &Engine<P>, owner: bool, complete: bool) -> Self {
        let snapshot = Snapshot::of(engine);
        let abandoned = |facts: Facts| Abandoned {
            id: facts.id,
            name: facts.name.into_owned(),
            priority: facts.priority,
            attempt: facts.attempt,
        };
        let (returned, unwritten) = if owner {
            (
                std::mem::take(&mut *lock(&engine.returned)),
                std::mem::take(&mut *lock(&engine.unwritten)),
            )
        } else {
            (Vec::new(), Vec::new())
        };
        Self {
            totals: snapshot.totals(),
            priorities: snapshot.priorities,
            returned,
            abandoned: engine.shutdown.abandoned().into_iter().map(abandoned).collect(),
            unwritten,
            unsynced: None,
            complete,
        }
    }
}

impl<P> fmt::Display for Report<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { accepted, done, discarded, dead, returned, .. } = self.totals;
        write!(
            f,
            "{accepted} accepted: {done} done, {dead} dead, {discarded} discarded, {returned} returned"
        )
    }
}
