//! Latency to a receiver that sleeps.

use std::thread;
use std::time::{Duration, Instant};

use super::Latencies;
use super::threads::join;
use crate::contenders::{Contender, Item};

/// The first items are not measured.
const WARM_UP: usize = 10;

/// One item at a time to one receiver, which has had time to go to sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Bands; the item goes to the last.
    pub bands: usize,
    /// How long the receiver is left alone before each item.
    pub pause: Duration,
}

impl Wake {
    /// Sends so many items, and returns how long each took from the beginning of the send to the
    /// end of the receive.
    #[must_use]
    pub fn run<C: Contender>(self, items: usize) -> Latencies {
        let queue = C::make(&vec![16; self.bands]);
        let started = Instant::now();
        let now = || started.elapsed().as_nanos() as Item;
        let latencies = thread::scope(|scope| {
            let receiver = scope.spawn(|| {
                let mut latencies = Vec::with_capacity(WARM_UP + items);
                while let Some((_, sent_at)) = queue.recv() {
                    latencies.push(now().saturating_sub(sent_at));
                }
                latencies
            });
            for _ in 0..WARM_UP + items {
                thread::sleep(self.pause);
                queue.send(self.bands - 1, now());
            }
            queue.close();
            join(receiver)
        });
        Latencies::new(latencies[WARM_UP..].to_vec())
    }
}
