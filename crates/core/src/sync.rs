//! The one switch between real and model-checked synchronisation.
//!
//! Nothing else in this crate names `std::sync`, `std::thread` or `loom`. With `--cfg overtake_loom`
//! every name here is the model checker's, so the same algorithms run under it unchanged. The
//! cfg is our own, so that it does not switch dependencies too.

pub(crate) use real_or_model::*;

pub(crate) use std::thread::panicking;

use std::sync::PoisonError;

/// Locks, and goes on after a panic elsewhere: no user code ever runs under a lock of this crate,
/// so a poisoned lock guards data that is whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits on a condition variable; see [`lock`] for why poison is no news.
pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits on a condition variable for at most `limit`.
pub(crate) fn wait_for<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    limit: std::time::Duration,
) -> MutexGuard<'a, T> {
    condvar.wait_timeout(guard, limit).unwrap_or_else(PoisonError::into_inner).0
}

#[cfg(not(overtake_loom))]
mod real_or_model {
    pub(crate) use crossbeam_queue::ArrayQueue;
    pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
}

#[cfg(overtake_loom)]
mod real_or_model {
    pub(crate) use super::model_queue::ArrayQueue;
    pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
}

#[cfg(overtake_loom)]
mod model_queue;
