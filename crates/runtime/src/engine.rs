//! The life of a job, from acceptance to its one end. Everything that moves a job calls this;
//! who calls it, a worker thread or a simulation, makes no difference.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, TryLockError};
use std::time::Duration;

use crate::admission::{Admission, NotAdmitted, Patience};
use crate::books::{Books, FinalState, Writer};
use crate::clock::Clock;
use crate::dead_letters::{Added, Body, DeadLetter, DeadLetterError, DeadLetters, EntryId, Reason};
use crate::event::{Event, EventKind, Facts, Observer};
use crate::inside;
use crate::job::{FailedAttempt, Job, JobId, Timing};
use crate::lanes::{Lane, Lanes};
use crate::lock::lock;
use crate::panics::{catch, discard, discard_each};
use crate::publish_error::PublishError;
use crate::retry::RetryPolicy;
use crate::retry_timer::RetryTimer;
use crate::settle::{Ended, Settlement, settle};
use crate::shutdown_state::ShutdownState;

pub(crate) struct Engine<P> {
    pub(crate) clock: Clock,
    pub(crate) admission: Admission,
    pub(crate) lanes: Lanes<P>,
    pub(crate) timer: RetryTimer<P>,
    pub(crate) dead_letters: Box<dyn DeadLetters<P>>,
    pub(crate) books: Books,
    pub(crate) observer: Observer,
    pub(crate) retry: RetryPolicy,
    pub(crate) shutdown: Arc<ShutdownState>,
    pub(crate) intake: Intake,
    /// Jobs handed back at shutdown, until the report takes them.
    pub(crate) returned: Mutex<Vec<Job<P>>>,
    /// Dead letters that could not be kept, until the report takes them.
    pub(crate) unwritten: Mutex<Vec<(DeadLetter<P>, DeadLetterError)>>,
}

/// Whether jobs are taken in. Held for reading while one is, so that closing it waits for those
/// who are in the middle of it.
#[derive(Debug)]
pub(crate) struct Intake {
    open: RwLock<bool>,
    last_id: Mutex<u64>,
}

impl Intake {
    pub(crate) fn new() -> Self {
        Self { open: RwLock::new(true), last_id: Mutex::new(0) }
    }

    /// Lets one in. The one who closes is the only one who can be in the way, so this never waits:
    /// not even inside an observer that is told of an acceptance and publishes in its turn.
    fn enter(&self) -> Option<RwLockReadGuard<'_, bool>> {
        let open = match self.open.try_read() {
            Ok(open) => open,
            Err(TryLockError::Poisoned(poison)) => poison.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        open.then_some(open)
    }

    /// After this nothing is accepted, and nothing is on its way in.
    pub(crate) fn close(&self) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = false;
    }

    fn next_id(&self) -> JobId {
        let mut last = lock(&self.last_id);
        *last += 1;
        JobId(*last)
    }
}

impl<P> Engine<P> {
    // ---- in --------------------------------------------------------------------------------

    pub(crate) fn publish(
        &self,
        job: Job<P>,
        patience: Patience,
    ) -> Result<JobId, PublishError<P>> {
        let job = self.check_priority(job)?;
        let patience = if inside::of(self) { Patience::None } else { patience };
        match self.admission.admit(job.priority, patience) {
            Ok(()) => {}
            Err(NotAdmitted::Full) => return Err(PublishError::Full(Box::new(job))),
            Err(NotAdmitted::Closed) => return Err(PublishError::Closed(Box::new(job))),
        }
        let Some(_inside) = self.intake.enter() else {
            self.give_back(job.priority);
            return Err(PublishError::Closed(Box::new(job)));
        };
        let job = self.accept(job);
        let id = job.id;
        if let Err(job) = self.lanes.put(Lane::Fresh, job) {
            self.hand_back(Writer::Outside, job);
        }
        Ok(id)
    }

    pub(crate) fn publish_dead(
        &self,
        job: Job<P>,
        reason: Reason,
        error: String,
    ) -> Result<JobId, PublishError<P>> {
        let job = self.check_priority(job)?;
        let entered = if self.admission.is_closed() { None } else { self.intake.enter() };
        let Some(_inside) = entered else {
            return Err(PublishError::Closed(Box::new(job)));
        };
        let job = self.accept(job);
        let id = job.id;
        self.tell_dead(Writer::Outside, &job, &error);
        self.books.ended(Writer::Outside, job.priority, FinalState::Dead);
        self.bury(job, reason, error);
        Ok(id)
    }

    fn check_priority(&self, job: Job<P>) -> Result<Job<P>, PublishError<P>> {
        let priorities = self.admission.priorities();
        if job.priority < priorities {
            return Ok(job);
        }
        Err(PublishError::NoSuchPriority { job: Box::new(job), priorities })
    }

    fn accept(&self, mut job: Job<P>) -> Job<P> {
        job.id = self.intake.next_id();
        job.timing = Timing { submitted_at: self.clock.now(), started_before: false };
        job.max_retries.get_or_insert(self.retry.max_retries());
        self.books.accepted(job.priority);
        self.tell(Writer::Outside, EventKind::Submitted, &job, None);
        job
    }

    // ---- through ---------------------------------------------------------------------------

    /// The job, unless it has expired and is a dead letter now.
    pub(crate) fn unexpired(&self, by: Writer, job: Job<P>) -> Option<Job<P>> {
        if !job.has_expired(self.clock.now()) {
            return Some(job);
        }
        let error = format!("not started within {:?}", job.expires_in.unwrap_or_default());
        self.die(by, job, Reason::Expired, error);
        None
    }

    /// Begins an attempt.
    pub(crate) fn start(&self, by: Writer, job: &mut Job<P>) {
        let first = !std::mem::replace(&mut job.timing.started_before, true);
        let wait = first.then(|| self.clock.now().saturating_sub(job.timing.submitted_at));
        self.books.started(by, job.priority, wait, job.attempt() > 1);
        self.tell(by, EventKind::Started, job, None);
    }

    /// Settles an attempt that took `ran_for`: the one place that decides what comes next.
    pub(crate) fn finish(&self, by: Writer, mut job: Job<P>, ended: Ended, ran_for: Duration) {
        let limit = job.max_retries.unwrap_or(self.retry.max_retries());
        match settle(ended, job.attempt(), limit, &self.retry) {
            Settlement::Done => {
                self.tell(by, EventKind::Succeeded, &job, None);
                self.end(by, job.priority, FinalState::Done);
            }
            Settlement::Discard => {
                self.tell(by, EventKind::Discarded, &job, None);
                self.end(by, job.priority, FinalState::Discarded);
            }
            Settlement::RetryAfter { delay, error } => {
                self.note_failure(by, &mut job, error, ran_for);
                self.come_back(by, job, delay);
            }
            Settlement::ComeBackAfter(delay) => self.come_back(by, job, delay),
            Settlement::Dead { reason, error } => {
                self.note_failure(by, &mut job, error.clone(), ran_for);
                self.die(by, job, reason, error);
            }
        }
    }

    fn note_failure(&self, by: Writer, job: &mut Job<P>, error: String, ran_for: Duration) {
        self.books.failed(by, job.priority);
        self.tell(by, EventKind::Failed, job, Some(&error));
        let attempt = job.attempt();
        job.history.push(FailedAttempt { attempt, error, at: self.clock.wall(), ran_for });
        job.attempts_made = attempt;
    }

    fn come_back(&self, by: Writer, job: Job<P>, delay: Duration) {
        if self.lanes.is_closed() {
            return self.hand_back(by, job);
        }
        self.tell(by, EventKind::Retrying, &job, None);
        let kept = if delay.is_zero() {
            self.lanes.put(Lane::Retry, job)
        } else {
            self.timer.keep(job, delay)
        };
        match kept {
            // A drain may wait for just this: that all who are left wait for a later time.
            Ok(()) => self.tell_shutdown(),
            Err(job) => self.hand_back(by, job),
        }
    }

    /// Puts a job whose time has come into its lane.
    pub(crate) fn put_due(&self, job: Job<P>) {
        if let Err(job) = self.lanes.put(Lane::Retry, job) {
            self.hand_back(Writer::Outside, job);
        }
    }

    // ---- out -------------------------------------------------------------------------------

    fn die(&self, by: Writer, job: Job<P>, reason: Reason, error: String) {
        self.tell_dead(by, &job, &error);
        let priority = job.priority;
        // Kept first: when a drain has seen the last job end, its letter is there.
        self.bury(job, reason, error);
        self.end(by, priority, FinalState::Dead);
    }

    fn bury(&self, job: Job<P>, reason: Reason, error: String) {
        let at = self.clock.wall();
        let body = Body::Job(job);
        let letter = DeadLetter { entry: EntryId::default(), at, reason, error, body };
        self.keep_letter(letter);
    }

    pub(crate) fn keep_letter(&self, letter: DeadLetter<P>) {
        // A full keeper drops a payload, whose `Drop` may panic; an account may still be open.
        let _ = catch(|| match self.dead_letters.add(letter) {
            Added::Kept(_) | Added::KeptForOldest(_) | Added::RefusedFull => {}
            Added::NotWritten(letter, error) => lock(&self.unwritten).push((*letter, error)),
        });
    }

    pub(crate) fn hand_back(&self, by: Writer, job: Job<P>) {
        self.tell(by, EventKind::Returned, &job, None);
        let priority = job.priority;
        lock(&self.returned).push(job);
        self.end(by, priority, FinalState::Returned);
    }

    /// Hands back what waits for a time that will not come any more.
    pub(crate) fn hand_back_timed(&self) {
        for job in self.timer.close() {
            self.hand_back(Writer::Outside, job);
        }
    }

    /// Takes nothing in and starts nothing any more. What waits is handed back by the threads of
    /// the runtime, or by who waits for them.
    pub(crate) fn begin_stop(&self) {
        self.admission.close();
        self.lanes.close();
        self.timer.stop();
    }

    /// Closes the account of one job, whatever became of it.
    pub(crate) fn end(&self, by: Writer, priority: usize, state: FinalState) {
        self.books.ended(by, priority, state);
        self.give_back(priority);
    }

    /// Gives a permit back: that of a job, or that of one that came too late, which a drain cannot
    /// tell apart.
    pub(crate) fn give_back(&self, priority: usize) {
        self.admission.give_back(priority);
        self.tell_shutdown();
    }

    fn tell_shutdown(&self) {
        if self.admission.is_closed() {
            self.shutdown.something_changed();
        }
    }

    fn tell(&self, by: Writer, kind: EventKind, job: &Job<P>, error: Option<&str>) {
        if self.observer.listens() {
            self.tell_facts(by, kind, &Facts::from(job), error);
        }
    }

    fn tell_dead(&self, by: Writer, job: &Job<P>, error: &str) {
        if self.observer.listens() {
            // There is no next attempt: the last one is meant.
            let facts = Facts { attempt: job.attempts_made.max(1), ..Facts::from(job) };
            self.tell_facts(by, EventKind::Dead, &facts, Some(error));
        }
    }

    pub(crate) fn tell_facts(
        &self,
        by: Writer,
        kind: EventKind,
        facts: &Facts,
        error: Option<&str>,
    ) {
        let Facts { id, ref name, priority, attempt } = *facts;
        let (at, worker) = (self.clock.now(), by.worker());
        let event = Event { at, kind, id, name, priority, attempt, worker, error };
        // An observer may publish, or ask for a shutdown, and must not wait for its own thread.
        inside::run(self, || self.observer.tell(&event));
    }
}

/// A payload may panic in its `Drop`. None of them is to keep the others from being dropped.
impl<P> Drop for Engine<P> {
    fn drop(&mut self) {
        self.lanes.close();
        while let Some(job) = self.lanes.next() {
            discard(job);
        }
        discard_each(self.timer.close());
        discard_each(std::mem::take(&mut *lock(&self.returned)));
        discard_each(std::mem::take(&mut *lock(&self.unwritten)));
    }
}

impl<P> fmt::Debug for Engine<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("clock", &self.clock)
            .field("held", &self.admission.held())
            .field("timer", &self.timer)
            .field("dead_letters", &self.dead_letters)
            .field("shutdown", &self.shutdown)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_let_in_twice_does_not_wait_for_who_closes() {
        let intake = Arc::new(Intake::new());
        let inside = intake.enter().expect("open");
        let closing = std::thread::spawn({
            let intake = Arc::clone(&intake);
            move || intake.close()
        });
        // As an observer does that publishes: in again, until closing has begun.
        while intake.enter().is_some() {
            std::thread::yield_now();
        }
        assert!(!closing.is_finished(), "it waits for who is inside");
        drop(inside);
        closing.join().expect("no panic");
        assert!(intake.enter().is_none());
    }
}
