//! Waiting for designs that cannot sleep until something happens.

use std::thread;
use std::time::Duration;

use crossbeam_utils::Backoff;
use crossbeam_utils::atomic::AtomicCell;

/// How long to sleep between two looks, once yielding has not helped.
const NAP: Duration = Duration::from_micros(50);

/// Looks until something is there: at first after short spins and yields, then after naps, so that
/// an idle receiver leaves the processor to others most of the time.
pub(crate) fn poll<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let backoff = Backoff::new();
    loop {
        if let Some(found) = look() {
            return found;
        }
        if backoff.is_completed() {
            thread::sleep(NAP);
        } else {
            backoff.snooze();
        }
    }
}

/// Whether a polled queue has ended.
#[derive(Debug, Default)]
pub(crate) struct Polling {
    ended: AtomicCell<bool>,
}

impl Polling {
    /// Polls for an item; `None` once ended and empty.
    pub(crate) fn recv<T>(&self, try_recv: impl Fn() -> Option<T>) -> Option<T> {
        poll(|| match try_recv() {
            Some(item) => Some(Some(item)),
            // Nobody sends any more, so what is not there now will not come.
            None => self.ended.load().then(&try_recv),
        })
    }

    pub(crate) fn end(&self) {
        self.ended.store(true);
    }
}
