//! The one switch between real and model-checked synchronisation.
//!
//! Nothing else in this crate names `std::sync`, `std::thread`, `loom` or `shuttle`. With
//! `--cfg overtake_loom` or `--cfg overtake_shuttle` every name here is that model checker's, so
//! the same algorithms run under it unchanged. The cfgs are our own, so that they do not switch
//! dependencies too.

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

#[cfg(not(any(overtake_loom, overtake_shuttle)))]
mod real_or_model {
    pub(crate) use crossbeam_utils::CachePadded;
    pub(crate) use std::hint::spin_loop as spin_hint;
    pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
    pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread::yield_now;

    pub(crate) use std::sync::atomic::AtomicU64 as Word;

    use crate::fault::Fault;

    /// A sweep clears the bits of bands it found empty once in so many receives.
    pub(crate) const TIDY_PERIOD: u64 = 64;

    /// Where the accesses around this point are all SeqCst, that is enough. The checker takes them
    /// for less, so there it is a fence.
    #[inline(always)]
    pub(crate) fn model_fence(_without: Fault) {}

    /// The checker's cell, as it is without the checker.
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(overtake_loom)]
mod real_or_model {
    pub(crate) use super::model_word::Word;
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::hint::spin_loop as spin_hint;
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering, fence};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread::yield_now;

    use crate::fault::Fault;

    /// Every receive, so that models see it.
    pub(crate) const TIDY_PERIOD: u64 = 1;

    pub(crate) fn model_fence(without: Fault) {
        if !without.planted() {
            fence(Ordering::SeqCst);
        }
    }

    /// The checker has no cache lines.
    #[derive(Debug)]
    pub(crate) struct CachePadded<T>(T);

    impl<T> CachePadded<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(value)
        }
    }

    impl<T> std::ops::Deref for CachePadded<T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.0
        }
    }
}

#[cfg(overtake_loom)]
mod model_word;
#[cfg(overtake_loom)]
pub use model_word::{name_thread, use_shadows};

#[cfg(overtake_shuttle)]
mod model_cell;

#[cfg(overtake_shuttle)]
mod real_or_model {
    pub(crate) use super::model_cell::UnsafeCell;
    pub(crate) use crossbeam_utils::CachePadded;
    pub(crate) use shuttle::hint::spin_loop as spin_hint;
    pub(crate) use shuttle::sync::atomic::{AtomicUsize, Ordering};
    pub(crate) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use shuttle::thread::yield_now;

    pub(crate) use shuttle::sync::atomic::AtomicU64 as Word;

    use crate::fault::Fault;

    /// Every receive, so that models see it.
    pub(crate) const TIDY_PERIOD: u64 = 1;

    /// This checker knows one order of everything.
    pub(crate) fn model_fence(_without: Fault) {}
}

/// A plain counter of one handle. What it counts is a heuristic, so the checker need not see it.
pub(crate) type HandleWord = std::sync::atomic::AtomicU64;
/// The order of all accesses to a [`HandleWord`].
pub(crate) const HANDLE_ORDER: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
