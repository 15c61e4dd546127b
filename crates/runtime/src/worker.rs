//! One worker: take, run, settle.

use std::fmt;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use crate::books::{FinalState, Writer};
use crate::engine::Engine;
use crate::event::{EventKind, Facts};
use crate::job::Job;
use crate::lock::lock;
use crate::outcome::Outcome;
use crate::panics::catch;
use crate::publish::Publisher;
use crate::settle::Ended;

/// A handler, whatever its type was.
pub(crate) type Handler<P> = Box<dyn Fn(&Job<P>, &Context<'_, P>) -> Outcome + Send + Sync>;

/// What a handler can see and do besides its job.
pub struct Context<'a, P> {
    worker: usize,
    cancellation: &'a CancellationToken,
    publisher: &'a Publisher<P>,
}

impl<P> Context<'_, P> {
    /// The worker that runs the handler, from 0.
    #[must_use]
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Whether the runtime wants running handlers to come to an end, as a shutdown's deadline has
    /// passed. A handler that gives up for this reason returns [`Outcome::Release`], and its
    /// job is handed back.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// The token behind [`is_cancelled`](Self::is_cancelled), to wait for.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        self.cancellation
    }

    /// Puts further jobs in.
    #[must_use]
    pub fn publisher(&self) -> &Publisher<P> {
        self.publisher
    }
}

impl<P> fmt::Debug for Context<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("worker", &self.worker)
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// What a worker is at. Worker and shutdown both may want to decide about the job that runs;
/// whoever changes the slot first does.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
enum Running {
    #[default]
    Nothing,
    Job(Facts),
    /// Shutdown waits no longer for this handler and has closed its job's account.
    Abandoned,
    /// Shutdown waits no longer, and nothing ran: no handler begins here any more.
    Shut,
}

/// Whether a handler may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum Begins {
    Now,
    NotAnyMore,
}

/// Who decides about a job whose handler has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum Decides {
    Worker,
    ShutdownDid,
}

impl Slot {
    fn occupy(&self, facts: Facts) -> Begins {
        let mut running = lock(&self.running);
        match &*running {
            Running::Shut | Running::Abandoned => Begins::NotAnyMore,
            Running::Nothing | Running::Job(_) => {
                *running = Running::Job(facts);
                Begins::Now
            }
        }
    }

    fn vacate(&self) -> Decides {
        let mut running = lock(&self.running);
        match &*running {
            Running::Abandoned => Decides::ShutdownDid,
            Running::Job(_) | Running::Nothing | Running::Shut => {
                *running = Running::Nothing;
                Decides::Worker
            }
        }
    }

    /// Takes the decision about a running job away from its worker. Where none runs, none begins
    /// any more.
    pub(crate) fn abandon(&self) -> Option<Facts> {
        let mut running = lock(&self.running);
        let (now, facts) = match std::mem::take(&mut *running) {
            Running::Nothing | Running::Shut => (Running::Shut, None),
            Running::Job(facts) => (Running::Abandoned, Some(facts)),
            Running::Abandoned => (Running::Abandoned, None),
        };
        *running = now;
        facts
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        matches!(&*lock(&self.running), Running::Abandoned)
    }

    pub(crate) fn is_occupied(&self) -> bool {
        matches!(&*lock(&self.running), Running::Job(_))
    }
}

/// Takes jobs and runs them until the lanes are closed and empty.
pub(crate) fn work<P>(
    engine: &Arc<Engine<P>>,
    index: usize,
    handler: &Handler<P>,
    cancellation: &CancellationToken,
) {
    let publisher = Publisher::new(Arc::clone(engine));
    let context = Context { worker: index, cancellation, publisher: &publisher };
    while let Some(job) = engine.lanes.next() {
        // A payload may panic in its `Drop`, at any of the places where a job ends. Its account
        // is closed by then, and the next job must not suffer for it.
        let _ = catch(|| run_one(engine, job, handler, &context));
    }
}

fn run_one<P>(engine: &Engine<P>, job: Job<P>, handler: &Handler<P>, context: &Context<'_, P>) {
    let by = Writer::Worker(context.worker);
    if engine.lanes.is_closed() {
        return engine.hand_back(by, job);
    }
    let Some(mut job) = engine.unexpired(by, job) else {
        return;
    };
    let slot = engine.shutdown.slot(context.worker);
    if slot.occupy(Facts::from(&job)) == Begins::NotAnyMore {
        return engine.hand_back(by, job);
    }
    engine.start(by, &mut job);
    let began = engine.clock.now();
    let ended = match catch(|| handler(&job, context)) {
        Ok(outcome) => Ended::Answered(outcome),
        Err(message) => Ended::Panicked(message),
    };
    match slot.vacate() {
        Decides::Worker => {
            engine.finish(by, job, ended, engine.clock.now().saturating_sub(began));
        }
        Decides::ShutdownDid => drop(job),
    }
}

/// Closes the account of a job whose handler does not return: it counts as handed back, though
/// nobody can have it while the handler does.
pub(crate) fn abandon<P>(engine: &Engine<P>, index: usize) -> Option<Facts> {
    let facts = engine.shutdown.slot(index).abandon()?;
    let error = Some("its handler did not return in time");
    engine.tell_facts(Writer::Outside, EventKind::Returned, &facts, error);
    engine.end(Writer::Outside, facts.priority, FinalState::Returned);
    Some(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts::from(&Job::new("job", ()))
    }

    #[test]
    fn kind_26_worker_and_shutdown_never_both_decide() {
        let slot = Slot::default();
        assert_eq!(slot.occupy(facts()), Begins::Now);
        assert_eq!(slot.vacate(), Decides::Worker);
        assert_eq!(slot.occupy(facts()), Begins::Now);
        assert!(slot.abandon().is_some() && slot.abandon().is_none());
        assert_eq!(slot.vacate(), Decides::ShutdownDid);
    }

    #[test]
    fn kind_25_no_handler_begins_once_shutdown_has_given_up() {
        let slot = Slot::default();
        assert!(slot.abandon().is_none());
        assert_eq!(slot.occupy(facts()), Begins::NotAnyMore);
        assert!(!slot.is_abandoned(), "no thread is left behind in a handler");
    }
}
