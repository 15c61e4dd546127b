//! Runs: many tickets by one claim of the tail, or of the head.
//!
//! A claim takes tickets that follow each other, so a batch costs one move of the tail or head.
//! Every slot of it still has its own word, and is published, voided and freed by itself: whoever
//! meets a run that a thread was stopped in passes its tickets one by one, like any others (R9, R10).

use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::ops::Range;

use super::push::PushError;
use super::slot::Published;
use super::word::{SlotWord, Ticket};
use super::{BandRing, Found, Slots};
use crate::fault::Fault;

/// The most tickets that one claim takes.
const LONGEST: u64 = 32;

/// Items at the tickets `first..end`, all published; the tickets from `head` up to them are dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    head: Ticket,
    first: Ticket,
    end: Ticket,
}

impl Run {
    pub(crate) fn len(&self) -> usize {
        (self.end - self.first) as usize
    }

    /// What it began with.
    pub(crate) fn found(&self) -> Found {
        Found { head: self.head, ticket: self.first }
    }
}

impl<T> BandRing<T> {
    /// The most tickets that one claim takes in this band: what a thread that is stopped inside a
    /// batch can hold. Half of the capacity at most, so that two such threads leave slots enough.
    pub(crate) fn longest_run(&self) -> u64 {
        (self.capacity / 2).clamp(1, LONGEST)
    }

    /// Appends items from the front of `items`, as many as one claim takes; says how many. What is
    /// left keeps its order. Appends at least one or says why not; `items` must not be empty.
    #[inline]
    pub(crate) fn push_run(
        &self,
        items: &mut VecDeque<T>,
        mut on_room: impl FnMut(u64),
    ) -> Result<usize, PushError<()>> {
        let most = self.longest_run().min(items.len() as u64);
        debug_assert!(most > 0, "nothing to push");
        let slots = self.slots();
        loop {
            let claimed = self.claim_tickets(slots, most, &mut on_room)?;
            let published = publish_run(slots, claimed, items);
            if published > 0 {
                return Ok(published);
            }
        }
    }

    /// The published items that follow each other from one that was found, up to `most`. That one
    /// is still there when the others are looked at, or the claim fails.
    #[inline]
    pub(crate) fn run_from(&self, found: Found, most: u64) -> Run {
        let Found { head, ticket: first } = found;
        let is_other = |&ticket: &Ticket| self.slot(ticket).look() != SlotWord::full(ticket);
        let last = first + most.min(self.longest_run());
        Run { head, first, end: (first + 1..last).find(is_other).unwrap_or(last) }
    }

    /// Claims a run, unless somebody else was faster, and hands out its items. Tells `on_room` how
    /// many tickets the head passed, when all slots are free again.
    ///
    /// `put` must neither panic nor take long: until it returns the last time, slots are held.
    #[inline]
    pub(crate) fn claim_run(
        &self,
        run: &Run,
        mut put: impl FnMut(T),
        mut on_room: impl FnMut(u64),
    ) -> bool {
        let slots = self.slots();
        if !self.move_head(run.head, run.end) {
            return false;
        }
        for ticket in run.first..run.end {
            // SAFETY: the head was won from all of these tickets, and the slots were found full
            // for them, which only their claimer changes.
            put(unsafe { slots.at(ticket).take(ticket, slots.count()) });
        }
        if run.first != run.head {
            self.dead.were_passed(run.first - run.head);
        }
        on_room(run.end - run.head);
        true
    }
}

/// Publishes items in the order of the tickets. Where a ticket was voided, its item takes the
/// next one of the claim: so the items stay in order, and every ticket claimed is used (R9).
fn publish_run<T>(slots: Slots<'_, T>, tickets: Range<Ticket>, items: &mut VecDeque<T>) -> usize {
    let Some(first) = items.pop_front() else { return 0 };
    // In hand and no more in `items`: once it is published it is the ring's, and must not even be
    // moved to be forgotten.
    let mut item = ManuallyDrop::new(first);
    let mut published = 0;
    for ticket in tickets {
        // SAFETY: R2: the ticket was claimed, and the item is left alone if it is in.
        match unsafe { slots.at(ticket).publish(ticket, &item, slots.count()) } {
            Published::Yes => published += 1,
            Published::Voided if Fault::LeaveClaim.planted() => break,
            Published::Voided if Fault::PublishPastVoided.planted() => {
                items.push_back(ManuallyDrop::into_inner(item));
            }
            Published::Voided => continue,
        }
        match items.pop_front() {
            Some(next) => item = ManuallyDrop::new(next),
            None => return published,
        }
    }
    // It was taken from there, so there is a place for it.
    items.push_front(ManuallyDrop::into_inner(item));
    published
}
