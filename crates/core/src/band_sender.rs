//! A sender that knows its band.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use crate::error::{SendError, SendManyError, SendTimeoutError, TrySendError, TrySendManyError};
use crate::future::{SendFuture, SendManyFuture};
use crate::sender::Sender;

/// A [`Sender`] bound to one band, for code that should not choose. Made by [`Sender::band`].
///
/// It counts as a sender: while it lives the channel stays open. None of its methods panics: that the
/// band is there was asked when it was made.
///
/// ```
/// let (tx, rx) = overtake_core::bounded(&[4, 4]);
/// let urgent = tx.band(0);
/// tx.send(1, "bulk")?;
/// urgent.send("urgent")?;
/// assert_eq!(rx.recv(), Ok("urgent"));
/// # Ok::<(), overtake_core::SendError<&str>>(())
/// ```
pub struct BandSender<T> {
    sender: Sender<T>,
    band: usize,
}

impl<T> Sender<T> {
    /// A sender into one band only.
    ///
    /// # Panics
    ///
    /// If the channel has no band `band`.
    #[must_use]
    #[track_caller]
    pub fn band(&self, band: usize) -> BandSender<T> {
        self.must_have(band);
        BandSender { sender: self.clone(), band }
    }
}

impl<T> BandSender<T> {
    /// The band it sends into.
    #[must_use]
    pub fn band(&self) -> usize {
        self.band
    }

    /// The sender for all bands inside.
    #[must_use]
    pub fn sender(&self) -> &Sender<T> {
        &self.sender
    }

    /// As [`Sender::try_send`].
    ///
    /// # Errors
    ///
    /// As [`Sender::try_send`].
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        self.sender.try_send(self.band, item)
    }

    /// As [`Sender::send`].
    ///
    /// # Errors
    ///
    /// As [`Sender::send`].
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        self.sender.send(self.band, item)
    }

    /// As [`Sender::send_timeout`].
    ///
    /// # Errors
    ///
    /// As [`Sender::send_timeout`].
    pub fn send_timeout(&self, item: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.sender.send_timeout(self.band, item, timeout)
    }

    /// As [`Sender::send_deadline`].
    ///
    /// # Errors
    ///
    /// As [`Sender::send_deadline`].
    pub fn send_deadline(&self, item: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.sender.send_deadline(self.band, item, deadline)
    }

    /// As [`Sender::send_async`], and as cancel-safe.
    ///
    /// # Errors
    ///
    /// As [`Sender::send_async`].
    pub fn send_async(&self, item: T) -> SendFuture<'_, T> {
        self.sender.send_async(self.band, item)
    }

    /// As [`Sender::try_send_many`].
    ///
    /// # Errors
    ///
    /// As [`Sender::try_send_many`].
    pub fn try_send_many(&self, items: &mut VecDeque<T>) -> Result<usize, TrySendManyError> {
        self.sender.try_send_many(self.band, items)
    }

    /// As [`Sender::send_many`].
    ///
    /// # Errors
    ///
    /// As [`Sender::send_many`].
    pub fn send_many(&self, items: &mut VecDeque<T>) -> Result<(), SendManyError> {
        self.sender.send_many(self.band, items)
    }

    /// As [`Sender::send_many_async`], and as cancel-safe.
    pub fn send_many_async<'a>(&'a self, items: &'a mut VecDeque<T>) -> SendManyFuture<'a, T> {
        self.sender.send_many_async(self.band, items)
    }

    /// As [`Sender::is_full`].
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.sender.is_full(self.band)
    }

    /// As [`Sender::len_of`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.sender.len_of(self.band)
    }

    /// Whether the band holds no item. May be stale.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As [`Sender::capacity_of`].
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.sender.capacity_of(self.band)
    }
}

impl<T> Clone for BandSender<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), band: self.band }
    }
}

impl<T> fmt::Debug for BandSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BandSender")
            .field("band", &self.band)
            .field("sender", &self.sender)
            .finish()
    }
}
