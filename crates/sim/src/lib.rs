//! Real workload logs through the real runtime, and the queue designs that overtake is compared
//! with.
//!
//! - [`trace`] reads logs: the Standard Workload Format of the Parallel Workloads Archive, and pod
//!   lists.
//! - [`replay`] runs the jobs of a log through [`overtake_runtime`] on a manual clock: a year of log
//!   in seconds, exactly and repeatably.
//! - [`contenders`] holds the queue designs behind one trait; the benches pick them up from there.

#![forbid(unsafe_code)]

pub mod contenders;
pub mod replay;
pub mod trace;
