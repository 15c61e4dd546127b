//! What a blocked thread does before it parks, or instead.

use std::time::Duration;

use crate::deadline::Deadline;
use crate::sync::{sleep, spin_hint, yield_now};

/// What a blocking call does while it has to wait. Set for a whole channel by
/// [`Builder::wait`](crate::Builder::wait); futures are not affected.
///
/// The default, [`Park`](Self::Park), has the lowest latency under load on few cores: a thread that
/// waits leaves its processor to those who work at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitStrategy {
    /// Sleeps at once, until it is woken.
    #[default]
    Park,
    /// Looks `spins` times with a pause of the processor in between, then `yields` times with its
    /// time given to others, and then sleeps.
    ///
    /// Yielding lets the other side build up a batch: more throughput, and a longer tail.
    SpinThenPark {
        /// Looks with a pause in between.
        spins: u32,
        /// Looks with the rest of the time slice given to others in between.
        yields: u32,
    },
    /// Looks again and again and never sleeps. Takes a whole processor for each one who waits, and
    /// spares those on the other side every wake.
    Spin,
    /// Sleeps for so long between two looks. Nobody is ever woken, so the other side makes no system
    /// call even while one waits; a receive may come that much later.
    Poll(Duration),
}

/// What to do after a look that found nothing.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Time has passed: look again.
    LookAgain,
    /// Enough looked: sleep until woken.
    Park,
}

impl WaitStrategy {
    /// Lets time pass after the look of this number, counted from 0, but not beyond the deadline.
    #[inline]
    pub(crate) fn pause(self, look: u32, deadline: Deadline) -> Pause {
        match self {
            Self::Park => return Pause::Park,
            Self::SpinThenPark { spins, .. } if look < spins => spin_hint(),
            Self::SpinThenPark { spins, yields } if look - spins < yields => yield_now(),
            Self::SpinThenPark { .. } => return Pause::Park,
            Self::Spin => spin_hint(),
            Self::Poll(time) => {
                sleep(deadline.remaining().map_or(time, |rest| rest.min(time)));
            }
        }
        Pause::LookAgain
    }
}

#[cfg(all(test, not(any(overtake_loom, overtake_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn spins_and_yields_are_bounded() {
        let strategy = WaitStrategy::SpinThenPark { spins: 3, yields: 2 };
        let looks =
            (0..).take_while(|&look| strategy.pause(look, Deadline::Never) == Pause::LookAgain);
        assert_eq!(looks.count(), 5);
        assert_eq!(WaitStrategy::Park.pause(0, Deadline::Never), Pause::Park);
        assert_eq!(WaitStrategy::Spin.pause(u32::MAX, Deadline::Never), Pause::LookAgain);
    }

    #[test]
    fn a_poll_ends_with_the_deadline() {
        let strategy = WaitStrategy::Poll(Duration::MAX);
        assert_eq!(strategy.pause(0, Deadline::after(Duration::ZERO)), Pause::LookAgain);
    }
}
