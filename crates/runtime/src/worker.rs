//! One worker: take, run, settle.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::books::Writer;
use crate::engine::Engine;
use crate::event::Facts;
use crate::job::Job;
use crate::outcome::Outcome;
use crate::panics::catch;
use crate::publish::Publisher;
use crate::settle::Ended;
use crate::slot::{Begins, Decides};

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
