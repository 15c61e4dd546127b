//! Replay of a log through the real runtime on a manual clock.
//!
//! Each job of the log is submitted when the log says, holds one of the workers for as long as it
//! ran, and ends as it ended: a completed job is done; a failed one fails in every run, is
//! retried and becomes a dead letter; a cancelled one holds its worker for as long as it ran (not
//! at all if it never did) and is then discarded. What is different from the log is only who waits
//! for whom.
//!
//! Time is simulated and everything happens in one thread, so a replay gives the same figures each
//! time.

mod report;
mod simulation;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use overtake_runtime::{BuildError, RetryPolicy};

use crate::trace::{Banding, LoggedOutcome, Trace};

pub use report::{BandWaits, ReplayReport, WaitSeconds};

/// In which order waiting jobs are started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The most urgent band first, in order of arrival inside a band.
    #[default]
    Strict,
    /// In order of arrival, whatever the band.
    Fifo,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Strict, Self::Fifo];

    /// Its name, as on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Fifo => "fifo",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no [`Policy`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no policy; the policies are `strict` and `fifo`")]
pub struct UnknownPolicy {
    text: String,
}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.name() == text)
            .ok_or_else(|| UnknownPolicy { text: text.to_owned() })
    }
}

/// How to replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// The order.
    pub policy: Policy,
    /// How many jobs can run at once.
    pub workers: usize,
    /// What happens to failed jobs.
    pub retry: RetryPolicy,
}

/// Why a log cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The log has no job.
    #[error("there is no job to replay")]
    NoJobs,
    /// Nothing would ever run.
    #[error("a replay needs at least one worker")]
    NoWorkers,
    /// The banding was made for another log.
    #[error("the bands are those of {banded} jobs, but the log has {jobs}")]
    OtherBanding {
        /// How many jobs the banding is for.
        banded: usize,
        /// How many jobs the log has.
        jobs: usize,
    },
    /// The runtime cannot have as many priorities as there are bands.
    #[error("{bands} bands are too many for the runtime")]
    Runtime {
        /// How many bands there are.
        bands: usize,
        /// What the runtime says.
        source: BuildError,
    },
}

/// Replays a log.
///
/// ```
/// use overtake_sim::replay::{Options, Policy, replay, workers_for};
/// use overtake_sim::trace::{BandsBy, Trace};
///
/// let log = "1 0 -1 60 1 -1 -1 1 100 -1 1 1 1 1 1 -1 -1 -1\n\
///            2 5 -1 60 1 -1 -1 1 100 -1 0 1 1 1 1 -1 -1 -1\n";
/// let trace = Trace::read(log.as_bytes(), "two jobs")?;
/// let banding = BandsBy::Auto.assign(&trace)?;
/// let options = Options { policy: Policy::Strict, workers: 1, retry: Default::default() };
/// let report = replay(&trace, &banding, &options)?;
/// assert_eq!((report.done, report.dead, report.runs), (1, 1, 1 + 4));
/// assert_eq!(report.bands[0].wait_s.max, 55.0); // the second waits for the first
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`ReplayError`]: no job, no worker, or more bands than the runtime has priorities.
pub fn replay(
    trace: &Trace,
    banding: &Banding,
    options: &Options,
) -> Result<ReplayReport, ReplayError> {
    if trace.jobs.is_empty() {
        return Err(ReplayError::NoJobs);
    }
    if options.workers == 0 {
        return Err(ReplayError::NoWorkers);
    }
    let (banded, jobs) = (banding.bands.len(), trace.jobs.len());
    if banded != jobs {
        return Err(ReplayError::OtherBanding { banded, jobs });
    }
    let outcome = simulation::run(trace, banding, options)?;
    Ok(report::make(trace, banding, options, outcome))
}

/// How many workers the log keeps busy 90 % of the time, retries included: enough to get through,
/// few enough that jobs wait.
///
/// The first and the last hundredth of the jobs are left out of the reckoning, as logs often
/// begin or end with long quiet times.
#[must_use]
pub fn workers_for(trace: &Trace, retry: &RetryPolicy) -> usize {
    let hundredth = trace.jobs.len() / 100;
    let jobs = &trace.jobs[hundredth..trace.jobs.len() - hundredth];
    let runs = |outcome| match outcome {
        LoggedOutcome::Failed => f64::from(retry.max_retries()) + 1.0,
        LoggedOutcome::Completed | LoggedOutcome::Cancelled => 1.0,
    };
    let work: f64 = jobs.iter().map(|job| job.run_time.as_secs_f64() * runs(job.outcome)).sum();
    let span = match jobs {
        [first, .., last] => last.submit.saturating_sub(first.submit),
        _ => Duration::ZERO,
    };
    let workers = work / span.as_secs_f64().max(1.0) / 0.9;
    // A float that is out of range becomes the nearest number that is not.
    (workers.ceil() as usize).clamp(1, trace.jobs.len().max(1))
}
