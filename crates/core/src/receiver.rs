//! The receiving side.

use std::fmt;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::band::BandSet;
use crate::channel::{Caller, ReceiveWait, Shared, Step};
use crate::deadline::Deadline;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::sweep::Idle;
use crate::sync::Arc;

/// Takes the most urgent item from a channel, or from some of its bands. Clone it for more
/// receivers; every item goes to one of them.
///
/// When the last receiver is dropped the channel closes and what is inside is dropped at once.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    pub(crate) set: BandSet,
    pub(crate) idle: Idle,
}

impl<T> Receiver<T> {
    /// A handle for all bands that was counted already.
    pub(crate) fn counted(shared: Arc<Shared<T>>) -> Self {
        Self { shared, set: BandSet::ALL, idle: Idle::new() }
    }

    pub(crate) fn shared(&self) -> &Shared<T> {
        &self.shared
    }

    pub(crate) fn share(&self) -> Arc<Shared<T>> {
        Arc::clone(&self.shared)
    }

    /// One round of a task's wait for what `take` takes.
    pub(crate) fn poll_take<R>(
        &self,
        wait: &mut ReceiveWait,
        context: &Context<'_>,
        mut take: impl FnMut() -> Result<R, TryRecvError>,
    ) -> Poll<Result<R, RecvError>> {
        let caller = Caller::Task(context.waker());
        match self.shared.step_receive(self.set, wait, caller, &mut take) {
            Step::Done(end) => {
                *wait = ReceiveWait::default();
                Poll::Ready(end)
            }
            Step::Sleep | Step::Yield => Poll::Pending,
        }
    }

    /// Passes on what was meant for a task that waits no longer.
    pub(crate) fn abandon(&self, wait: &mut ReceiveWait) {
        self.shared.abandon_receive(wait);
    }

    /// A receiver for those bands of this one that are in `set`.
    ///
    /// It never holds others up: an item is only ever offered to receivers that may take it.
    /// With no band left it receives nothing until the channel is closed.
    ///
    /// ```
    /// use overtake_core::{BandSet, bounded};
    ///
    /// let (tx, rx) = bounded(&[4, 4]);
    /// let bulk_only = rx.clone().only(BandSet::only(1));
    /// tx.send(0, "urgent").unwrap();
    /// tx.send(1, "bulk").unwrap();
    /// assert_eq!(bulk_only.recv(), Ok("bulk"));
    /// assert_eq!(rx.recv(), Ok("urgent"));
    /// ```
    #[must_use]
    pub fn only(mut self, set: BandSet) -> Self {
        self.set = self.set & set;
        self
    }

    /// The bands this receiver takes from.
    #[must_use]
    pub fn bands(&self) -> BandSet {
        self.set & BandSet::below(self.shared.rings().len())
    }

    /// Takes the most urgent item if there is one now.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty) if there is none; [`Closed`](TryRecvError::Closed) if none
    /// can come any more.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.try_recv_with_band().map(item_of)
    }

    /// [`try_recv`](Self::try_recv), with the item's band.
    ///
    /// # Errors
    ///
    /// As [`try_recv`](Self::try_recv).
    pub fn try_recv_with_band(&self) -> Result<(usize, T), TryRecvError> {
        self.shared.try_recv(self.set, &self.idle)
    }

    /// Takes the most urgent item, and waits for one as long as it takes.
    ///
    /// # Errors
    ///
    /// [`Closed`](RecvError::Closed) if none can come any more; [`Released`](RecvError::Released)
    /// if [`release`](Self::release) was called while this call waited.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_with_band().map(item_of)
    }

    /// [`recv`](Self::recv), with the item's band.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_with_band(&self) -> Result<(usize, T), RecvError> {
        self.shared
            .recv(self.set, &self.idle, Deadline::Never)
            .map_err(RecvTimeoutError::without_deadline)
    }

    /// Takes the most urgent item, and waits for one for at most `timeout`. A timeout too long
    /// for the clock, such as [`Duration::MAX`], waits for ever.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), and [`Timeout`](RecvTimeoutError::Timeout).
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_timeout_with_band(timeout).map(item_of)
    }

    /// [`recv_timeout`](Self::recv_timeout), with the item's band.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout).
    pub fn recv_timeout_with_band(
        &self,
        timeout: Duration,
    ) -> Result<(usize, T), RecvTimeoutError> {
        self.shared.recv(self.set, &self.idle, Deadline::after(timeout))
    }

    /// Takes the most urgent item, and waits for one up to `deadline`. An item beats a deadline
    /// that has passed.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), and [`Timeout`](RecvTimeoutError::Timeout).
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_deadline_with_band(deadline).map(item_of)
    }

    /// [`recv_deadline`](Self::recv_deadline), with the item's band.
    ///
    /// # Errors
    ///
    /// As [`recv_deadline`](Self::recv_deadline).
    pub fn recv_deadline_with_band(
        &self,
        deadline: Instant,
    ) -> Result<(usize, T), RecvTimeoutError> {
        self.shared.recv(self.set, &self.idle, Deadline::At(deadline))
    }

    /// Whether two receivers belong to one channel, whatever bands they take from.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

fn item_of<T>((_, item): (usize, T)) -> T {
    item
}

impl<T> Clone for Receiver<T> {
    /// The clone takes from the same bands.
    fn clone(&self) -> Self {
        self.shared.add_receiver();
        Self { shared: Arc::clone(&self.shared), set: self.set, idle: Idle::new() }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.drop_receiver();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("takes_from", &self.bands())
            .field("channel", &self.shared)
            .finish()
    }
}
