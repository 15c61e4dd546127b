//! Locking that goes on after a panic elsewhere.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. The data under the locks of this crate is whole at every point where user code can
/// panic, so poison is no news.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
