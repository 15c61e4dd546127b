//! Making a runtime.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::admission::Admission;
use crate::books::Books;
use crate::build_error::BuildError;
use crate::clock::{Clock, ClockHand};
use crate::dead_letters::{DeadLetters, MemoryDeadLetters};
use crate::engine::{Engine, Intake};
use crate::event::{Event, Observer};
use crate::job::Job;
use crate::lanes::Lanes;
use crate::manual::ManualRuntime;
use crate::outcome::IntoOutcome;
use crate::panics::install_hook;
use crate::retry::RetryPolicy;
use crate::retry_timer::RetryTimer;
use crate::runtime::Runtime;
use crate::shutdown_state::ShutdownState;
use crate::worker::Context;

/// The settings of a runtime, each with a default.
///
/// ```
/// use std::time::Duration;
/// use overtake_runtime::{Builder, Context, Job, RetryPolicy};
///
/// let runtime = Builder::new()
///     .priorities(3)
///     .capacity(256)
///     .workers(2)
///     .retry(RetryPolicy::exponential(Duration::from_millis(50), Duration::from_secs(5)))
///     .start(|job: &Job<u32>, _: &Context<'_, u32>| {
///         if *job.payload() == 13 { Err("unlucky") } else { Ok(()) }
///     })?;
/// runtime.publish(Job::new("lucky", 7).with_priority(1))?;
/// let report = runtime.drain(Duration::from_secs(10));
/// assert_eq!(report.totals.done, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct Builder<P> {
    capacities: Vec<usize>,
    workers: Option<usize>,
    retry: RetryPolicy,
    grace: Duration,
    clock: Clock,
    dead_letters: Option<Box<dyn DeadLetters<P>>>,
    observer: Observer,
    thread_name: String,
}

impl<P: Send + 'static> Builder<P> {
    /// Ten priorities with room for 1,024 jobs each, a worker per core, three retries one second
    /// apart, up to ten thousand dead letters in memory.
    pub fn new() -> Self {
        Self {
            capacities: vec![1024; 10],
            workers: None,
            retry: RetryPolicy::default(),
            grace: Duration::from_millis(400),
            clock: Clock::system(),
            dead_letters: None,
            observer: Observer::default(),
            thread_name: "overtake-worker".to_owned(),
        }
    }

    /// Sets how many priorities there are; they keep the capacity of the first.
    pub fn priorities(mut self, priorities: usize) -> Self {
        let capacity = self.capacities.first().copied().unwrap_or(1024);
        self.capacities = vec![capacity; priorities];
        self
    }

    /// Sets how many jobs of each priority may be in the runtime at once: waiting, running, or
    /// between two attempts.
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacities.fill(capacity);
        self
    }

    /// Sets priorities and capacities at once, the most urgent first.
    pub fn capacities(mut self, capacities: &[usize]) -> Self {
        self.capacities = capacities.to_vec();
        self
    }

    /// Sets the number of worker threads.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets whether and when failed jobs are tried again.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Sets how long a handler may take to return once it is cancelled.
    pub fn cancel_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets the clock that delays, expiry and deadlines are measured on.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets where dead letters go.
    pub fn dead_letters(mut self, letters: impl DeadLetters<P> + 'static) -> Self {
        self.dead_letters = Some(Box::new(letters));
        self
    }

    /// Sets who is told of everything that happens to jobs. Called on the thread where it
    /// happens, so it should be quick; if it panics, it is as if it had returned.
    pub fn observer(mut self, observe: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Observer::new(Box::new(observe));
        self
    }

    /// Sets what the worker threads are called; a number is added.
    pub fn thread_name(mut self, name: impl Into<String>) -> Self {
        self.thread_name = name.into();
        self
    }

    /// Makes the runtime and starts its workers.
    ///
    /// # Errors
    ///
    /// [`BuildError`], which names the bad value.
    pub fn start<F, R>(self, handler: F) -> Result<Runtime<P>, BuildError>
    where
        P: Sync,
        F: Fn(&Job<P>, &Context<'_, P>) -> R + Send + Sync + 'static,
        R: IntoOutcome,
    {
        let runtime = self.hold(handler)?;
        runtime.start_workers()?;
        Ok(runtime)
    }

    /// Makes the runtime; its workers start with [`Runtime::start_workers`]. Until then jobs are
    /// taken in, and wait.
    ///
    /// # Errors
    ///
    /// [`BuildError`], which names the bad value.
    pub fn hold<F, R>(self, handler: F) -> Result<Runtime<P>, BuildError>
    where
        P: Sync,
        F: Fn(&Job<P>, &Context<'_, P>) -> R + Send + Sync + 'static,
        R: IntoOutcome,
    {
        let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let workers = self.workers.unwrap_or_else(cores);
        if workers == 0 {
            return Err(BuildError::NoWorkers);
        }
        let thread_name = self.thread_name.clone();
        let engine = Arc::new(self.engine(workers)?);
        let handler = Box::new(move |job: &Job<P>, context: &Context<'_, P>| {
            handler(job, context).into_outcome()
        });
        Ok(Runtime::new(engine, handler, workers, thread_name))
    }

    /// Makes a runtime without threads, whose jobs the caller takes, runs and settles, on a clock
    /// of its own that the caller moves. Exact and repeatable: for simulations and tests.
    ///
    /// # Errors
    ///
    /// [`BuildError`], which names the bad value.
    pub fn manual(self) -> Result<ManualRuntime<P>, BuildError> {
        let (clock, hand): (Clock, ClockHand) = Clock::manual();
        let engine = Self { clock, ..self }.engine(0)?;
        Ok(ManualRuntime::new(Arc::new(engine), hand))
    }

    pub(crate) fn engine(self, workers: usize) -> Result<Engine<P>, BuildError> {
        let priorities = self.capacities.len();
        if priorities == 0 || priorities > Lanes::<P>::MAX_PRIORITIES {
            return Err(BuildError::Priorities { priorities });
        }
        let capacity = |error| match error {
            overtake_core::BuildError::ZeroCapacity { .. } => {
                let priority = self.capacities.iter().position(|&capacity| capacity == 0);
                BuildError::ZeroCapacity { priority: priority.unwrap_or_default() }
            }
            error => BuildError::Capacity { source: error },
        };
        install_hook();
        let shutdown = Arc::new(ShutdownState::new(workers, self.grace));
        let listener = Arc::downgrade(&shutdown);
        self.clock.on_advance(move || match listener.upgrade() {
            Some(shutdown) => {
                shutdown.something_changed();
                true
            }
            None => false,
        });
        Ok(Engine {
            admission: Admission::new(&self.capacities).map_err(capacity)?,
            lanes: Lanes::new(&self.capacities).map_err(capacity)?,
            timer: RetryTimer::new(self.clock.clone()),
            dead_letters: self
                .dead_letters
                .unwrap_or_else(|| Box::new(MemoryDeadLetters::default())),
            books: Books::new(priorities, workers),
            observer: self.observer,
            retry: self.retry,
            shutdown,
            intake: Intake::new(),
            returned: Mutex::default(),
            unwritten: Mutex::default(),
            clock: self.clock,
        })
    }
}

impl<P: Send + Sync + 'static> Runtime<P> {
    /// The settings to begin with.
    pub fn builder() -> Builder<P> {
        Builder::new()
    }
}

impl<P: Send + 'static> Default for Builder<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> fmt::Debug for Builder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("capacities", &self.capacities)
            .field("workers", &self.workers)
            .field("retry", &self.retry)
            .field("dead_letters", &self.dead_letters)
            .finish_non_exhaustive()
    }
}
