//! Sending in a task.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::channel::SendWait;
use crate::error::SendError;
use crate::sender::Sender;

/// Sends one item. Made by [`Sender::send_async`].
///
/// Polled again after it was ready, it is ready at once, with `Ok`, and sends nothing.
#[must_use = "a future does nothing unless it is polled"]
pub struct SendFuture<'a, T> {
    sender: &'a Sender<T>,
    band: usize,
    /// `None` once it was sent or given back.
    item: Option<T>,
    wait: SendWait,
}

impl<T> Sender<T> {
    /// Sends, and waits for room as long as it takes, without blocking the thread.
    ///
    /// Nothing is sent before the first poll. Threads and tasks that wait for room in one band are
    /// woken in the order in which they began to wait.
    ///
    /// ```
    /// # use pollster::block_on;
    /// use futures_util::future::join;
    ///
    /// let (tx, rx) = overtake_core::bounded(&[1]);
    /// let sending = async {
    ///     tx.send_async(0, 'a').await?;
    ///     tx.send_async(0, 'b').await // waits for room
    /// };
    /// let receiving = async { (rx.recv_async().await, rx.recv_async().await) };
    /// let (sent, received) = block_on(join(sending, receiving));
    /// assert_eq!((sent, received), (Ok(()), (Ok('a'), Ok('b'))));
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, the future has sent nothing, and its item is dropped with it;
    /// [`into_item`](SendFuture::into_item) gives it back instead. A wake that was meant for it goes
    /// to the next sender, thread or task. A future that was woken and is neither polled nor dropped
    /// keeps the one wake it has.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the item if the channel is closed, before or while waiting.
    ///
    /// # Panics
    ///
    /// If the channel has no band `band`; at once, not when polled.
    #[track_caller]
    pub fn send_async(&self, band: usize, item: T) -> SendFuture<'_, T> {
        self.must_have(band);
        SendFuture { sender: self, band, item: Some(item), wait: SendWait::default() }
    }
}

impl<T> SendFuture<'_, T> {
    /// Ends the attempt, and gives the item back; `None` if it was sent, or given back in an error.
    ///
    /// ```
    /// let (tx, _rx) = overtake_core::bounded(&[1]);
    /// assert_eq!(tx.send_async(0, 'a').into_item(), Some('a'));
    /// ```
    #[must_use]
    pub fn into_item(mut self) -> Option<T> {
        self.item.take()
    }
}

// The item is never pinned: it moves into the channel.
impl<T> Unpin for SendFuture<'_, T> {}

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { sender, band, item, wait } = &mut *self;
        match sender.poll_send(*band, item, wait, context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(item.take().map_or(Ok(()), |item| Err(SendError(item)))),
        }
    }
}

impl<T> Drop for SendFuture<'_, T> {
    fn drop(&mut self) {
        self.sender.abandon(self.band, &mut self.wait);
    }
}

impl<T> fmt::Debug for SendFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendFuture")
            .field("band", &self.band)
            .field("holds_its_item", &self.item.is_some())
            .field("sender", self.sender)
            .finish()
    }
}
