//! What a blocked thread does before it parks, or instead.

use std::time::Duration;

use crate::deadline::Deadline;
use crate::sync::{sleep, spin_hint, yield_now};

/// What a blocking call does while it has to wait. Set for a whole channel, or for one side, by
/// [`Builder::wait`](crate::Builder::wait); futures are not affected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitStrategy {
    /// Sleeps nearly at once, and first gives its time to others where that helps more than it
    /// harms.
    ///
    /// A receiver does so once where waits have been short of late, or there are as many senders as
    /// processors. A sender does so once while the
    /// receivers that are at work leave a processor free; otherwise it would take one from them, and
    /// urgent items would wait for it.
    #[default]
    Adaptive,
    /// Sleeps at once, until it is woken: the shortest tail where threads outnumber processors.
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
    /// call even while one waits; an item, or room, may be found that much later.
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
    /// `yielding_helps` is asked where the strategy leaves that open.
    #[inline]
    pub(crate) fn pause(
        self,
        look: u32,
        deadline: Deadline,
        yielding_helps: impl Fn() -> bool,
    ) -> Pause {
        match self {
            Self::Adaptive if look == 0 && yielding_helps() => yield_now(),
            Self::Adaptive => return Pause::Park,
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
        let looks = (0..)
            .take_while(|&look| strategy.pause(look, Deadline::Never, || true) == Pause::LookAgain);
        assert_eq!(looks.count(), 5);
        assert_eq!(WaitStrategy::Park.pause(0, Deadline::Never, || true), Pause::Park);
        assert_eq!(WaitStrategy::Spin.pause(u32::MAX, Deadline::Never, || true), Pause::LookAgain);
    }

    #[test]
    fn adaptive_yields_once_where_it_helps() {
        let looks = |helps: bool| {
            let again = |look: &u32| {
                WaitStrategy::Adaptive.pause(*look, Deadline::Never, || helps) == Pause::LookAgain
            };
            (0..).take_while(again).count()
        };
        assert_eq!((looks(true), looks(false)), (1, 0));
    }

    #[test]
    fn a_poll_ends_with_the_deadline() {
        let strategy = WaitStrategy::Poll(Duration::MAX);
        assert_eq!(strategy.pause(0, Deadline::after(Duration::ZERO), || true), Pause::LookAgain);
    }
}
