//! Jobs with strict priority in one process: workers, retry, dead letters and a clean drain,
//! without a database.
//!
//! ```
//! use std::time::Duration;
//! use overtake_runtime::{Context, Job, RetryPolicy, Runtime};
//!
//! let runtime = Runtime::builder()
//!     .priorities(2) // 0 is the most urgent
//!     .workers(2)
//!     .retry(RetryPolicy::fixed(Duration::from_millis(10)))
//!     .start(|job: &Job<&str>, _: &Context<'_, &str>| match *job.payload() {
//!         "bad number" => Err(format!("cannot send to `{}`", job.name())),
//!         _ => Ok(()),
//!     })?;
//!
//! for number in 0..100 {
//!     runtime.publish(Job::new(format!("newsletter {number}"), "text").with_priority(1))?;
//! }
//! runtime.publish(Job::new("one-time password", "text"))?; // passes the newsletters
//! runtime.publish(Job::new("nobody", "bad number").with_max_retries(2))?;
//!
//! let report = runtime.drain(Duration::from_secs(30));
//! assert_eq!((report.totals.done, report.totals.dead), (101, 1));
//! assert_eq!(report.totals.runs, 101 + 3); // two retries are three runs
//! assert!(report.totals.balance());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What you may rely on
//!
//! - **G6 accounted**: every accepted job comes to exactly one end: done, discarded, dead or
//!   returned; also after panics and through shutdown, and the counts add up.
//! - **G7 never stuck**: a retry can always re-enter. A job keeps its place in its priority's
//!   capacity until it has come to its end, so no worker and no timer ever waits for room.
//! - The most urgent waiting job is started next; inside a priority due retries come first, then
//!   fresh jobs in order of submission.
//! - A job that always fails runs its retry limit plus one times.
//! - No worker waits out a delay.
//! - A panic in a handler, of any kind, is a failed attempt; the worker lives on.
//!
//! # What you may not rely on
//!
//! - A job survives the process only as a dead letter in a file, or by being handed back.
//! - Nothing preempts: an urgent job waits for a worker to become free.
//! - Less urgent jobs starve while more urgent ones never end. That is what strict means.
//! - With several workers, jobs *start* in strict order, but a later one may end first.
//!
//! # Panics, and the panic hook
//!
//! To know where a handler panicked, the first runtime of a process wraps the panic hook. Panics
//! inside handlers go into the job's history in place of the standard error output; all others
//! go to the hook that was there before. Panics cannot be caught under `panic = "abort"`.

#![forbid(unsafe_code)]

mod admission;
mod books;
mod build_error;
mod builder;
mod clock;
mod dead_letters;
mod engine;
mod event;
mod inside;
mod job;
mod lanes;
mod lock;
mod manual;
mod millis;
mod outcome;
mod panics;
mod publish;
mod publish_error;
mod report;
mod retry;
mod retry_timer;
mod runtime;
mod settle;
mod shutdown;
mod shutdown_state;
mod slot;
mod wall_time;
mod worker;

pub use books::{Counts, Waits};
pub use build_error::BuildError;
pub use builder::Builder;
pub use clock::{Clock, ClockHand};
pub use dead_letters::{
    Added, Body, DeadLetter, DeadLetterError, DeadLetters, EntryId, FileDeadLetters, FileNotice,
    Filter, MemoryDeadLetters, Reason, Redriven, SyncPolicy, UnknownReason, WhenFull,
};
pub use event::{Event, EventKind};
pub use job::{FailedAttempt, Job, JobId};
pub use manual::{Delivery, ManualRuntime};
pub use outcome::{IntoOutcome, Outcome};
pub use publish::{PublishedAll, Publisher, Redrive};
pub use publish_error::PublishError;
pub use report::{Abandoned, PriorityReport, Report, Snapshot};
pub use retry::RetryPolicy;
pub use runtime::Runtime;
/// The token of [`Context::cancellation`].
pub use tokio_util::sync::CancellationToken;
pub use worker::Context;
