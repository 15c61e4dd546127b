//! Receiving as a stream.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::{FusedStream, Stream};

use crate::channel::ReceiveWait;
use crate::error::RecvError;
use crate::receiver::Receiver;

/// A receiver as a [`Stream`]. Made by [`Receiver::into_stream`].
///
/// Ends, with `None`, when the channel is closed and empty. A [`release`](Receiver::release) while
/// it waits ends it as well, but then it may be polled again: `is_terminated` of [`FusedStream`]
/// tells the two apart. It counts as a receiver for as long as it lives, also after its end.
///
/// Its size hint has an upper bound once the channel is closed: the items that are inside.
///
/// # Cancel safety
///
/// No item is kept inside between two polls: a `next` that is dropped has taken nothing. The stream
/// goes on waiting between two of them, though, and a wake that comes meanwhile is for its next poll.
/// Dropping the stream passes it on to the next receiver.
#[must_use = "a stream does nothing unless it is polled"]
pub struct RecvStream<T> {
    receiver: Receiver<T>,
    wait: ReceiveWait,
    is_closed: bool,
}

impl<T> Receiver<T> {
    /// A stream of what this receiver takes. Clone the receiver first to keep one.
    ///
    /// ```
    /// # use pollster::block_on;
    /// use futures_util::StreamExt;
    ///
    /// let (tx, rx) = overtake_core::bounded(&[4, 4]);
    /// tx.try_send(1, "bulk").unwrap();
    /// tx.try_send(0, "urgent").unwrap();
    /// drop(tx);
    /// let all: Vec<_> = block_on(rx.into_stream().collect());
    /// assert_eq!(all, ["urgent", "bulk"]);
    /// ```
    pub fn into_stream(self) -> RecvStream<T> {
        RecvStream { receiver: self, wait: ReceiveWait::default(), is_closed: false }
    }
}

impl<T> RecvStream<T> {
    /// The receiver inside, to look at the channel, or to close or release it.
    #[must_use]
    pub fn receiver(&self) -> &Receiver<T> {
        &self.receiver
    }
}

impl<T> Stream for RecvStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Self { receiver, wait, is_closed } = &mut *self;
        let taken = receiver.poll_take(wait, context, || receiver.try_recv());
        taken.map(|taken| {
            *is_closed = matches!(taken, Err(RecvError::Closed));
            taken.ok()
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let is_closed = self.receiver.is_closed();
        (0, is_closed.then(|| self.receiver.len()))
    }
}

impl<T> FusedStream for RecvStream<T> {
    fn is_terminated(&self) -> bool {
        self.is_closed
    }
}

impl<T> Drop for RecvStream<T> {
    fn drop(&mut self) {
        self.receiver.abandon(&mut self.wait);
    }
}

impl<T> fmt::Debug for RecvStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecvStream").field(&self.receiver).finish()
    }
}
