//! Putting items in, and what stopped threads cost there.

use std::mem::ManuallyDrop;
use std::ops::Range;

use super::slot::{Published, Slot};
use super::word::{Phase, SlotWord, Ticket};
use super::{BandRing, Slots};
use crate::fault::Fault;
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
        let slots = self.slots();
        loop {
            match self.claim_tickets(slots, 1, &mut on_room) {
                Ok(claimed) => {
                    let ticket = claimed.start;
                    // SAFETY: R2: the ticket was claimed, and the item is left alone if it is in.
                    match unsafe { slots.at(ticket).publish(ticket, &item, slots.count()) } {
                        Published::Yes => return Ok(()),
                        Published::Voided => {}
                    }
                }
                Err(refused) => {
                    let item = ManuallyDrop::into_inner(item);
                    return Err(match refused {
                        PushError::Full(()) => PushError::Full(item),
                        PushError::Sealed(()) => PushError::Sealed(item),
                    });
                }
            }
        }
    }

    /// Claims at least one ticket, and up to `most` where there is room and their slots are free.
    /// All of them are the caller's to publish, in order.
    #[inline(always)]
    pub(super) fn claim_tickets(
        &self,
        slots: Slots<'_, T>,
        most: u64,
        on_room: &mut impl FnMut(u64),
    ) -> Result<Range<Ticket>, PushError<()>> {
        let mut skips = 0;
        loop {
            let tail = self.look_at_tail();
            if tail.is_sealed() {
                return Err(PushError::Sealed(()));
            }
            let ticket = tail.ticket();
            // Relaxed: stale is safe.
            let cached = self.tail.cached_head.load(Ordering::Relaxed);
            let mut room = self.capacity.saturating_sub(ticket.wrapping_sub(cached));
            if room < most {
                room = self.room_now(ticket, on_room);
                if room == 0 {
                    return Err(PushError::Full(()));
                }
            }
            let slot = slots.at(ticket);
            let word = slot.look();
            if word == SlotWord::empty(ticket) {
                let one_more = ticket + 1;
                let end = match most {
                    1 => one_more,
                    _ => self.free_up_to(one_more, ticket + room.min(most)),
                };
                if self.move_tail(tail, end - ticket) {
                    return Ok(ticket..end);
                }
                spin_hint();
            } else if word.is_dead_for(ticket) {
                if self.move_tail(tail, 1) {
                    // Relaxed is too weak: who counts the dead must know of them (E2).
                    self.skipped_to.fetch_max(ticket + 1, Ordering::SeqCst);
                    self.dead.one_died();
                    skips += 1;
                    if skips == slots.count() && !Fault::SkipForEver.planted() {
                        return Err(PushError::Full(()));
                    }
                }
            } else {
                self.pass_late_owner(slot, word, ticket);
            }
        }
    }

    /// Where the free slots from `from` on end, `end` at the latest. While the tail stands before
    /// them nobody changes them.
    #[inline]
    fn free_up_to(&self, from: Ticket, end: Ticket) -> Ticket {
        let is_taken = |&ticket: &Ticket| self.slot(ticket).look() != SlotWord::empty(ticket);
        (from..end).find(is_taken).unwrap_or(end)
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

    /// How many tickets from `ticket` on may be given out, by a fresh head; helps a dead head on
    /// (LF3).
    #[cold]
    pub(super) fn room_now(&self, ticket: Ticket, on_room: &mut impl FnMut(u64)) -> u64 {
        let mut head = self.look_at_head();
        while let Some(next) = self.help_dead_head(head, on_room) {
            head = next;
        }
        // Relaxed: as where it is read. It may even go back; it is never ahead of the head.
        self.tail.cached_head.store(head, Ordering::Relaxed);
        let given_out = ticket.saturating_sub(head);
        match self.capacity.saturating_sub(given_out) {
            0 if given_out < self.slot_count() => {
                let live = given_out - self.dead_between(head, ticket);
                self.capacity.saturating_sub(live).min(self.slot_count() - given_out)
            }
            room => room,
        }
    }

    /// Moves the head over one dead ticket; `None` if the one at `head` is not dead.
    fn help_dead_head(&self, head: Ticket, on_room: &mut impl FnMut(u64)) -> Option<Ticket> {
        if Fault::FullWithoutHelp.planted() {
            return None;
        }
        let dead = self.slot(head).look().is_dead_for(head) && self.look_at_tail().ticket() > head;
        if !dead {
            return None;
        }
        self.pass_one_dead(head, on_room);
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
