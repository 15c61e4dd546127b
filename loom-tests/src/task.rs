//! Tasks that a model drives by hand: a waker that counts its calls, and an executor of one future.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use std::sync::atomic::{AtomicUsize, Ordering};

/// Rings when its waker is used, and ends the sleep of one thread.
#[derive(Debug)]
pub struct Alarm {
    /// Not the checker's: for models to count, and no part of what they explore.
    rung: AtomicUsize,
    bell: Bell,
}

#[cfg(overtake_loom)]
use loom::sync::Notify as Bell;

/// One ring is kept for who sleeps later.
#[cfg(overtake_shuttle)]
#[derive(Debug)]
struct Bell {
    rings: shuttle::sync::Mutex<bool>,
    rang: shuttle::sync::Condvar,
}

#[cfg(overtake_shuttle)]
impl Bell {
    fn new() -> Self {
        Self { rings: shuttle::sync::Mutex::new(false), rang: shuttle::sync::Condvar::new() }
    }

    fn notify(&self) {
        *self.rings.lock().unwrap() = true;
        self.rang.notify_all();
    }

    fn wait(&self) {
        let mut rings = self.rings.lock().unwrap();
        while !*rings {
            rings = self.rang.wait(rings).unwrap();
        }
        *rings = false;
    }
}

impl Alarm {
    /// One that has not rung.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self { rung: AtomicUsize::new(0), bell: Bell::new() })
    }

    /// How often it rang.
    pub fn rung(&self) -> usize {
        self.rung.load(Ordering::Relaxed)
    }

    /// Sleeps until it has rung since the last sleep, or for no reason.
    pub fn sleep(&self) {
        self.bell.wait();
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.fetch_add(1, Ordering::Relaxed);
        self.bell.notify();
    }
}

/// Polls a future once.
pub fn poll<F: Future + Unpin>(future: &mut F, waker: impl Into<Waker>) -> Poll<F::Output> {
    let waker = waker.into();
    Pin::new(future).poll(&mut Context::from_waker(&waker))
}

/// Sleeps and polls with one alarm until the future is ready.
pub fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let alarm = Alarm::new();
    match poll(&mut future, Arc::clone(&alarm)) {
        Poll::Ready(output) => output,
        Poll::Pending => when_rung(&mut future, &alarm),
    }
}

/// Polls a future that was pending, but only when its alarm has rung, until it is ready.
pub fn when_rung<F: Future + Unpin>(future: &mut F, alarm: &Arc<Alarm>) -> F::Output {
    loop {
        alarm.sleep();
        if let Poll::Ready(output) = poll(future, Arc::clone(alarm)) {
            return output;
        }
    }
}

/// As [`block_on`], with another alarm at each poll, of which only the last is listened to. Polls
/// at least twice if it is not ready at once.
pub fn block_on_changing<F: Future + Unpin>(mut future: F) -> F::Output {
    if let Poll::Ready(output) = poll(&mut future, Alarm::new()) {
        return output;
    }
    loop {
        let alarm = Alarm::new();
        match poll(&mut future, Arc::clone(&alarm)) {
            Poll::Ready(output) => return output,
            Poll::Pending => alarm.sleep(),
        }
    }
}
