//! Sending and receiving many items in a task.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::channel::{ReceiveWait, SendWait};
use crate::error::{RecvError, SendManyError};
use crate::receiver::Receiver;
use crate::sender::Sender;

/// Takes many items. Made by [`Receiver::recv_many_async`].
#[must_use = "a future does nothing unless it is polled"]
pub struct RecvManyFuture<'a, T> {
    receiver: &'a Receiver<T>,
    items: &'a mut Vec<T>,
    limit: usize,
    wait: ReceiveWait,
}

/// Sends many items. Made by [`Sender::send_many_async`].
#[must_use = "a future does nothing unless it is polled"]
pub struct SendManyFuture<'a, T> {
    sender: &'a Sender<T>,
    band: usize,
    items: &'a mut VecDeque<T>,
    wait: SendWait,
}

impl<T> Receiver<T> {
    /// Takes up to `limit` items as [`try_recv_many`](Self::try_recv_many) does, and waits for the
    /// first one without blocking the thread.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, the future has taken nothing and `items` is as it was.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_many_async<'a>(
        &'a self,
        items: &'a mut Vec<T>,
        limit: usize,
    ) -> RecvManyFuture<'a, T> {
        RecvManyFuture { receiver: self, items, limit, wait: ReceiveWait::default() }
    }
}

impl<T> Sender<T> {
    /// Sends all of `items` as [`send_many`](Self::send_many) does, and waits for room without
    /// blocking the thread.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, the future has sent what is gone from `items`; the rest is still
    /// in there, in order.
    ///
    /// # Errors
    ///
    /// [`SendManyError`] if the channel is closed, before or while waiting; what was not sent is
    /// still in `items`.
    ///
    /// # Panics
    ///
    /// If the channel has no band `band`; at once, not when polled.
    #[track_caller]
    pub fn send_many_async<'a>(
        &'a self,
        band: usize,
        items: &'a mut VecDeque<T>,
    ) -> SendManyFuture<'a, T> {
        self.must_have(band);
        SendManyFuture { sender: self, band, items, wait: SendWait::default() }
    }
}

impl<T> Future for RecvManyFuture<'_, T> {
    type Output = Result<usize, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { receiver, items, limit, wait } = &mut *self;
        receiver.poll_take(wait, context, || receiver.try_recv_many(items, *limit))
    }
}

// The items are never pinned: they move into the channel.
impl<T> Unpin for SendManyFuture<'_, T> {}

impl<T> Future for SendManyFuture<'_, T> {
    type Output = Result<(), SendManyError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { sender, band, items, wait } = &mut *self;
        let mut push = || sender.shared().try_send_all(*band, items);
        sender.poll_push(*band, wait, context, &mut push).map_err(|_| SendManyError)
    }
}

impl<T> Drop for RecvManyFuture<'_, T> {
    fn drop(&mut self) {
        self.receiver.abandon(&mut self.wait);
    }
}

impl<T> Drop for SendManyFuture<'_, T> {
    fn drop(&mut self) {
        self.sender.abandon(self.band, &mut self.wait);
    }
}

impl<T> fmt::Debug for RecvManyFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvManyFuture")
            .field("limit", &self.limit)
            .field("receiver", self.receiver)
            .finish()
    }
}

impl<T> fmt::Debug for SendManyFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendManyFuture")
            .field("band", &self.band)
            .field("items_left", &self.items.len())
            .field("sender", self.sender)
            .finish()
    }
}
