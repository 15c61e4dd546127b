//! The packed words of a ring, and the arithmetic on them. No atomics here.

use std::fmt;

/// A position in a band, counted from the making of the channel. Never repeats.
pub(crate) type Ticket = u64;

/// What a slot is for, beside its ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Writable for the ticket, or claimed for it and not yet published.
    Empty,
    /// Holds the ticket's item, or the item is being read by who claimed it.
    Full,
    /// Held by exactly one late thread; the ticket and all before it in this slot are dead.
    Void,
}

/// A slot's word: bits 63..2 the ticket, bits 1..0 the phase.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotWord(u64);

impl SlotWord {
    const PHASE_BITS: u32 = 2;
    const PHASE: u64 = (1 << Self::PHASE_BITS) - 1;

    const fn new(ticket: Ticket, phase: Phase) -> Self {
        let phase = match phase {
            Phase::Empty => 0,
            Phase::Full => 1,
            Phase::Void => 2,
        };
        Self(ticket << Self::PHASE_BITS | phase)
    }

    pub(super) const fn empty(ticket: Ticket) -> Self {
        Self::new(ticket, Phase::Empty)
    }

    pub(super) const fn full(ticket: Ticket) -> Self {
        Self::new(ticket, Phase::Full)
    }

    pub(super) const fn void(ticket: Ticket) -> Self {
        Self::new(ticket, Phase::Void)
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(super) const fn ticket(self) -> Ticket {
        self.0 >> Self::PHASE_BITS
    }

    pub(super) const fn phase(self) -> Phase {
        match self.0 & Self::PHASE {
            0 => Phase::Empty,
            1 => Phase::Full,
            _ => Phase::Void,
        }
    }

    /// Whether nobody will ever publish `ticket` in this slot: it was voided, or the late owner
    /// has freed the slot for a later lap already.
    pub(super) const fn is_dead_for(self, ticket: Ticket) -> bool {
        match self.phase() {
            Phase::Void => self.ticket() >= ticket,
            Phase::Empty | Phase::Full => self.ticket() > ticket,
        }
    }
}

impl fmt::Debug for SlotWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({})", self.phase(), self.ticket())
    }
}

/// A tail's word: bit 63 the seal, bits 62..0 the next ticket.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TailWord(u64);

impl TailWord {
    pub(super) const SEALED: u64 = 1 << 63;

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(super) const fn ticket(self) -> Ticket {
        self.0 & !Self::SEALED
    }

    /// Whether no further ticket is given out.
    pub(super) const fn is_sealed(self) -> bool {
        self.0 & Self::SEALED != 0
    }

    /// The word after so many tickets were given out.
    pub(super) const fn after(self, tickets: u64) -> Self {
        Self(self.0 + tickets)
    }
}

impl fmt::Debug for TailWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seal = if self.is_sealed() { ", sealed" } else { "" };
        write!(f, "Tail({}{seal})", self.ticket())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_what_it_was_made_of() {
        for ticket in [0, 1, 7, u64::from(u32::MAX) + 1, (1 << 62) - 1] {
            for (word, phase) in [
                (SlotWord::empty(ticket), Phase::Empty),
                (SlotWord::full(ticket), Phase::Full),
                (SlotWord::void(ticket), Phase::Void),
            ] {
                assert_eq!((word.ticket(), word.phase()), (ticket, phase));
                assert_eq!(SlotWord::from_bits(word.bits()), word);
                assert_eq!(format!("{word:?}"), format!("{phase:?}({ticket})"));
            }
        }
    }

    #[test]
    fn a_ticket_is_dead_once_voided_or_passed() {
        let slots = 4;
        let table = [
            (SlotWord::empty(5), false),
            (SlotWord::full(5), false),
            (SlotWord::void(5), true),
            (SlotWord::void(5 - slots), false),
            (SlotWord::empty(5 + slots), true),
            (SlotWord::full(5 + slots), true),
            (SlotWord::full(5 - slots), false),
        ];
        for (word, dead) in table {
            assert_eq!(word.is_dead_for(5), dead, "{word:?}");
        }
    }

    #[test]
    fn a_seal_leaves_the_ticket() {
        let tail = TailWord::from_bits(9 | TailWord::SEALED);
        assert!(tail.is_sealed() && !TailWord::from_bits(9).is_sealed());
        assert_eq!(tail.ticket(), 9);
        assert_eq!(format!("{tail:?}"), "Tail(9, sealed)");
        assert_eq!(TailWord::from_bits(9).after(2), TailWord::from_bits(11));
    }
}
