//! Runs models of `overtake-core` under two checkers, and counts what they explored.
//!
//! Everything here exists under `--cfg overtake_loom` or `--cfg overtake_shuttle` alone; without
//! them this crate and its tests are empty. The `README.md` beside says what each checker sees,
//! lists the models, and how to add one.

#[cfg(overtake_shuttle)]
mod actors;
#[cfg(overtake_loom)]
mod harness;
#[cfg(overtake_shuttle)]
mod history;
#[cfg(overtake_shuttle)]
mod program;
#[cfg(overtake_shuttle)]
mod stopping;
#[cfg(any(overtake_loom, overtake_shuttle))]
mod task;

#[cfg(overtake_shuttle)]
pub use actors::{Act, Play, Way, run_play};
#[cfg(overtake_loom)]
pub use harness::{Seen, check, check_plain, must_fail, must_fail_plain, spawn};
#[cfg(overtake_shuttle)]
pub use history::{Answer, Call, Event, is_linearizable};
#[cfg(overtake_shuttle)]
pub use program::{Program, Thread, run_program};
#[cfg(overtake_shuttle)]
pub use stopping::{Stopped, Stopping, is_victim, let_victim_go, stop_victim, victim};
#[cfg(any(overtake_loom, overtake_shuttle))]
pub use task::{Alarm, block_on, block_on_changing, poll, when_rung};
