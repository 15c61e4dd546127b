//! Receiving in a task.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::channel::ReceiveWait;
use crate::error::RecvError;
use crate::receiver::Receiver;

/// Takes the most urgent item. Made by [`Receiver::recv_async`].
///
/// Polled again after it was ready, it waits for the next item.
#[must_use = "a future does nothing unless it is polled"]
pub struct RecvFuture<'a, T> {
    inner: RecvWithBandFuture<'a, T>,
}

/// [`RecvFuture`], with the item's band. Made by [`Receiver::recv_async_with_band`].
///
/// Polled again after it was ready, it waits for the next item.
#[must_use = "a future does nothing unless it is polled"]
pub struct RecvWithBandFuture<'a, T> {
    receiver: &'a Receiver<T>,
    wait: ReceiveWait,
}

impl<T> Receiver<T> {
    /// Takes the most urgent item, and waits for one as long as it takes, without blocking the
    /// thread.
    ///
    /// Any executor will do. Threads and tasks may wait on one channel side by side.
    ///
    /// ```
    /// # use pollster::block_on;
    /// let (tx, rx) = overtake_core::bounded(&[4, 4]);
    /// tx.try_send(1, "bulk").unwrap();
    /// tx.try_send(0, "urgent").unwrap();
    /// let both = async { (rx.recv_async().await, rx.recv_async().await) };
    /// assert_eq!(block_on(both), (Ok("urgent"), Ok("bulk")));
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, the future has taken nothing; a wake that was meant for it goes to
    /// the next receiver, thread or task. So it may lose races:
    ///
    /// ```
    /// # use pollster::block_on;
    /// use futures_util::future::{Either, ready, select};
    ///
    /// let (tx, rx) = overtake_core::bounded(&[1]);
    /// let race = select(rx.recv_async(), ready("too late"));
    /// assert!(matches!(block_on(race), Either::Right(("too late", _))));
    /// tx.try_send(0, 'x').unwrap();
    /// assert_eq!(rx.try_recv(), Ok('x'));
    /// ```
    ///
    /// A future that was woken and is neither polled nor dropped, or that is leaked by
    /// [`mem::forget`](std::mem::forget), keeps the one wake it has: another receiver may wait beside
    /// one item until the next item comes.
    ///
    /// # Errors
    ///
    /// [`Closed`](RecvError::Closed) if no item can come any more; [`Released`](RecvError::Released)
    /// if [`release`](Self::release) was called after a poll that was pending. A release before the
    /// first poll does not count.
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        RecvFuture { inner: self.recv_async_with_band() }
    }

    /// [`recv_async`](Self::recv_async), with the item's band.
    ///
    /// # Cancel safety
    ///
    /// As [`recv_async`](Self::recv_async).
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_async_with_band(&self) -> RecvWithBandFuture<'_, T> {
        RecvWithBandFuture { receiver: self, wait: ReceiveWait::default() }
    }
}

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.inner).poll(context).map_ok(|(_, item)| item)
    }
}

impl<T> Future for RecvWithBandFuture<'_, T> {
    type Output = Result<(usize, T), RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let receiver = self.receiver;
        receiver.poll_take(&mut self.wait, context, || receiver.try_recv_with_band())
    }
}

impl<T> Drop for RecvWithBandFuture<'_, T> {
    fn drop(&mut self) {
        self.receiver.abandon(&mut self.wait);
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecvFuture").field(self.inner.receiver).finish()
    }
}

impl<T> fmt::Debug for RecvWithBandFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecvWithBandFuture").field(self.receiver).finish()
    }
}
