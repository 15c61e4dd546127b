//! Waiters in a list behind a lock that is off the fast path. Here to be caught.

use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Waker;

#[derive(Default)]
pub(super) struct Locked {
    items: AtomicUsize,
    count: AtomicUsize,
    waiting: Mutex<Vec<Waker>>,
}

impl Locked {
    pub(super) fn announce(&self, waker: Waker) {
        self.waiting.lock().unwrap().push(waker);
        self.count.fetch_add(1, SeqCst);
    }

    /// Wakes the newest waiter, if there is one.
    pub(super) fn publish(&self) {
        self.items.fetch_add(1, SeqCst);
        if self.count.load(SeqCst) == 0 {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap();
        if let Some(waker) = waiting.pop() {
            self.count.fetch_sub(1, SeqCst);
            waker.wake();
        }
    }
}
