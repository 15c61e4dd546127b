//! Handles that do not count.

use std::fmt;

use crate::band::BandSet;
use crate::channel::Shared;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::sync::Arc;

/// A way back to a [`Sender`] that does not keep the channel open. Made by [`Sender::downgrade`].
///
/// For who sends now and then, but must not be the reason why receivers wait for more. The memory of
/// the channel is kept until the last handle of any kind is gone.
#[must_use = "a weak handle keeps nothing open"]
pub struct WeakSender<T> {
    shared: Arc<Shared<T>>,
}

/// A way back to a [`Receiver`] that does not count as one. Made by [`Receiver::downgrade`].
///
/// When the last receiver goes, the channel closes and what is inside is dropped, whatever weak
/// handles there are. The memory of the channel is kept until the last handle of any kind is gone.
#[must_use = "a weak handle keeps nothing open"]
pub struct WeakReceiver<T> {
    shared: Arc<Shared<T>>,
    set: BandSet,
}

impl<T> Sender<T> {
    /// A handle that does not keep the channel open.
    ///
    /// ```
    /// let (tx, rx) = overtake_core::bounded::<u8>(&[1]);
    /// let weak = tx.downgrade();
    /// weak.upgrade().expect("a sender is there").send(0, 7).unwrap();
    /// drop(tx);
    /// assert!(weak.upgrade().is_none());
    /// assert_eq!(rx.iter().collect::<Vec<_>>(), [7]);
    /// ```
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { shared: self.share() }
    }
}

impl<T> WeakSender<T> {
    /// A sender, if the channel still has one; `None` for good once the last one went, which has
    /// closed the channel. A channel that was closed by [`close`](Sender::close) alone still gives
    /// senders, which send nothing.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.shared.add_sender_if_any().then(|| Sender::counted(Arc::clone(&self.shared)))
    }
}

impl<T> Receiver<T> {
    /// A handle that does not count as a receiver.
    ///
    /// ```
    /// let (tx, rx) = overtake_core::bounded(&[1]);
    /// let weak = rx.downgrade();
    /// tx.send(0, 7).unwrap();
    /// assert_eq!(weak.upgrade().expect("a receiver is there").recv(), Ok(7));
    /// drop(rx);
    /// assert!(weak.upgrade().is_none() && tx.is_closed());
    /// ```
    pub fn downgrade(&self) -> WeakReceiver<T> {
        WeakReceiver { shared: self.share(), set: self.bands() }
    }
}

impl<T> WeakReceiver<T> {
    /// A receiver for the bands of the one it was made from, if the channel still has any receiver,
    /// of whatever bands; `None` for good once the last one went.
    #[must_use]
    pub fn upgrade(&self) -> Option<Receiver<T>> {
        let is_counted = self.shared.add_receiver_if_any();
        is_counted.then(|| Receiver::counted(Arc::clone(&self.shared)).only(self.set))
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Clone for WeakReceiver<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), set: self.set }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WeakSender").field(&self.shared).finish()
    }
}

impl<T> fmt::Debug for WeakReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WeakReceiver").field(&self.shared).finish()
    }
}
