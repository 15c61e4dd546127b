//! One band's buffer: a bounded FIFO ring that is lock-free in the textbook sense.
//!
//! A ring whose slots carry sequence numbers waits for whoever has claimed a slot and not yet filled
//! or emptied it. This one makes the ticket of such a thread *void* and goes on; the thread finds
//! out, and takes a new one. Looking and taking are two steps, so that the sweep can look at several
//! bands before it takes from one.
//!
//! The protocol, its invariants (R1 to R8) and what it costs are in `DESIGN.md`.

mod push;
mod run;
mod slot;
mod word;

use std::fmt;
use std::mem;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::fault::Fault;
use crate::sync::{CachePadded, HANDLE_ORDER, HandleWord, Ordering, Word, panicking};
pub(crate) use push::PushError;
pub(crate) use run::Run;
use slot::Slot;
pub(crate) use word::TailWord;
use word::{Phase, SlotWord, Ticket};

/// A bounded FIFO ring of a fixed capacity of at least one.
pub(crate) struct BandRing<T> {
    tail: CachePadded<TailLine>,
    head: CachePadded<Word>,
    /// One more than the highest ticket that a sender skipped: only then can dead tickets lie
    /// anywhere but at the head. Written on a skip only.
    skipped_to: CachePadded<Word>,
    dead: CachePadded<DeadCounts>,
    slots: Box<[Slot<T>]>,
    capacity: u64,
}

/// How many tickets nobody will ever publish. Counted where that is decided, so a moment later than
/// the slots show it, and for those who look at sizes only.
#[derive(Default)]
struct DeadCounts {
    died: HandleWord,
    /// Of them, those that the head has passed.
    passed: HandleWord,
}

impl DeadCounts {
    #[cold]
    fn one_died(&self) {
        self.died.fetch_add(1, HANDLE_ORDER);
    }

    #[cold]
    fn were_passed(&self, tickets: u64) {
        self.passed.fetch_add(tickets, HANDLE_ORDER);
    }

    /// All that died, and those of them that the head has passed.
    fn read(&self) -> (u64, u64) {
        let passed = self.passed.load(HANDLE_ORDER);
        (self.died.load(HANDLE_ORDER).max(passed), passed)
    }
}

/// What went through a ring so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) voided: u64,
}

/// Where the slots are. Whoever has a copy need not read that again after a claim.
struct Slots<'a, T>(&'a [Slot<T>]);

impl<T> Clone for Slots<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slots<'_, T> {}

impl<'a, T> Slots<'a, T> {
    #[inline]
    fn count(self) -> u64 {
        self.0.len() as u64
    }

    #[inline]
    fn at(self, ticket: Ticket) -> &'a Slot<T> {
        let mask = self.0.len() - 1;
        &self.0[ticket as usize & mask]
    }
}

/// What senders touch.
struct TailLine {
    tail: Word,
    /// A head seen before. Stale is safe: the band then seems fuller than it is, and is looked
    /// at again before anybody is told `Full`.
    cached_head: Word,
}

/// A capacity for which no ring can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingError {
    /// Nothing could ever be sent.
    Zero,
    /// The memory cannot be addressed or was not granted.
    TooLarge,
}

/// What a look at a band has found.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// An item that can be claimed.
    Item(Found),
    /// Nothing, with the evidence.
    Nothing(Evidence),
}

/// An item at `ticket`; the tickets from `head` up to it are dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    head: Ticket,
    ticket: Ticket,
}

/// Why a band was empty at the time of the look. Checked again, it says whether it still is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// No ticket is given out that was not taken: the tail's word.
    Quiet(TailWord),
    /// Tickets are given out, none is published: the head.
    Scan(Ticket),
}

impl Evidence {
    /// Evidence of nothing, to fill a list with.
    pub(crate) const NONE: Self = Self::Scan(0);

    /// Whether the band will be empty for ever (K4).
    pub(crate) fn is_final(self) -> bool {
        matches!(self, Self::Quiet(tail) if tail.is_sealed())
    }
}

impl<T> BandRing<T> {
    pub(crate) fn new(capacity: usize) -> Result<Self, RingError> {
        if capacity == 0 {
            return Err(RingError::Zero);
        }
        // Twice the capacity, so that a sender is never right behind the reader of its slot, and
        // a power of two, so that a slot is found by a mask.
        let slots = capacity.checked_mul(2).and_then(usize::checked_next_power_of_two);
        let slots = slots.ok_or(RingError::TooLarge)?;
        slots.checked_mul(mem::size_of::<Slot<T>>()).ok_or(RingError::TooLarge)?;
        let mut all = Vec::new();
        all.try_reserve_exact(slots).map_err(|_| RingError::TooLarge)?;
        all.extend((0..slots as u64).map(Slot::new));
        Ok(Self {
            tail: CachePadded::new(TailLine { tail: Word::new(0), cached_head: Word::new(0) }),
            head: CachePadded::new(Word::new(0)),
            skipped_to: CachePadded::new(Word::new(0)),
            dead: CachePadded::new(DeadCounts::default()),
            slots: all.into_boxed_slice(),
            capacity: capacity as u64,
        })
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    #[inline]
    fn slots(&self) -> Slots<'_, T> {
        Slots(&self.slots)
    }

    #[inline]
    fn slot_count(&self) -> u64 {
        self.slots().count()
    }

    #[inline]
    fn slot(&self, ticket: Ticket) -> &Slot<T> {
        self.slots().at(ticket)
    }

    #[inline]
    fn look_at_tail(&self) -> TailWord {
        // ORDERING: E2, in the order of claims and looks.
        TailWord::from_bits(self.tail.tail.load(Ordering::SeqCst))
    }

    #[inline]
    fn look_at_head(&self) -> Ticket {
        // ORDERING: E2.
        self.head.load(Ordering::SeqCst)
    }

    #[inline]
    fn move_tail(&self, from: TailWord, tickets: u64) -> bool {
        // ORDERING: E2: a claim and the look for presence after it are in one order with a
        // clear's mark and the look at the tail after that.
        let to = from.after(tickets).bits();
        let moved =
            self.tail.tail.compare_exchange(from.bits(), to, Ordering::SeqCst, Ordering::Relaxed);
        moved.is_ok()
    }

    #[inline]
    fn move_head(&self, from: Ticket, to: Ticket) -> bool {
        // ORDERING: E2.
        let moved = self.head.compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed);
        debug_assert!(
            from < to && (moved.is_err() || to - from <= self.slot_count()),
            "R6, R8: the head went {from}..{to}"
        );
        moved.is_ok()
    }

    // ---- looking and taking ------------------------------------------------------------------

    /// Looks for the oldest item. Changes nothing that a finished push has put in; makes unpublished
    /// tickets void where something published lies behind them (LF1) or the ring is sealed.
    #[inline]
    pub(crate) fn look(&self, mut on_room: impl FnMut(u64)) -> Look {
        loop {
            let head = self.look_at_head();
            let word = self.slot(head).look();
            if word == SlotWord::full(head) {
                return Look::Item(Found { head, ticket: head });
            }
            let tail = self.look_at_tail();
            if tail.ticket() == head {
                return Look::Nothing(Evidence::Quiet(tail));
            }
            if tail.ticket() > head
                && let Some(look) = self.look_past(head, word, tail, &mut on_room)
            {
                return look;
            }
        }
    }

    /// The oldest item, if it is at the head already: what [`look`](Self::look) would find at once.
    #[inline]
    pub(crate) fn item_at_head(&self) -> Option<Found> {
        let head = self.look_at_head();
        let is_full = self.slot(head).look() == SlotWord::full(head);
        is_full.then_some(Found { head, ticket: head })
    }

    /// Looks where the ticket at the head is given out and not published; `None` to begin again.
    #[cold]
    fn look_past(
        &self,
        head: Ticket,
        word: SlotWord,
        tail: TailWord,
        on_room: &mut impl FnMut(u64),
    ) -> Option<Look> {
        if word.is_dead_for(head) {
            self.pass_one_dead(head, on_room);
            return None;
        }
        if word != SlotWord::empty(head) {
            return None;
        }
        match self.first_published(head + 1, tail) {
            Some(behind) => Some(Look::Item(self.void_up_to(head, behind))),
            None if (tail.is_sealed() && !Fault::TrustUnpublished.planted())
                || Fault::VoidInVain.planted() =>
            {
                // If it is published meanwhile, the next look finds it.
                let _ = self.void(head);
                None
            }
            // LF1: nothing published behind it, and the head did not move: empty, exactly.
            None => (self.look_at_head() == head).then_some(Look::Nothing(Evidence::Scan(head))),
        }
    }

    /// The first ticket from `from` on that is published. Looks at each slot once at most: farther
    /// ahead lies the tail only of a head that has moved meanwhile (R8), which the caller checks.
    fn first_published(&self, from: Ticket, tail: TailWord) -> Option<Ticket> {
        let end = tail.ticket().min(from + self.slot_count());
        (from..end).find(|&ticket| self.slot(ticket).look() == SlotWord::full(ticket))
    }

    /// Makes the unpublished tickets before `behind` void, the oldest first. One that is published
    /// in time is the item instead.
    fn void_up_to(&self, head: Ticket, behind: Ticket) -> Found {
        for ticket in head..behind {
            if let Err(word) = self.void(ticket)
                && word == SlotWord::full(ticket)
            {
                return Found { head, ticket };
            }
        }
        Found { head, ticket: behind }
    }

    /// Makes an unpublished ticket dead. `Err` with the word found if it was not unpublished.
    fn void(&self, ticket: Ticket) -> Result<(), SlotWord> {
        self.slot(ticket).void_unpublished(ticket).inspect(|()| self.dead.one_died())
    }

    /// Moves the head over the dead ticket at it, unless somebody else was faster.
    fn pass_one_dead(&self, head: Ticket, on_room: &mut impl FnMut(u64)) {
        if self.move_head(head, head + 1) {
            self.dead.were_passed(1);
            on_room(1);
        }
    }

    /// Whether the band has been empty ever since the look that gave this evidence.
    #[inline]
    pub(crate) fn still_holds(&self, evidence: Evidence) -> bool {
        match evidence {
            Evidence::Quiet(tail) => self.look_at_tail() == tail,
            Evidence::Scan(head) => {
                let tail = self.look_at_tail();
                self.look_at_head() == head
                    && !tail.is_sealed()
                    && self.first_published(head, tail).is_none()
                    && self.look_at_head() == head
            }
        }
    }

    /// Claims an item that was found, unless somebody else was faster. Tells `on_room` how many
    /// tickets the head passed.
    #[inline]
    pub(crate) fn claim(&self, found: Found, mut on_room: impl FnMut(u64)) -> Option<T> {
        let Found { head, ticket } = found;
        let (slot, slots) = (self.slot(ticket), self.slot_count());
        if !self.move_head(head, ticket + 1) {
            return None;
        }
        // SAFETY: the head was won from this ticket, and the slot was found full for it, which
        // only its claimer changes.
        let item = unsafe { slot.take(ticket, slots) };
        if ticket != head {
            self.dead.were_passed(ticket - head);
        }
        on_room(ticket + 1 - head);
        Some(item)
    }

    // ---- closing -----------------------------------------------------------------------------

    /// Gives no further ticket out; says whether this call did it.
    pub(crate) fn seal(&self) -> bool {
        // ORDERING: E4, all seals come before the closed mark.
        let before = self.tail.tail.fetch_or(TailWord::SEALED, Ordering::SeqCst);
        !TailWord::from_bits(before).is_sealed()
    }

    /// Whether no slot is held, with nobody inside any more: every ticket given out was used, and
    /// every slot is free for the next one or has an item.
    fn is_whole(&self) -> bool {
        let (head, tail) = (self.look_at_head(), self.look_at_tail().ticket());
        self.slots.iter().map(Slot::look).all(|word| match word.phase() {
            Phase::Empty => word.ticket() >= tail,
            Phase::Full => (head..tail).contains(&word.ticket()),
            Phase::Void => false,
        })
    }

    // ---- sizes -------------------------------------------------------------------------------

    /// Items inside, counting those that are on their way in.
    pub(crate) fn len(&self) -> usize {
        let Flow { sent, received, .. } = self.flow();
        sent.saturating_sub(received).min(self.capacity) as usize
    }

    /// What went through so far, counting items that are on their way in or out. Exact at rest.
    pub(crate) fn flow(&self) -> Flow {
        let (voided, passed) = self.dead.read();
        let head = self.look_at_head();
        let tail = self.look_at_tail().ticket();
        Flow { sent: tail.saturating_sub(voided), received: head.saturating_sub(passed), voided }
    }

    /// Whether nothing can be taken now.
    pub(crate) fn is_empty(&self) -> bool {
        let mut head = self.look_at_head();
        loop {
            if self.first_published(head, self.look_at_tail()).is_some() {
                return false;
            }
            match self.look_at_head() {
                now if now == head => return true,
                now => head = now,
            }
        }
    }

    /// Whether nothing can be pushed now; helps a dead head on first.
    pub(crate) fn is_full(&self, mut on_room: impl FnMut(u64)) -> bool {
        self.room_now(self.look_at_tail().ticket(), &mut on_room) == 0
    }
}

impl<T> Drop for BandRing<T> {
    fn drop(&mut self) {
        debug_assert!(
            panicking() || self.is_whole(),
            "R5, R7, R9: {self:?} is left with a held slot"
        );
        if mem::needs_drop::<T>() {
            let head = self.look_at_head();
            for slot in &mut self.slots {
                // SAFETY: `&mut self`: nobody else has the ring.
                unsafe { slot.drop_item(head) };
            }
        }
    }
}

// An unwinding thread leaves no item half moved: between a claim and its publish or release no
// user code runs.
impl<T> UnwindSafe for BandRing<T> {}
impl<T> RefUnwindSafe for BandRing<T> {}

impl<T> fmt::Debug for BandRing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, tail) = (self.look_at_head(), self.look_at_tail());
        write!(f, "BandRing({} of {}, head {head}, {tail:?})", self.len(), self.capacity)
    }
}
