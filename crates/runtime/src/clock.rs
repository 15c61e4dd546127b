//! Time as the runtime sees it: real, or moved by hand.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::lock::lock;

/// A monotonic clock, counted from its making. Clones show the same time.
///
/// All delays and deadlines of the runtime are measured on it, so steps of the wall clock never
/// matter. Wall-clock times appear in dead letters only, for people to read.
#[derive(Clone)]
pub struct Clock {
    source: Source,
}

#[derive(Clone)]
enum Source {
    System { start: Instant },
    Manual(Arc<Manual>),
}

#[derive(Default)]
struct Manual {
    now: Mutex<Duration>,
    on_advance: Mutex<Vec<Listener>>,
}

/// Says whether it still listens.
type Listener = Box<dyn Fn() -> bool + Send + Sync>;

/// Moves a manual [`Clock`].
///
/// ```
/// use std::time::Duration;
/// use overtake_runtime::Clock;
///
/// let (clock, hand) = Clock::manual();
/// hand.advance(Duration::from_secs(3600));
/// assert_eq!(clock.now(), Duration::from_secs(3600));
/// ```
#[derive(Clone)]
pub struct ClockHand {
    manual: Arc<Manual>,
}

impl Clock {
    /// Real time, starting now.
    #[must_use]
    pub fn system() -> Self {
        Self { source: Source::System { start: Instant::now() } }
    }

    /// A clock that stands still until its hand is moved.
    #[must_use]
    pub fn manual() -> (Self, ClockHand) {
        let manual = Arc::<Manual>::default();
        (Self { source: Source::Manual(Arc::clone(&manual)) }, ClockHand { manual })
    }

    /// The time since the clock was made.
    #[must_use]
    pub fn now(&self) -> Duration {
        match &self.source {
            Source::System { start } => start.elapsed(),
            Source::Manual(manual) => *lock(&manual.now),
        }
    }

    /// The wall clock, for people. A manual clock began in 1970.
    #[must_use]
    pub fn wall(&self) -> SystemTime {
        match &self.source {
            Source::System { .. } => SystemTime::now(),
            Source::Manual(_) => UNIX_EPOCH.checked_add(self.now()).unwrap_or(UNIX_EPOCH),
        }
    }

    /// Calls `listener` after every move of a manual clock, for as long as it returns `true`. Real
    /// time needs no telling: whoever waits for it knows how long.
    pub(crate) fn on_advance(&self, listener: impl Fn() -> bool + Send + Sync + 'static) {
        if let Source::Manual(manual) = &self.source {
            lock(&manual.on_advance).push(Box::new(listener));
        }
    }

    /// Waits on `condvar` until it is notified or `until` is reached, whichever is first. On a
    /// manual clock only a notification ends the wait; see [`on_advance`](Self::on_advance).
    pub(crate) fn wait<'a, T>(
        &self,
        condvar: &Condvar,
        guard: MutexGuard<'a, T>,
        until: Option<Duration>,
    ) -> MutexGuard<'a, T> {
        match (&self.source, until) {
            (Source::System { start }, Some(until)) => {
                let left = until.saturating_sub(start.elapsed());
                condvar.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
            }
            _ => condvar.wait(guard).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

impl ClockHand {
    /// Moves the clock on by `by`.
    pub fn advance(&self, by: Duration) {
        {
            let mut now = lock(&self.manual.now);
            *now = now.saturating_add(by);
        }
        self.tell();
    }

    /// Moves the clock on to `time`. A time already past leaves it where it is: the clock is
    /// monotonic.
    pub fn advance_to(&self, time: Duration) {
        {
            let mut now = lock(&self.manual.now);
            *now = time.max(*now);
        }
        self.tell();
    }

    fn tell(&self) {
        lock(&self.manual.on_advance).retain(|listener| listener());
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if matches!(self.source, Source::Manual(_)) { "manual" } else { "system" };
        write!(f, "Clock({kind}, {:?})", self.now())
    }
}

impl fmt::Debug for ClockHand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClockHand({:?})", *lock(&self.manual.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_only_goes_forward() {
        let (clock, hand) = Clock::manual();
        hand.advance_to(Duration::from_secs(10));
        hand.advance_to(Duration::from_secs(4));
        assert_eq!(clock.now(), Duration::from_secs(10));
        hand.advance(Duration::MAX);
        assert_eq!(clock.clone().now(), Duration::MAX);
        assert_eq!(clock.wall(), UNIX_EPOCH, "a time beyond the calendar is shown as its start");
    }
}
