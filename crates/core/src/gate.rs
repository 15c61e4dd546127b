//! The gate every send passes: what makes closing lose nothing.
//!
//! A closed flag alone is not enough: a sender may have read "open" and push after a receiver has
//! read "closed" and found nothing. So the gate counts the sends inside, and the channel is
//! *sealed* only when it is closed and the count is zero (invariant C1).

use std::fmt;

use crate::sync::{AtomicU64, Ordering};

/// A gate's word: bit 0 is the closed mark, the bits above count the sends inside.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State(u64);

impl State {
    const CLOSED: u64 = 1;
    const ONE_SEND: u64 = 2;

    const fn is_closed(self) -> bool {
        self.0 & Self::CLOSED != 0
    }

    const fn sends(self) -> u64 {
        self.0 / Self::ONE_SEND
    }

    const fn is_sealed(self) -> bool {
        self.is_closed() && self.sends() == 0
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let door = if self.is_closed() { "closed" } else { "open" };
        write!(f, "{door}, {} sends inside", self.sends())
    }
}

/// Lets sends in until it is closed, and knows when the last of them has left.
pub(crate) struct Gate {
    state: AtomicU64,
}

/// What a send that leaves has to do.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nothing: others are inside, or the gate is open.
    Quietly,
    /// It was the last one through a closed gate: whoever waits for the seal must be told.
    Sealing,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { state: AtomicU64::new(0) }
    }

    /// Goes in, unless the gate is closed; says whether it did. Who got in must
    /// [`leave`](Self::leave). Nobody goes in after closing, not even to turn round: a seal once
    /// seen stays.
    #[must_use]
    pub(crate) fn enter(&self) -> bool {
        // A guess, which is right when nobody else is inside: then no load is needed.
        let mut seen = State(0);
        while !seen.is_closed() {
            let entered = seen.0 + State::ONE_SEND;
            // ORDERING: E1, pairs with `close` and `look`: one total order of entering and closing.
            match self.state.compare_exchange_weak(
                seen.0,
                entered,
                Ordering::SeqCst,
                Ordering::SeqCst,
            ) {
                Ok(_) => return true,
                Err(now) => seen = State(now),
            }
        }
        false
    }

    /// Goes out. What was pushed inside is seen by whoever sees the seal.
    pub(crate) fn leave(&self) -> Left {
        // ORDERING: E1, releases the push to the reader of the seal.
        let before = State(self.state.fetch_sub(State::ONE_SEND, Ordering::SeqCst));
        debug_assert!(before.sends() > 0, "left without having entered: {before:?}");
        if before.is_closed() && before.sends() == 1 { Left::Sealing } else { Left::Quietly }
    }

    /// Closes; says whether this call did it.
    pub(crate) fn close(&self) -> bool {
        // ORDERING: E1.
        !State(self.state.fetch_or(State::CLOSED, Ordering::SeqCst)).is_closed()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.look().is_closed()
    }

    /// Whether nothing can be pushed any more, by anybody.
    pub(crate) fn is_sealed(&self) -> bool {
        self.look().is_sealed()
    }

    fn look(&self) -> State {
        // ORDERING: E1, acquires the pushes of the sends that left.
        State(self.state.load(Ordering::SeqCst))
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gate({:?})", self.look())
    }
}

#[cfg(all(test, not(overtake_loom)))]
mod tests {
    use super::*;

    #[test]
    fn sealed_only_when_closed_and_empty() {
        let gate = Gate::new();
        assert!(gate.enter());
        assert!(gate.close() && !gate.close());
        assert!(gate.is_closed() && !gate.is_sealed());
        assert!(!gate.enter());
        assert_eq!(format!("{gate:?}"), "Gate(closed, 1 sends inside)");
        assert_eq!(gate.leave(), Left::Sealing);
        assert!(gate.is_sealed());
        assert!(!gate.enter() && gate.is_sealed());
    }

    #[test]
    fn leaving_an_open_gate_is_quiet() {
        let gate = Gate::new();
        assert!(gate.enter());
        assert_eq!(gate.leave(), Left::Quietly);
        assert_eq!(format!("{gate:?}"), "Gate(open, 0 sends inside)");
    }
}
