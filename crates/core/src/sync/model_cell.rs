//! A cell that notices when two threads are at it at once.

use shuttle::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct UnsafeCell<T> {
    /// The checker's, so that it may stop a thread in the middle of an access.
    busy: AtomicBool,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { busy: AtomicBool::new(false), value: std::cell::UnsafeCell::new(value) }
    }

    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        assert!(!self.busy.swap(true, Ordering::Relaxed), "R2: two threads at one place");
        let result = write(self.value.get());
        self.busy.store(false, Ordering::Relaxed);
        result
    }
}
