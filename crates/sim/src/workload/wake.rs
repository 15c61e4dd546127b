//! Latency to a receiver that sleeps.

use std::thread;
use std::time::{Duration, Instant};

use super::Latencies;
use crate::contenders::{Contender, Item};

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
                let latency = |(_, sent_at): (usize, Item)| now().saturating_sub(sent_at);
                std::iter::from_fn(|| queue.recv().map(latency)).collect::<Vec<_>>()
            });
            for _ in 0..items {
                thread::sleep(self.pause);
                queue.send(self.bands - 1, now());
            }
            queue.close();
            receiver.join().unwrap_or_default()
        });
        Latencies::new(latencies)
    }
}
