//! What several designs are built from.

mod crossbeam_bands;
mod last_item;
mod polling;
mod semaphore;

pub(super) use crossbeam_bands::CrossbeamBands;
pub(super) use last_item::{LAST, or_pass_on};
pub(super) use polling::{Polling, poll};
pub(super) use semaphore::Semaphore;
