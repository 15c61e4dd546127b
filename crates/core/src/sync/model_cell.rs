//! A cell that notices when a thread writes while another is at it.

use shuttle::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct UnsafeCell<T> {
    /// How many read; [`WRITTEN`] while one writes. The checker's, so that it may stop a thread in
    /// the middle of an access.
    busy: AtomicUsize,
    value: std::cell::UnsafeCell<T>,
}

const WRITTEN: usize = usize::MAX / 2;

impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { busy: AtomicUsize::new(0), value: std::cell::UnsafeCell::new(value) }
    }

    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        let before = self.busy.fetch_add(1, Ordering::Relaxed);
        assert!(before < WRITTEN, "R2, N9: read while it is written");
        let result = read(self.value.get());
        self.busy.fetch_sub(1, Ordering::Relaxed);
        result
    }

    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        let before = self.busy.swap(WRITTEN, Ordering::Relaxed);
        assert_eq!(before, 0, "R2, N9: two threads at one place");
        let result = write(self.value.get());
        self.busy.store(0, Ordering::Relaxed);
        result
    }
}
