//! Cost without contention: one thread sends and receives in turn.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::contenders::Contender;

/// How many parts a run is timed in.
const PARTS: u64 = 20;

/// One item in, the same item out, in the lowest of so many bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Bands; all but the last stay empty.
    pub bands: usize,
    /// Capacity of each band, in items.
    pub capacity: usize,
}

impl Pair {
    /// Does it about so many times, and returns how long that many would have taken at the pace of the
    /// middle one of twenty parts: where the operating system interrupts, it interrupts single parts.
    /// Before, every place is used, so that its memory is there. A design without priority has the
    /// places of one band, as more would only make it miss the cache.
    #[must_use]
    pub fn run<C: Contender>(self, pairs: u64) -> Duration {
        let bands = if C::PRIORITY { self.bands } else { 1 };
        let queue = C::make(&vec![self.capacity; bands]);
        let turn = |item| {
            black_box(queue.try_send(bands - 1, black_box(item)));
            black_box(queue.try_recv());
        };
        (0..2 * self.capacity).for_each(|item| turn(item as u64));
        let in_part = pairs.div_ceil(PARTS);
        let part = |_| {
            let started = Instant::now();
            (0..in_part).for_each(turn);
            started.elapsed()
        };
        let mut parts: Vec<_> = (0..PARTS).map(part).collect();
        parts.sort_unstable();
        parts[parts.len() / 2].mul_f64(pairs as f64 / in_part as f64)
    }
}
