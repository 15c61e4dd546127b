//! Sending as a sink.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_sink::Sink;

use crate::band_sender::BandSender;
use crate::channel::SendWait;
use crate::error::SendError;

/// A sender of one band as a [`Sink`]. Made by [`BandSender::into_sink`].
///
/// An item goes into the band at once if there is room. One that finds none is held until there is,
/// so that a band of `n` places and `m` sinks take `n + m` items; until then the sink is not ready.
/// Flushed means that the item is in the channel, not that it was received. Closing the sink flushes
/// it and lets go of the sender, which closes the channel if it was the last; a closed sink gives
/// each further item back.
///
/// # Cancel safety
///
/// What polls the sink (a `send`, `feed`, `flush` or `close` of futures-util's `SinkExt`) may be
/// dropped: an item that the sink has accepted stays in it, and the next poll goes on. Dropping the
/// sink drops that item and passes a wake on to the next sender; [`into_item`](Self::into_item) gives
/// the item back instead.
///
/// # Errors
///
/// [`SendError`] with an item when the channel is closed: from `start_send` with the item that was
/// given to it, from the others with the one that was held. While nothing is held the others are
/// `Ok`, also when the channel is closed.
#[must_use = "a sink does nothing unless it is polled"]
pub struct SendSink<T> {
    /// `None` once the sink is closed.
    sender: Option<BandSender<T>>,
    item: Option<T>,
    wait: SendWait,
}

impl<T> BandSender<T> {
    /// A sink into this band. Clone the sender first to keep one.
    ///
    /// ```
    /// # use pollster::block_on;
    /// use futures_util::{SinkExt, StreamExt, future::join, stream};
    ///
    /// let (tx, rx) = overtake_core::bounded(&[1, 2]);
    /// let mut bulk = tx.band(1).into_sink();
    /// let sending = async {
    ///     bulk.send_all(&mut stream::iter(0..5).map(Ok)).await?;
    ///     bulk.close().await
    /// };
    /// drop(tx);
    /// let (sent, received) = block_on(join(sending, rx.into_stream().collect::<Vec<_>>()));
    /// assert_eq!((sent, received), (Ok(()), vec![0, 1, 2, 3, 4]));
    /// # Ok::<(), overtake_core::SendError<u8>>(())
    /// ```
    pub fn into_sink(self) -> SendSink<T> {
        SendSink { sender: Some(self), item: None, wait: SendWait::default() }
    }
}

impl<T> SendSink<T> {
    /// Ends the sink, and gives back the item that found no room yet, if there is one.
    #[must_use]
    pub fn into_item(mut self) -> Option<T> {
        self.item.take()
    }

    /// Sends the item that is held, if there is one.
    fn poll_held(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let Self { sender: Some(sender), item, wait } = self else {
            return Poll::Ready(self.item.take().map_or(Ok(()), |item| Err(SendError(item))));
        };
        if item.is_some() {
            ready!(sender.sender().poll_send(sender.band(), item, wait, context));
        }
        Poll::Ready(item.take().map_or(Ok(()), |item| Err(SendError(item))))
    }
}

impl<T> Unpin for SendSink<T> {}

impl<T> Sink<T> for SendSink<T> {
    /// The channel, or the sink, is closed; the item comes back.
    type Error = SendError<T>;

    fn poll_ready(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        self.poll_held(context)
    }

    /// # Panics
    ///
    /// If the sink was not ready: [`poll_ready`](Self::poll_ready) comes first.
    fn start_send(mut self: Pin<&mut Self>, item: T) -> Result<(), SendError<T>> {
        assert!(self.item.is_none(), "`start_send` without `poll_ready`");
        let Some(sender) = &self.sender else { return Err(SendError(item)) };
        match sender.try_send(item) {
            Ok(()) => Ok(()),
            Err(refused) if refused.is_closed() => Err(SendError(refused.into_inner())),
            Err(refused) => {
                self.item = Some(refused.into_inner());
                Ok(())
            }
        }
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        self.poll_held(context)
    }

    fn poll_close(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        let flushed = ready!(self.poll_held(context));
        self.sender = None;
        Poll::Ready(flushed)
    }
}

impl<T> Drop for SendSink<T> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            sender.sender().abandon(sender.band(), &mut self.wait);
        }
    }
}

impl<T> fmt::Debug for SendSink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendSink")
            .field("holds_an_item", &self.item.is_some())
            .field("sender", &self.sender)
            .finish()
    }
}
