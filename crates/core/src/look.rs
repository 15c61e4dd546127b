//! What both sides can see and do: sizes, closing, releasing.

use crate::counters::Counters;
use crate::receiver::Receiver;
use crate::sender::Sender;

macro_rules! look {
    ($handle:ident) => {
        impl<T> $handle<T> {
            /// Closes the channel: no further sends. What is inside still comes out, then
            /// receivers get `Closed`. Blocked senders get their items back.
            ///
            /// Says whether this call closed it. A send that is under way is in before the close or
            /// gets its item back; no receive waits for it to decide.
            pub fn close(&self) -> bool {
                self.shared().close()
            }

            /// Wakes every receiver that waits now; each returns `Released`. Closes nothing.
            ///
            /// A receiver that is about to wait is not missed, one that starts to wait later is
            /// not affected, and an item that comes at the same time stays inside.
            pub fn release(&self) {
                self.shared().release();
            }

            /// Whether the channel was closed. Items may still be inside.
            #[must_use]
            pub fn is_closed(&self) -> bool {
                self.shared().is_closed()
            }

            /// The number of bands.
            #[must_use]
            pub fn band_count(&self) -> usize {
                self.shared().rings().len()
            }

            /// How many items are inside, over all bands. May be stale when it returns; at rest
            /// it is exact.
            #[must_use]
            pub fn len(&self) -> usize {
                self.shared().rings().iter().map(|ring| ring.len()).sum()
            }

            /// How many items are in one band; never more than its capacity. May be stale.
            ///
            /// # Panics
            ///
            /// If the channel has no band `band`.
            #[must_use]
            #[track_caller]
            pub fn len_of(&self, band: usize) -> usize {
                self.shared().ring(band).len()
            }

            /// How many items one band can hold.
            ///
            /// # Panics
            ///
            /// If the channel has no band `band`.
            #[must_use]
            #[track_caller]
            pub fn capacity_of(&self, band: usize) -> usize {
                self.shared().ring(band).capacity()
            }

            /// Whether no band holds an item. May be stale.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.shared().rings().iter().all(|ring| ring.is_empty())
            }

            /// Whether one band has no room. May be stale.
            ///
            /// # Panics
            ///
            /// If the channel has no band `band`.
            #[must_use]
            #[track_caller]
            pub fn is_full(&self, band: usize) -> bool {
                self.shared().is_full_now(band)
            }

            /// What went through so far, and how often somebody waited.
            ///
            /// ```
            /// let (tx, rx) = overtake_core::bounded(&[4, 4]);
            /// tx.send(1, 'a').unwrap();
            /// tx.send(1, 'b').unwrap();
            /// rx.recv().unwrap();
            /// let bulk = rx.counters().bands[1];
            /// assert_eq!((bulk.sent, bulk.received, bulk.senders_parked), (2, 1, 0));
            /// ```
            #[must_use]
            pub fn counters(&self) -> Counters {
                self.shared().counters()
            }

            /// How many senders there are. May be stale.
            #[must_use]
            pub fn sender_count(&self) -> usize {
                self.shared().sender_count()
            }

            /// How many receivers there are. May be stale.
            #[must_use]
            pub fn receiver_count(&self) -> usize {
                self.shared().receiver_count()
            }
        }
    };
}

look!(Sender);
look!(Receiver);
