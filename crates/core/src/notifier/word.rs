//! The packed words of a wait set, and the arithmetic on them. No atomics here.

use std::fmt;

use crate::fault::Fault;

/// What a waiter was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Something happened in this band.
    Band(usize),
    /// The channel was closed.
    Closed,
    /// The waiting receivers were released.
    Released,
}

impl Told {
    const CLOSED: u64 = 65;
    const RELEASED: u64 = 66;

    const fn code(told: Option<Self>) -> u64 {
        match told {
            None => 0,
            Some(Self::Band(band)) => band as u64 + 1,
            Some(Self::Closed) => Self::CLOSED,
            Some(Self::Released) => Self::RELEASED,
        }
    }

    const fn from_code(code: u64) -> Option<Self> {
        match code {
            0 => None,
            Self::CLOSED => Some(Self::Closed),
            Self::RELEASED => Some(Self::Released),
            band => Some(Self::Band(band as usize - 1)),
        }
    }
}

/// What the cell is, beside what it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nobody's, or its owner's alone.
    Idle,
    /// Announced.
    Ready,
    /// Left by its owner while it was borrowed.
    Gone,
}

/// A cell's state: bits 1..0 the phase, 9..2 what was told, 31..10 the borrowers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct StateWord(u64);

impl StateWord {
    const PHASE: u64 = 0b11;
    const TOLD_SHIFT: u32 = 2;
    const TOLD: u64 = 0xff << Self::TOLD_SHIFT;
    const BORROWERS_SHIFT: u32 = 10;
    /// One borrower, to be added and subtracted.
    pub(super) const BORROWER: u64 = 1 << Self::BORROWERS_SHIFT;

    pub(super) const IDLE: Self = Self::new(Phase::Idle, None, 0);
    /// Announced, not told, not borrowed.
    pub(super) const UNTOLD: Self = Self::new(Phase::Ready, None, 0);

    const fn new(phase: Phase, told: Option<Told>, borrowers: u64) -> Self {
        let phase = match phase {
            Phase::Idle => 0,
            Phase::Ready => 1,
            Phase::Gone => 2,
        };
        Self(borrowers << Self::BORROWERS_SHIFT | Told::code(told) << Self::TOLD_SHIFT | phase)
    }

    /// As the one who tells leaves it: told, with one borrower.
    pub(super) const fn told_by_one(told: Told) -> Self {
        Self::new(Phase::Ready, Some(told), 1)
    }

    /// With one borrower more.
    pub(super) const fn borrowed_once_more(self) -> Self {
        Self(self.0 + Self::BORROWER)
    }

    /// As its owner leaves it: idle if it is alone, otherwise to the borrowers.
    pub(super) const fn left(self) -> Self {
        if self.borrowers() == 0 {
            Self::IDLE
        } else {
            Self::new(Phase::Gone, self.told(), self.borrowers())
        }
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(super) const fn phase(self) -> Phase {
        match self.0 & Self::PHASE {
            0 => Phase::Idle,
            1 => Phase::Ready,
            _ => Phase::Gone,
        }
    }

    pub(super) const fn told(self) -> Option<Told> {
        Told::from_code((self.0 & Self::TOLD) >> Self::TOLD_SHIFT)
    }

    pub(super) const fn borrowers(self) -> u64 {
        self.0 >> Self::BORROWERS_SHIFT
    }

    /// Announced, told and on its way: one who may be woken once more.
    pub(super) fn can_be_helped(self) -> bool {
        /// Beyond so many, so many threads would have to be stopped inside one wake.
        const MOST: u64 = 8;
        self.phase() == Phase::Ready && self.told().is_some() && self.borrowers() < MOST
    }
}

impl fmt::Debug for StateWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, told {:?}, {} borrowers", self.phase(), self.told(), self.borrowers())
    }
}

/// The number of an announcement. Wraps, and serves order only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(pub(super) u32);

impl Stamp {
    /// How many announcements ago, seen from `now`; none for one that was made after it.
    pub(super) fn age(self, now: Self) -> u32 {
        let age = now.0.wrapping_sub(self.0);
        if age > u32::MAX / 2 && !Fault::YoungestIsOldest.planted() { 0 } else { age }
    }
}

/// A wait set's line: bits 63..32 the number of the next announcement, 31..0 how many are
/// announced, at least.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct LineWord(u64);

impl LineWord {
    /// One announcement, to be added: its number and its count.
    pub(super) const ANNOUNCEMENT: u64 = 1 << 32 | 1;

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn next_stamp(self) -> Stamp {
        Stamp((self.0 >> 32) as u32)
    }

    pub(super) const fn live(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Debug for LineWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} announced, next is {}", self.live(), self.next_stamp().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_what_it_was_made_of() {
        let all_told = [
            None,
            Some(Told::Band(0)),
            Some(Told::Band(63)),
            Some(Told::Closed),
            Some(Told::Released),
        ];
        for told in all_told {
            for phase in [Phase::Idle, Phase::Ready, Phase::Gone] {
                for borrowers in [0, 1, 7, (1 << 22) - 1] {
                    let state = StateWord::new(phase, told, borrowers);
                    assert_eq!(
                        (state.phase(), state.told(), state.borrowers()),
                        (phase, told, borrowers)
                    );
                    assert_eq!(StateWord::from_bits(state.bits()), state);
                }
            }
        }
    }

    #[test]
    fn an_owner_leaves_the_cell_to_its_borrowers() {
        let told = StateWord::told_by_one(Told::Band(3));
        assert_eq!(told.left(), StateWord::new(Phase::Gone, Some(Told::Band(3)), 1));
        assert_eq!(StateWord::UNTOLD.left(), StateWord::IDLE);
        assert!(told.can_be_helped() && !StateWord::UNTOLD.can_be_helped());
        assert!(!told.left().can_be_helped());
    }

    #[test]
    fn ages_are_right_across_a_wrap() {
        let (old, new, now) = (Stamp(u32::MAX - 1), Stamp(1), Stamp(2));
        assert!(old.age(now) > new.age(now));
        assert_eq!(Stamp(4).age(now), 0, "made meanwhile, so it is the youngest");
        let last = u64::from(u32::MAX) << 32 | 7;
        let line = LineWord::from_bits(last.wrapping_add(LineWord::ANNOUNCEMENT));
        assert_eq!((line.next_stamp(), line.live()), (Stamp(0), 8));
    }
}
