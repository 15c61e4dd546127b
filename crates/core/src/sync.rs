//! The one switch between real and model-checked synchronisation.
//!
//! Nothing else in this crate names `std::sync`, `std::thread`, `loom` or `shuttle`. With
//! `--cfg overtake_loom` or `--cfg overtake_shuttle` every name here is that model checker's, so
//! the same algorithms run under it unchanged. The cfgs are our own, so that they do not switch
//! dependencies too.

pub(crate) use real_or_model::*;

pub(crate) use std::thread::panicking;

#[cfg(not(any(overtake_loom, overtake_shuttle)))]
mod real_or_model {
    pub(crate) use crossbeam_utils::CachePadded;
    pub(crate) use std::hint::spin_loop as spin_hint;
    pub(crate) use std::sync::Arc;
    pub(crate) use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
    pub(crate) use std::thread::{Thread, current, park, park_timeout, sleep, yield_now};
    pub(crate) use std::thread_local;

    pub(crate) use std::sync::atomic::AtomicU64 as Word;
    pub(crate) use std::sync::atomic::AtomicU64 as PlainWord;

    use crate::fault::Fault;

    /// A sweep clears the bits of bands it found empty once in so many receives.
    pub(crate) const TIDY_PERIOD: u64 = 64;
    /// So many waiters share a segment.
    pub(crate) const SEGMENT_CELLS: usize = 64;
    /// Shelf *k* holds 2^*k* segments: room for more waiters than memory.
    pub(crate) const SHELVES: usize = 24;
    /// A thread may be inside so many wakes of one wait set.
    pub(crate) const DEEPEST_WAKE: u32 = 4;

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
        pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(overtake_loom)]
mod real_or_model {
    pub(crate) use super::model_thread::{Thread, current, park};
    pub(crate) use super::model_word::{AtomicPtr, Word};
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::hint::spin_loop as spin_hint;
    pub(crate) use loom::sync::Arc;
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering, fence};
    pub(crate) use loom::thread::yield_now;
    pub(crate) use loom::thread_local;

    /// A word whose readers and writers need no order of their own.
    pub(crate) use loom::sync::atomic::AtomicU64 as PlainWord;

    use crate::fault::Fault;
    use std::time::Duration;

    /// Every receive, so that models see it.
    pub(crate) const TIDY_PERIOD: u64 = 1;
    pub(crate) const SEGMENT_CELLS: usize = 2;
    pub(crate) const SHELVES: usize = 2;
    pub(crate) const DEEPEST_WAKE: u32 = 2;

    /// The checker has no clock: time stands still in here.
    pub(crate) fn park_timeout(_limit: Duration) {
        park();
    }

    pub(crate) fn sleep(_time: Duration) {
        yield_now();
    }

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
mod model_thread;
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
    pub(crate) use shuttle::sync::Arc;
    pub(crate) use shuttle::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
    pub(crate) use shuttle::thread::{Thread, current, park, park_timeout, sleep, yield_now};
    pub(crate) use shuttle::thread_local;

    pub(crate) use shuttle::sync::atomic::AtomicU64 as Word;
    pub(crate) use shuttle::sync::atomic::AtomicU64 as PlainWord;

    use crate::fault::Fault;

    /// Every receive, so that models see it.
    pub(crate) const TIDY_PERIOD: u64 = 1;
    pub(crate) const SEGMENT_CELLS: usize = 3;
    pub(crate) const SHELVES: usize = 6;
    pub(crate) const DEEPEST_WAKE: u32 = 2;

    /// This checker knows one order of everything.
    pub(crate) fn model_fence(_without: Fault) {}
}

/// A plain counter of one handle. What it counts is a heuristic, so the checker need not see it.
pub(crate) type HandleWord = std::sync::atomic::AtomicU64;
/// The order of all accesses to a [`HandleWord`].
pub(crate) const HANDLE_ORDER: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
