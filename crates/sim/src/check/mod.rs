//! Whether recorded histories of a queue are linearizable to strict priority bands.
//!
//! - [`History`] is what threads did and when: recorded from a contender by [`record()`], or read
//!   from a file.
//! - [`check`] decides in O(n log n), and names what it found in words.
//!
//! The sequential specification: a push appends to its band, a pop takes the oldest item of the
//! most urgent band it may take from, and says empty only if all of those are.

mod csv_file;
mod history;
mod intervals;
mod patterns;
mod record;
mod witness;

pub use csv_file::HistoryError;
pub use history::{History, Operation, OperationKind};
pub use patterns::check;
pub use record::{RecordOptions, record};
pub use witness::{Verdict, Violation, ViolationKind};
