//! Tasks that a model drives by hand: a waker that counts its calls, and an executor of one future.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

#[cfg(overtake_loom)]
use loom::{
    sync::atomic::{AtomicUsize, Ordering},
    thread::{Thread, current, park},
};
#[cfg(overtake_shuttle)]
use shuttle::{
    sync::atomic::{AtomicUsize, Ordering},
    thread::{Thread, current, park},
};

/// Rings when its waker is used, and ends the sleep of the thread that made it.
#[derive(Debug)]
pub struct Alarm {
    rung: AtomicUsize,
    sleeper: Thread,
}

impl Alarm {
    /// For the calling thread.
    #[must_use]
    pub fn here() -> Arc<Self> {
        Arc::new(Self { rung: AtomicUsize::new(0), sleeper: current() })
    }

    /// How often it rang.
    pub fn rung(&self) -> usize {
        self.rung.load(Ordering::SeqCst)
    }

    /// Sleeps until it has rung more often than that.
    pub fn sleep(&self, rung: usize) {
        while self.rung() == rung {
            park();
        }
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.fetch_add(1, Ordering::SeqCst);
        self.sleeper.unpark();
    }
}

/// Polls a future once.
pub fn poll<F: Future + Unpin>(future: &mut F, waker: impl Into<Waker>) -> Poll<F::Output> {
    let waker = waker.into();
    Pin::new(future).poll(&mut Context::from_waker(&waker))
}

/// Sleeps and polls with one alarm until the future is ready.
pub fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    block_on_with(&mut future, &Alarm::here())
}

/// As [`block_on`], with this alarm.
pub fn block_on_with<F: Future + Unpin>(future: &mut F, alarm: &Arc<Alarm>) -> F::Output {
    loop {
        let rung = alarm.rung();
        match poll(future, Arc::clone(alarm)) {
            Poll::Ready(output) => return output,
            Poll::Pending => alarm.sleep(rung),
        }
    }
}

/// As [`block_on`], with another alarm at each poll, of which only the last is listened to. Polls
/// at least twice if it is not ready at once.
pub fn block_on_changing<F: Future + Unpin>(mut future: F) -> F::Output {
    if let Poll::Ready(output) = poll(&mut future, Alarm::here()) {
        return output;
    }
    loop {
        let alarm = Alarm::here();
        match poll(&mut future, Arc::clone(&alarm)) {
            Poll::Ready(output) => return output,
            Poll::Pending => alarm.sleep(0),
        }
    }
}
