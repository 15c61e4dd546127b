//! What receivers cost while nothing comes.

use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::threads::join;
use crate::contenders::Contender;

/// Receivers that wait for an item that does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Threads that receive.
    pub receivers: usize,
    /// Bands.
    pub bands: usize,
}

impl Idle {
    /// Leaves them alone for so long, and returns how much processor time this process used meanwhile:
    /// theirs, and the little of the thread that measures, which sleeps.
    ///
    /// # Panics
    ///
    /// If a receiver gets an item: none was sent.
    #[must_use]
    pub fn run<C: Contender>(self, length: Duration) -> Duration {
        let queue = C::make(&vec![16; self.bands]);
        thread::scope(|scope| {
            let receivers: Vec<_> =
                (0..self.receivers).map(|_| scope.spawn(|| queue.recv())).collect();
            // They go to sleep meanwhile; one that has not would be seen in the figure.
            thread::sleep(length / 4);
            let before = processor_time();
            thread::sleep(length);
            let used = processor_time().saturating_sub(before);
            queue.close();
            receivers.into_iter().for_each(|receiver| assert_eq!(join(receiver), None));
            used
        })
    }
}

/// What all threads of this process have used so far.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
