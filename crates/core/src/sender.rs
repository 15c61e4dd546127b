//! The sending side.

use std::fmt;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::channel::{Caller, Closed, Refused, SendWait, Shared, Step};
use crate::deadline::Deadline;
use crate::error::{SendError, SendTimeoutError, TrySendError};
use crate::sync::Arc;

/// Sends into the bands of a channel. Clone it for more senders.
///
/// The channel closes when the last sender is dropped; what is inside still comes out.
///
/// Every method that takes a band panics when the channel has no such band.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// A handle that was counted already.
    pub(crate) fn counted(shared: Arc<Shared<T>>) -> Self {
        Self { shared }
    }

    pub(crate) fn shared(&self) -> &Shared<T> {
        &self.shared
    }

    pub(crate) fn share(&self) -> Arc<Shared<T>> {
        Arc::clone(&self.shared)
    }

    /// Panics, in its caller's caller, if the channel has no such band.
    #[track_caller]
    pub(crate) fn must_have(&self, band: usize) {
        let _ = self.shared.ring(band);
    }

    /// One round of a task's wait for room. Ready with `item` still there if the channel is closed.
    pub(crate) fn poll_send(
        &self,
        band: usize,
        item: &mut Option<T>,
        wait: &mut SendWait,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        let mut push = || self.shared.try_send_taken(band, item);
        self.poll_push(band, wait, context, &mut push).map(|_| ())
    }

    /// One round of a task's wait until `push` goes well.
    pub(crate) fn poll_push<R>(
        &self,
        band: usize,
        wait: &mut SendWait,
        context: &mut Context<'_>,
        push: &mut impl FnMut() -> Result<R, Refused>,
    ) -> Poll<Result<R, Closed>> {
        match self.shared.step_send(band, wait, Caller::Task(context.waker()), push) {
            Step::Done(end) => {
                *wait = SendWait::default();
                Poll::Ready(end)
            }
            Step::Sleep => Poll::Pending,
            Step::Yield => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }

    /// Passes on what was meant for a task that waits no longer.
    pub(crate) fn abandon(&self, band: usize, wait: &mut SendWait) {
        self.shared.abandon_send(band, wait);
    }

    /// Sends if the band has room now.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full) without room, [`Closed`](TrySendError::Closed) after closing;
    /// the item comes back in both.
    ///
    /// # Panics
    ///
    /// If the channel has no band `band`.
    #[track_caller]
    pub fn try_send(&self, band: usize, item: T) -> Result<(), TrySendError<T>> {
        self.shared.try_send(band, item)
    }

    /// Sends, and waits for room as long as it takes.
    ///
    /// Only this band counts: urgent items never wait for room in a band below.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the item if the channel is closed, before or while waiting.
    ///
    /// # Panics
    ///
    /// If the channel has no band `band`.
    #[track_caller]
    pub fn send(&self, band: usize, item: T) -> Result<(), SendError<T>> {
        self.shared.send(band, item, Deadline::Never).map_err(|error| SendError(error.into_inner()))
    }

    /// Sends, and waits for room for at most `timeout`. A timeout too long for the clock, such as
    /// [`Duration::MAX`], waits for ever.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout) or [`Closed`](SendTimeoutError::Closed), with the
    /// item.
    ///
    /// # Panics
    ///
    /// If the channel has no band `band`.
    #[track_caller]
    pub fn send_timeout(
        &self,
        band: usize,
        item: T,
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<T>> {
        self.shared.send(band, item, Deadline::after(timeout))
    }

    /// Sends, and waits for room up to `deadline`. Room beats a deadline that has passed.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout) or [`Closed`](SendTimeoutError::Closed), with the
    /// item.
    ///
    /// # Panics
    ///
    /// If the channel has no band `band`.
    #[track_caller]
    pub fn send_deadline(
        &self,
        band: usize,
        item: T,
        deadline: Instant,
    ) -> Result<(), SendTimeoutError<T>> {
        self.shared.send(band, item, Deadline::At(deadline))
    }

    /// Whether two handles, of either side, belong to one channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.add_sender();
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.drop_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sender").field(&self.shared).finish()
    }
}
