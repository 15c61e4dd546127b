//! A runtime without threads: the caller takes, runs and settles the jobs.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::books::Writer;
use crate::clock::ClockHand;
use crate::engine::Engine;
use crate::job::Job;
use crate::outcome::Outcome;
use crate::publish::Publisher;
use crate::report::{Report, Snapshot};
use crate::settle::Ended;
use crate::shutdown::{Carried, carry_out};

/// The runtime without its threads, on a clock that the caller moves. Admission, order, retries,
/// dead letters and books are the same code as in [`Runtime`](crate::Runtime).
///
/// ```
/// use std::time::Duration;
/// use overtake_runtime::{Builder, Job, Outcome};
///
/// let runtime = Builder::new().priorities(2).manual()?;
/// runtime.try_publish(Job::new("bulk", ()).with_priority(1))?;
/// runtime.try_publish(Job::new("urgent", ()))?;
///
/// let first = runtime.take().expect("two are waiting");
/// assert_eq!(first.job().name(), "urgent");
/// first.settle(Outcome::failed("busy"));
/// assert_eq!(runtime.next_due(), Some(Duration::from_secs(1)));
///
/// assert_eq!(runtime.take().expect("one is waiting").job().name(), "bulk");
/// runtime.advance_to(Duration::from_secs(1));
/// assert_eq!(runtime.take().expect("the retry is due").job().attempt(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ManualRuntime<P> {
    engine: Arc<Engine<P>>,
    publisher: Publisher<P>,
    hand: ClockHand,
}

/// A job that was taken and not yet settled. Dropped without [`settle`](Self::settle) it is
/// released: it comes back at once and has used up no attempt.
#[must_use]
pub struct Delivery<P> {
    engine: Arc<Engine<P>>,
    /// `None` once settled.
    job: Option<Job<P>>,
    began: Duration,
}

impl<P> ManualRuntime<P> {
    pub(crate) fn new(engine: Arc<Engine<P>>, hand: ClockHand) -> Self {
        Self { publisher: Publisher::new(Arc::clone(&engine)), engine, hand }
    }

    /// Begins an attempt at the most urgent waiting job, if one is waiting. Jobs that have expired
    /// become dead letters on the way.
    #[must_use]
    pub fn take(&self) -> Option<Delivery<P>> {
        loop {
            let job = self.engine.lanes.try_next().ok()?;
            if let Some(mut job) = self.engine.unexpired(Writer::Outside, job) {
                self.engine.start(Writer::Outside, &mut job);
                let engine = Arc::clone(&self.engine);
                return Some(Delivery { began: engine.clock.now(), engine, job: Some(job) });
            }
        }
    }

    /// The time on the clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.engine.clock.now()
    }

    /// When the next retry is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        self.engine.timer.next_due()
    }

    /// Moves the clock, and makes the retries that have become due wait in their lanes, in the
    /// order in which they became due.
    pub fn advance_to(&self, time: Duration) {
        self.hand.advance_to(time);
        while let Some(job) = self.engine.timer.take_due() {
            self.engine.put_due(job);
        }
    }

    /// How things stand. Jobs taken and not yet settled do not count as running: nothing runs
    /// here.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.engine)
    }

    /// Takes nothing in any more and hands back what waits. Deliveries that are settled later are
    /// counted, but not in this report.
    pub fn stop(&self) -> Report<P> {
        self.engine.shutdown.wish(true, None);
        let carried = carry_out(&self.engine);
        Report::of(&self.engine, carried == Carried::Out, true)
    }
}

impl<P> Deref for ManualRuntime<P> {
    type Target = Publisher<P>;

    fn deref(&self) -> &Publisher<P> {
        &self.publisher
    }
}

impl<P> Delivery<P> {
    /// The job to be run.
    pub fn job(&self) -> &Job<P> {
        // Only `settle`, which consumes the delivery, and `drop` take the job out.
        self.job.as_ref().unwrap_or_else(|| unreachable!("a delivery holds its job"))
    }

    /// Ends the attempt, at the clock's time.
    pub fn settle(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: Outcome) {
        if let Some(job) = self.job.take() {
            let ran_for = self.engine.clock.now().saturating_sub(self.began);
            self.engine.finish(Writer::Outside, job, Ended::Answered(outcome), ran_for);
        }
    }
}

impl<P> Drop for Delivery<P> {
    fn drop(&mut self) {
        self.finish(Outcome::Release);
    }
}

impl<P> fmt::Debug for ManualRuntime<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualRuntime").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl<P> fmt::Debug for Delivery<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.job.as_ref().map(Job::name);
        f.debug_struct("Delivery").field("job", &name).finish_non_exhaustive()
    }
}
