//! Three ways of using the channel as a plain bounded queue, so that one behaviour can be asked of
//! all of them.
#![allow(dead_code, reason = "every test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of several binaries")]

use overtake_core::{
    Receiver, SendError, SendTimeoutError, Sender, TryRecvError, TrySendError, bounded,
};
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// Bands of a channel that has several.
pub const BANDS: usize = 4;

/// Which bands the items go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// There is only one.
    OneBand,
    /// All to the lowest of several; those above stay empty.
    LowestBand,
    /// Each sender goes round all of them. Order is promised inside a band alone.
    Spread,
}

impl Way {
    pub fn channel<T>(self, capacity: usize) -> (Tx<T>, Receiver<T>) {
        let bands = if self == Self::OneBand { 1 } else { BANDS };
        let (sender, receiver) = bounded(&vec![capacity; bands]);
        (Tx { sender, way: self, accepted: AtomicUsize::new(0) }, receiver)
    }

    /// The band of a sender's item with this number, counted from 0.
    pub fn band(self, number: usize) -> usize {
        match self {
            Self::OneBand => 0,
            Self::LowestBand => BANDS - 1,
            Self::Spread => number % BANDS,
        }
    }

    /// How many items fit where each band has room for `capacity`.
    pub fn room(self, capacity: usize) -> usize {
        if self == Self::Spread { capacity * BANDS } else { capacity }
    }

    /// Fails unless numbers of one sender came in its order, as far as that is promised.
    #[track_caller]
    pub fn assert_in_order(self, received: &[usize]) {
        let mut last = [None; BANDS];
        for &number in received {
            let before = last[self.band(number)].replace(number);
            assert!(before < Some(number), "{number} after {before:?} in {received:?}");
        }
    }

    /// Fails unless these are all numbers below `count`, in the order of their sender.
    #[track_caller]
    pub fn assert_all_in_order(self, received: &[usize], count: usize) {
        self.assert_in_order(received);
        assert_all(received, count);
    }
}

/// Fails unless these are all numbers below `count`, each once.
#[track_caller]
pub fn assert_all(received: &[usize], count: usize) {
    let mut sorted = received.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..count).collect::<Vec<_>>());
}

/// A sender that knows where its items go. What is not about that is the sender's.
pub struct Tx<T> {
    sender: Sender<T>,
    way: Way,
    accepted: AtomicUsize,
}

impl<T> Tx<T> {
    /// The band of the next item.
    pub fn band(&self) -> usize {
        self.way.band(self.accepted.load(SeqCst))
    }

    /// Goes on to the next band if this item was accepted.
    fn count<E>(&self, sent: Result<(), E>) -> Result<(), E> {
        self.accepted.fetch_add(usize::from(sent.is_ok()), SeqCst);
        sent
    }

    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        self.count(self.sender.try_send(self.band(), item))
    }

    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        self.count(self.sender.send(self.band(), item))
    }

    pub fn send_timeout(&self, item: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.count(self.sender.send_timeout(self.band(), item, timeout))
    }

    pub fn is_full(&self) -> bool {
        self.sender.is_full(self.band())
    }
}

impl<T> Clone for Tx<T> {
    fn clone(&self) -> Self {
        let accepted = AtomicUsize::new(self.accepted.load(SeqCst));
        Self { sender: self.sender.clone(), way: self.way, accepted }
    }
}

impl<T> Deref for Tx<T> {
    type Target = Sender<T>;

    fn deref(&self) -> &Sender<T> {
        &self.sender
    }
}

/// Looks until there is an item, or never will be.
pub fn poll<T>(rx: &Receiver<T>) -> Option<T> {
    loop {
        match rx.try_recv() {
            Ok(item) => return Some(item),
            Err(TryRecvError::Closed) => return None,
            Err(TryRecvError::Empty) => thread::yield_now(),
        }
    }
}

/// Makes three tests of each function that takes a [`Way`].
macro_rules! in_every_way {
    ($($(#[$attribute:meta])* $behaviour:ident),+ $(,)?) => {$(
        mod $behaviour {
            use crate::common::within;
            use crate::ways::Way;

            #[test]
            $(#[$attribute])*
            fn in_one_band() {
                within(60, || super::$behaviour(Way::OneBand));
            }

            #[test]
            $(#[$attribute])*
            fn in_the_lowest_band() {
                within(60, || super::$behaviour(Way::LowestBand));
            }

            #[test]
            $(#[$attribute])*
            fn spread_over_bands() {
                within(60, || super::$behaviour(Way::Spread));
            }
        }
    )+};
}
pub(crate) use in_every_way;
