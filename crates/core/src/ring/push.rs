//! Putting items in, and what stopped threads cost there.

use std::mem::ManuallyDrop;

use super::BandRing;
use super::slot::{Published, Slot};
use super::word::{Phase, SlotWord, Ticket};
use crate::sync::{Ordering, spin_hint};

/// Why an item was not pushed; it comes back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PushError<T> {
    /// All room is taken. Or stopped threads hold every slot (LF2): then [`BandRing::is_full`] says
    /// no, and no move of the head will tell when that ends.
    Full(T),
    Sealed(T),
}

impl<T> BandRing<T> {
    /// Appends an item. `on_room` is told how many tickets the head passed on the way.
    #[inline]
    pub(crate) fn push(&self, item: T, mut on_room: impl FnMut(u64)) -> Result<(), PushError<T>> {
        let item = ManuallyDrop::new(item);
        let mut skips = 0;
        loop {
            let tail = self.look_at_tail();
            if tail.is_sealed() {
                return Err(PushError::Sealed(ManuallyDrop::into_inner(item)));
            }
            let ticket = tail.ticket();
            // Relaxed: stale is safe.
            let cached = self.tail.cached_head.load(Ordering::Relaxed);
            if ticket.wrapping_sub(cached) >= self.capacity
                && !self.has_room_now(ticket, &mut on_room)
            {
                return Err(PushError::Full(ManuallyDrop::into_inner(item)));
            }
            let slot = self.slot(ticket);
            let word = slot.look();
            if word == SlotWord::empty(ticket) {
                if self.move_tail(tail) {
                    // SAFETY: the tail was won from this ticket, and the slot was found empty for
                    // it, which only its owner changes.
                    match unsafe { slot.publish(ticket, &item, self.slot_count()) } {
                        Published::Yes => return Ok(()),
                        Published::Voided => {}
                    }
                } else {
                    spin_hint();
                }
            } else if word.is_dead_for(ticket) {
                if self.move_tail(tail) {
                    // Relaxed is too weak: who counts the dead must know of them (E2).
                    self.skipped_to.fetch_max(ticket + 1, Ordering::SeqCst);
                    skips += 1;
                    if skips == self.slot_count() {
                        let item = ManuallyDrop::into_inner(item);
                        return Err(PushError::Full(item));
                    }
                }
            } else {
                self.pass_late_owner(slot, word, ticket);
            }
        }
    }

    /// Someone of an earlier lap still has the slot of `ticket`, or `ticket` is not the next one
    /// any more.
    #[cold]
    fn pass_late_owner(&self, slot: &Slot<T>, word: SlotWord, ticket: Ticket) {
        if word.ticket() + self.slot_count() != ticket {
            return;
        }
        match word.phase() {
            // An unpublished ticket of the lap before is not dead, so the head has not passed it
            // and there was no room; the tail that was read is old.
            Phase::Empty => {}
            Phase::Full if self.look_at_head() <= word.ticket() => {}
            Phase::Full | Phase::Void => slot.void_for_late_owner(word, ticket),
        }
    }

    /// Whether `ticket` may be given out, by a fresh head; helps a dead head on (LF3).
    #[cold]
    pub(super) fn has_room_now(&self, ticket: Ticket, on_room: &mut impl FnMut(u64)) -> bool {
        let mut head = self.look_at_head();
        while let Some(next) = self.help_dead_head(head, on_room) {
            head = next;
        }
        // Relaxed: as where it is read. It may even go back; it is never ahead of the head.
        self.tail.cached_head.store(head, Ordering::Relaxed);
        let given_out = ticket.saturating_sub(head);
        given_out < self.capacity
            || (given_out < self.slot_count()
                && given_out - self.dead_between(head, ticket) < self.capacity)
    }

    /// Moves the head over one dead ticket; `None` if the one at `head` is not dead.
    fn help_dead_head(&self, head: Ticket, on_room: &mut impl FnMut(u64)) -> Option<Ticket> {
        let dead = self.slot(head).look().is_dead_for(head) && self.look_at_tail().ticket() > head;
        if !dead {
            return None;
        }
        if self.move_head(head, head + 1) {
            on_room(1);
        }
        Some(self.look_at_head())
    }

    /// How many tickets of `head..ticket` are dead. Costs one load where no sender ever skipped.
    fn dead_between(&self, head: Ticket, ticket: Ticket) -> u64 {
        if self.skipped_to.load(Ordering::SeqCst) <= head {
            return 0;
        }
        (head..ticket).filter(|&ticket| self.slot(ticket).look().is_dead_for(ticket)).count() as u64
    }
}
