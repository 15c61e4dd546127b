//! Readers of real workload logs.
//!
//! Two formats are read, plain or gzipped, and told apart by what is in them:
//!
//! * **SWF**, the format of the Parallel Workloads Archive: a line of 18 blank-separated numbers
//!   per job, comments after `;`.
//! * **pod list**: a CSV with a line per pod, its quality-of-service class, its last phase, and
//!   when it was created, scheduled and deleted.
//!
//! A line that cannot be replayed is never dropped in silence: it is in [`Trace::skipped`] with
//! its number and the reason, so that `lines == jobs + skipped` holds for every trace.
//!
//! ```
//! use overtake_sim::trace::{BandsBy, Trace, sample_swf};
//!
//! let trace = Trace::read(sample_swf().as_bytes(), "sample")?;
//! assert_eq!(trace.lines, 400);
//! assert!(trace.skipped.is_empty());
//!
//! let banding = BandsBy::Auto.assign(&trace)?;
//! assert_eq!(banding.labels, ["queue 1 (urgent)", "queue 2 (bulk)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bands;
mod error;
mod header;
mod lines;
mod number;
mod pods;
mod qos;
mod read;
mod sample;
mod skip;
mod swf;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

pub use bands::{Banding, BandingError, BandsBy, UnknownBandsBy};
pub use error::TraceError;
pub use header::TraceHeader;
pub use qos::QosClass;
pub use sample::sample_swf;
pub use skip::{Field, SkipReason, SkippedLine};

/// A workload log: its jobs in the order of their submit times, and what was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The format the log is written in.
    pub format: TraceFormat,
    /// What the log says about itself; empty for a pod list.
    pub header: TraceHeader,
    /// The number of data lines: comments, blank lines and the header line of a CSV do not count.
    /// Always the number of `jobs` plus the number of `skipped`.
    pub lines: u64,
    /// The earliest submit time as the log gives it; `jobs` count from here.
    pub first_submit: Duration,
    /// The jobs, sorted by submit time. The sort is stable: jobs of the same time keep the order
    /// of their lines. Empty if every data line was skipped.
    pub jobs: Vec<TraceJob>,
    /// The data lines that cannot be replayed, in the order of the log.
    pub skipped: Vec<SkippedLine>,
}

/// The format of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceFormat {
    /// The archive's format of 18 numbers a line.
    Swf,
    /// The CSV with a pod a line.
    PodList,
}

/// One job of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceJob {
    /// The line it stands on, the first line of the file being 1.
    pub line: u64,
    /// What the log calls it. Just a label: a log may use one name twice.
    pub name: String,
    /// When it was submitted, counted from the first submit of the trace, whose own is zero.
    /// Never more than 2^63 - 1 seconds, so that adding `run_time` cannot overflow.
    pub submit: Duration,
    /// How long it ran. Zero is a run time like any other.
    /// Never more than 2^63 - 1 seconds.
    pub run_time: Duration,
    /// How long its user said that it would run, if the log knows.
    pub requested_time: Option<Duration>,
    /// The number of its queue, if the log knows.
    pub queue: Option<i64>,
    /// Its quality-of-service class; only a pod list has one.
    pub class: Option<QosClass>,
    /// How it ended.
    pub outcome: LoggedOutcome,
}

/// How a job of a log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoggedOutcome {
    /// It ran to its end. A pod whose last phase is `Running` counts as completed as well: it
    /// ended, its outcome is unknown.
    Completed,
    /// It ran and failed.
    Failed,
    /// It was withdrawn: while it waited, with a run time of zero, or while it ran.
    Cancelled,
}

impl Trace {
    /// Reads the log in a file, plain or gzipped: its bytes decide, not its name.
    ///
    /// # Errors
    ///
    /// [`TraceError::Open`] if the file cannot be opened, and those of [`Trace::read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::read(file, name),
            Err(source) => Err(TraceError::Open { name, source }),
        }
    }

    /// Reads a log, plain or gzipped, from anything; errors call it `name`.
    ///
    /// # Errors
    ///
    /// [`TraceError::Read`] if reading or unpacking fails, [`TraceError::NotATrace`] if the first
    /// line fits neither format, [`TraceError::MissingColumn`] if a pod list lacks a column, and
    /// [`TraceError::Empty`] if there is no data line.
    pub fn read(reader: impl Read, name: impl Into<String>) -> Result<Self, TraceError> {
        read::unpack_and_read(reader, &name.into())
    }
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Swf => "SWF log",
            Self::PodList => "pod list",
        })
    }
}

impl fmt::Display for LoggedOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        })
    }
}
