//! A slot: a word that says whose it is, and the place for an item. The unsafe code lives here.
//!
//! Ownership rule (R2): the item's place may be touched only
//! - by the sender that won the tail from ticket *t*, while the word is `Empty(t)`: nobody else
//!   changes that word but to `Void(t)`, and whoever finds `Void` does not touch the place;
//! - by the receiver that won the head from ticket *t*, while the word is `Full(t)`, or `Void` after
//!   it was `Full(t)`: others may only change it to `Void`, and do not touch the place.
//!
//! So a place that a late thread still holds is in quarantine: no one else writes or reads it until
//! that thread, and only that thread, has freed the slot.

use std::mem::MaybeUninit;

use super::word::{Phase, SlotWord, Ticket};
use crate::fault::Fault;
use crate::sync::{Ordering, UnsafeCell, Word};

pub(super) struct Slot<T> {
    word: Word,
    item: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: R2. The place is only touched by the one thread that the word makes its owner, and
// each hand-over is a release of the word followed by an acquire of it. Items move between
// threads, hence `T: Send`; no two threads ever look at one item, so `T: Sync` is not needed.
unsafe impl<T: Send> Sync for Slot<T> {}
// SAFETY: as above; a slot that is moved is not shared.
unsafe impl<T: Send> Send for Slot<T> {}

/// How a publish ended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Published {
    /// The item can be taken.
    Yes,
    /// The ticket was voided first; the item is still the sender's, and the slot is free again.
    Voided,
}

impl<T> Slot<T> {
    pub(super) fn new(ticket: Ticket) -> Self {
        Self {
            word: Word::new(SlotWord::empty(ticket).bits()),
            item: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Reads the word, and with it everything that its last writer did.
    pub(super) fn look(&self) -> SlotWord {
        // ORDERING: E1 and E2: a look takes part in the order of looks and publishes.
        SlotWord::from_bits(self.word.load(Ordering::SeqCst))
    }

    /// Changes the word from one value to another.
    fn change(&self, from: SlotWord, to: SlotWord, success: Ordering) -> Result<(), SlotWord> {
        self.word
            .compare_exchange(from.bits(), to.bits(), success, Ordering::Acquire)
            .map(drop)
            .map_err(SlotWord::from_bits)
    }

    /// Writes a copy of `item` and makes it visible.
    ///
    /// If this says [`Published::Yes`] the item is the ring's, and the caller must leave its own
    /// alone: even to move it is a use of it.
    ///
    /// # Safety
    ///
    /// The caller has won the tail from `ticket` and found this slot `Empty(ticket)` before.
    pub(super) unsafe fn publish(&self, ticket: Ticket, item: &T, slots: u64) -> Published {
        // SAFETY: R2 makes the caller the owner of the place: it won the ticket. The bitwise copy
        // counts as the item only if the publish below succeeds, and then the caller's is forgotten.
        self.item.with_mut(|place| unsafe {
            place.cast::<T>().copy_from_nonoverlapping(item, 1);
        });
        if Fault::PublishByStore.planted() {
            self.word.store(SlotWord::full(ticket).bits(), Ordering::SeqCst);
            return Published::Yes;
        }
        // ORDERING: E1, releases the item to the look that finds it.
        match self.change(SlotWord::empty(ticket), SlotWord::full(ticket), Ordering::SeqCst) {
            Ok(()) => Published::Yes,
            Err(now) => {
                debug_assert!(
                    now.phase() == Phase::Void && now.is_dead_for(ticket),
                    "R2: {now:?} under the owner of {ticket}"
                );
                self.free_late(slots);
                Published::Voided
            }
        }
    }

    /// Moves the item out and frees the slot for the next lap.
    ///
    /// # Safety
    ///
    /// The caller has won the head from `ticket` and found this slot `Full(ticket)` before.
    pub(super) unsafe fn take(&self, ticket: Ticket, slots: u64) -> T {
        // SAFETY: R2 makes the caller the owner of the place, and the look that found `Full`
        // acquired the item. It is read once: the ticket is won once.
        // Exclusive though it only reads: what is moved out nobody else may touch.
        let item = self.item.with_mut(|place| unsafe { place.cast::<T>().read() });
        let (from, to) = (SlotWord::full(ticket), SlotWord::empty(ticket + slots));
        if Fault::FreeByStore.planted() {
            self.word.store(to.bits(), Ordering::Release);
            return item;
        }
        // ORDERING: E5, releases the emptied place to the next sender. Not a store: it would
        // overwrite the note that a sender has passed this slot, and the slot would be lost.
        if self.change(from, to, Ordering::Release).is_err() {
            self.free_late(slots);
        }
        item
    }

    /// The one late owner of a void slot frees it, for the lap after the last dead ticket.
    #[cold]
    fn free_late(&self, slots: u64) {
        let mut void = self.look();
        loop {
            debug_assert_eq!(void.phase(), Phase::Void, "R5: only its owner ends a quarantine");
            // ORDERING: E5, as in `take`.
            match self.change(void, SlotWord::empty(void.ticket() + slots), Ordering::Release) {
                Ok(()) => return,
                Err(now) => void = now,
            }
        }
    }

    /// Makes an unpublished ticket dead. `Err` with the word found if it was not unpublished.
    pub(super) fn void_unpublished(&self, ticket: Ticket) -> Result<(), SlotWord> {
        // ORDERING: E5.
        self.change(SlotWord::empty(ticket), SlotWord::void(ticket), Ordering::AcqRel)
    }

    /// Makes `ticket` dead because the slot still belongs to a late thread of an earlier lap.
    pub(super) fn void_for_late_owner(&self, found: SlotWord, ticket: Ticket) {
        debug_assert!(found.ticket() < ticket && found.phase() != Phase::Empty, "R2: {found:?}");
        // ORDERING: E5. Failing means that the late owner was faster, or another sender; the
        // caller looks again anyway.
        let _ = self.change(found, SlotWord::void(ticket), Ordering::AcqRel);
    }

    /// Drops the item that is inside for good, if there is one.
    ///
    /// # Safety
    ///
    /// Nobody else has the ring any more, and `head` is its head.
    pub(super) unsafe fn drop_item(&mut self, head: Ticket) {
        let word = self.look();
        if word.phase() == Phase::Full && word.ticket() >= head {
            // SAFETY: R2: published and never claimed, so the item is whole and nobody's.
            self.item.with_mut(|place| unsafe { place.cast::<T>().drop_in_place() });
        }
    }
}
