//! The runtime: workers and a retry timer around the engine.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::build_error::BuildError;
use crate::engine::Engine;
use crate::inside;
use crate::lock::lock;
use crate::panics::discard_each;
use crate::publish::Publisher;
use crate::report::{Report, Snapshot};
use crate::shutdown::{Carried, carry_out};
use crate::shutdown_state::ShutdownState;
use crate::worker::{Handler, work};

/// Runs jobs: the most urgent waiting job next, on whichever worker is free.
///
/// It is a [`Publisher`] too. Dropped without [`drain`](Self::drain) or [`stop`](Self::stop) it
/// stops, cancels the handlers that run, and drops the jobs that wait.
pub struct Runtime<P: Send + Sync + 'static> {
    engine: Arc<Engine<P>>,
    publisher: Publisher<P>,
    workers: usize,
    thread_name: String,
    /// Taken by the start of the workers.
    handler: Mutex<Option<Handler<P>>>,
}

impl<P: Send + Sync + 'static> Runtime<P> {
    pub(crate) fn new(
        engine: Arc<Engine<P>>,
        handler: Handler<P>,
        workers: usize,
        thread_name: String,
    ) -> Self {
        let publisher = Publisher::new(Arc::clone(&engine));
        Self { engine, publisher, workers, thread_name, handler: Mutex::new(Some(handler)) }
    }

    /// Starts the workers of a runtime made with [`Builder::hold`](crate::Builder::hold). Does nothing if they are
    /// started already.
    ///
    /// # Errors
    ///
    /// [`BuildError::Thread`] if a thread cannot be had; those already started go on, and the
    /// runtime works with them.
    pub fn start_workers(&self) -> Result<(), BuildError> {
        let Some(handler) = lock(&self.handler).take() else {
            return Ok(());
        };
        let handler = Arc::new(handler);
        self.spawn(format!("{}-timer", self.thread_name), None, |engine| {
            while let Some(job) = engine.timer.wait_due() {
                engine.put_due(job);
            }
            engine.hand_back_timed();
        })?;
        for index in 0..self.workers {
            let handler = Arc::clone(&handler);
            self.spawn(format!("{}-{index}", self.thread_name), Some(index), move |engine| {
                let cancellation = engine.shutdown.cancellation().clone();
                work(engine, index, &handler, &cancellation);
            })?;
        }
        Ok(())
    }

    fn spawn(
        &self,
        name: String,
        worker: Option<usize>,
        body: impl FnOnce(&Arc<Engine<P>>) + Send + 'static,
    ) -> Result<(), BuildError> {
        /// Counts the thread out however it ends.
        struct Ended {
            shutdown: Arc<ShutdownState>,
            worker: Option<usize>,
        }
        impl Drop for Ended {
            fn drop(&mut self) {
                self.shutdown.thread_ended(self.worker);
            }
        }
        self.engine.shutdown.thread_started();
        let ended = Ended { shutdown: Arc::clone(&self.engine.shutdown), worker };
        let engine = Arc::clone(&self.engine);
        let run = move || {
            // Dropped last: whoever has waited for the thread finds the engine let go, and with it
            // what belongs to the dead letters, such as a locked file.
            let _ended = ended;
            let engine = engine;
            inside::run(&*engine, || body(&engine));
        };
        let spawned = thread::Builder::new().name(name.clone()).spawn(run);
        spawned.map(drop).map_err(|source| BuildError::Thread { name, source })
    }

    /// A handle to put jobs in with, from anywhere.
    #[must_use]
    pub fn publisher(&self) -> Publisher<P> {
        self.publisher.clone()
    }

    /// How things stand.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.engine)
    }

    /// Takes nothing in any more, runs what is inside to its end, retries included, and comes
    /// back as soon as that is done, or as nothing more can end before `timeout` has passed. Then
    /// running handlers are cancelled, and what did not come to its end is handed back.
    ///
    /// May be called more than once and from several threads: the earliest deadline counts, and
    /// one call gets the jobs. Inside a handler or an observer it only begins the drain.
    pub fn drain(&self, timeout: Duration) -> Report<P> {
        self.begin_drain(timeout);
        self.wait()
    }

    /// Takes nothing in and starts nothing any more, waits for the handlers that run, and hands
    /// back the rest.
    ///
    /// May be called more than once, from several threads, and during a [`drain`](Self::drain).
    /// Inside a handler or an observer it only begins the stop.
    pub fn stop(&self) -> Report<P> {
        self.begin_stop();
        self.wait()
    }

    /// The beginning of [`drain`](Self::drain), without the wait. The deadline is kept by a call
    /// that waits.
    pub fn begin_drain(&self, timeout: Duration) {
        let deadline = self.engine.clock.now().checked_add(timeout);
        self.engine.admission.close();
        self.engine.shutdown.wish(false, deadline);
    }

    /// The beginning of [`stop`](Self::stop), without the wait: nothing is taken in or started
    /// any more.
    pub fn begin_stop(&self) {
        self.engine.begin_stop();
        self.engine.shutdown.wish(true, None);
    }

    /// Asks the handlers that run to come to an end now, and starts nothing any more.
    pub fn begin_cancel(&self) {
        self.engine.begin_stop();
        self.engine.shutdown.cancel();
        self.engine.shutdown.wish(true, Some(Duration::ZERO));
    }

    /// Waits for the end of a shutdown that was begun.
    fn wait(&self) -> Report<P> {
        if inside::of(&*self.engine) {
            return Report::of(&self.engine, false, false);
        }
        let carried = carry_out(&self.engine);
        let unsynced = self.engine.dead_letters.sync().err();
        Report { unsynced, ..Report::of(&self.engine, carried == Carried::Out, true) }
    }
}

impl<P: Send + Sync + 'static> Deref for Runtime<P> {
    type Target = Publisher<P>;

    fn deref(&self) -> &Publisher<P> {
        &self.publisher
    }
}

impl<P: Send + Sync + 'static> Drop for Runtime<P> {
    fn drop(&mut self) {
        if !self.engine.shutdown.is_finished() {
            self.begin_cancel();
            let report = self.wait();
            discard_each(report.returned);
            discard_each(report.unwritten);
        }
    }
}

impl<P: Send + Sync + 'static> fmt::Debug for Runtime<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("engine", &self.engine).finish_non_exhaustive()
    }
}
