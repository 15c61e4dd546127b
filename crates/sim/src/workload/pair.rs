//! Cost without contention: one thread sends and receives in turn.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::contenders::Contender;

/// One item in, the same item out, in the lowest of so many bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Bands; all but the last stay empty.
    pub bands: usize,
    /// Capacity of each band, in items.
    pub capacity: usize,
}

impl Pair {
    /// Does it so many times, and returns how long that took.
    #[must_use]
    pub fn run<C: Contender>(self, pairs: u64) -> Duration {
        let queue = C::make(&vec![self.capacity; self.bands]);
        let started = Instant::now();
        for item in 0..pairs {
            black_box(queue.try_send(self.bands - 1, black_box(item)));
            black_box(queue.try_recv());
        }
        started.elapsed()
    }
}
