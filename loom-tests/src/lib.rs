//! Runs loom models of `overtake-core`, and counts what they explored.
//!
//! Everything here exists under `--cfg overtake_loom` alone; without it this crate and its tests
//! are empty. The `README.md` beside says what loom sees, lists the models, and how to add one.

#[cfg(overtake_loom)]
mod harness;

#[cfg(overtake_loom)]
pub use harness::{Seen, check, check_plain, must_fail, must_fail_plain, spawn};
