//! Real workload logs through the real runtime, and the queue designs that overtake is compared
//! with.
//!
//! - [`trace`] reads logs: the Standard Workload Format of the Parallel Workloads Archive, and pod
//!   lists.
//! - [`replay`] runs the jobs of a log through [`overtake_runtime`] on a manual clock: a year of log
//!   in seconds, exactly and repeatably.
//! - [`contenders`] holds the queue designs behind one trait, [`workload`] what they are made to do;
//!   the benches pick both up from there.
//! - [`check`](mod@check) records what a design does under real threads and decides whether that is linearizable.
//! - [`compare`](mod@compare) lets the contenders take turns and reports ratios.
//! - [`sms`] makes a sample of jobs for `overtake run`.

#![forbid(unsafe_code)]

pub mod check;
pub mod compare;
pub mod contenders;
pub mod replay;
pub mod sms;
pub mod trace;
pub mod workload;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
