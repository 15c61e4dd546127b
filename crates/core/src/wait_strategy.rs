//! What a blocked thread does before it parks, or instead.

use std::time::Duration;

use crate::deadline::Deadline;
use crate::sync::{sleep, spin_hint, yield_now};

/// What a blocking call does while it has to wait. Set for all bands of a channel, and both sides or
/// one, by [`Builder::wait`](crate::Builder::wait); futures are not affected and are always woken.
///
/// It changes when a call returns, not what it returns: items, closing, releases and deadlines mean
/// the same. Only threads that are parked have a place in the order of waiting: those who spin or poll
/// take an item or room when they happen to look.
///
/// `DESIGN.md` of this crate has the measurements behind the default, [`Adaptive`](Self::Adaptive).
///
/// ```
/// use overtake_core::{Builder, WaitStrategy};
/// use std::time::Duration;
///
/// // Senders on real-time threads never wake anybody; an item may wait a tenth of a millisecond.
/// let strategy = WaitStrategy::Poll(Duration::from_micros(100));
/// let (tx, rx) = Builder::new().bands(&[8, 64]).wait(strategy).build()?;
/// let worker = std::thread::spawn(move || rx.recv());
/// tx.try_send(0, "now").unwrap();
/// assert_eq!(worker.join().unwrap(), Ok("now"));
/// # Ok::<(), overtake_core::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitStrategy {
    /// Sleeps nearly at once, and first gives its time to others where that helps more than it
    /// harms.
    ///
    /// A receiver does so once where waits have been short of late, and as often as there are senders to
    /// a processor, up to eight times. A sender does so once while the receivers that are at work leave a processor free;
    /// otherwise it would take one from them, and urgent items would wait for it.
    #[default]
    Adaptive,
    /// Sleeps at once, until it is woken: the shortest tail where threads outnumber processors.
    Park,
    /// Looks `spins` times after a pause of the processor each, then `yields` times after giving the
    /// rest of its time slice to others each, and then sleeps as [`Park`](Self::Park) does. Both may be
    /// 0.
    ///
    /// Yielding lets the other side build up a batch: more throughput, and a longer tail.
    SpinThenPark {
        /// How many looks after `std::hint::spin_loop`.
        spins: u32,
        /// How many looks after `std::thread::yield_now`.
        yields: u32,
    },
    /// Looks again and again and never sleeps. Takes a whole processor for each one who waits, and
    /// spares those on the other side every wake. Not for more waiting threads than processors: the one
    /// waited for may be kept from running.
    Spin,
    /// Sleeps for so long between two looks, and not beyond a deadline. No thread is ever woken, so the
    /// other side makes no system call even while one waits; an item, room, a close or a release may be
    /// noticed that much later. The operating system may add to the time; of zero it makes looks as
    /// fast as it can.
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
    /// `helpful_yields` says how often to yield where the strategy leaves that open.
    #[inline]
    pub(crate) fn pause(
        self,
        look: u32,
        deadline: Deadline,
        helpful_yields: impl Fn() -> u32,
    ) -> Pause {
        match self {
            Self::Adaptive if look < helpful_yields() => yield_now(),
            Self::Adaptive | Self::Park => return Pause::Park,
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
            .take_while(|&look| strategy.pause(look, Deadline::Never, || 3) == Pause::LookAgain);
        assert_eq!(looks.count(), 5);
        assert_eq!(WaitStrategy::Park.pause(0, Deadline::Never, || 3), Pause::Park);
        assert_eq!(WaitStrategy::Spin.pause(u32::MAX, Deadline::Never, || 3), Pause::LookAgain);
    }

    #[test]
    fn adaptive_yields_as_often_as_it_helps() {
        let looks = |helpful: u32| {
            let again = |look: &u32| {
                WaitStrategy::Adaptive.pause(*look, Deadline::Never, || helpful) == Pause::LookAgain
            };
            (0..).take_while(again).count()
        };
        assert_eq!((looks(3), looks(0)), (3, 0));
    }

    #[test]
    fn a_poll_ends_with_the_deadline() {
        let strategy = WaitStrategy::Poll(Duration::MAX);
        assert_eq!(strategy.pause(0, Deadline::after(Duration::ZERO), || 3), Pause::LookAgain);
    }
}
