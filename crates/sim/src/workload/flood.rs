//! Latency of urgent items while bulk items saturate the queue.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use super::Latencies;
use crate::contenders::{Contender, Item};

/// Bulk senders as fast as they can, urgent items at a fixed rate, receivers with a little work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flood {
    /// Threads that send bulk items, each to a band of its own below the first while there are
    /// enough.
    pub bulk_senders: usize,
    /// Threads that receive.
    pub receivers: usize,
    /// Bands, at least two; urgent items go to the first.
    pub bands: usize,
    /// Capacity of each band, in items.
    pub capacity: usize,
    /// From one urgent item to the next.
    pub interval: Duration,
    /// How many rounds of arithmetic a receiver does for each item.
    pub work: u32,
}

impl Flood {
    /// Sends urgent items for so long, and returns how long each took to the end of its receive: from
    /// the moment at which it was due if the item before it was still being sent then, else from
    /// that at which its sender had woken up. So a send that blocks makes the next items late too, and a
    /// sender that the operating system wakes late makes none.
    #[must_use]
    pub fn run<C: Contender>(self, duration: Duration) -> Latencies {
        let queue = C::make(&vec![self.capacity; self.bands]);
        let started = Instant::now();
        let latencies = thread::scope(|scope| {
            let queue = &queue;
            for nth in 0..self.bulk_senders {
                scope.spawn(move || self.send_bulk(queue, nth));
            }
            let receivers: Vec<_> = (0..self.receivers)
                .map(|_| scope.spawn(move || self.receive(queue, started)))
                .collect();
            self.send_urgent(queue, started, duration);
            queue.close();
            receivers.into_iter().flat_map(|r| r.join().unwrap_or_default()).collect()
        });
        Latencies::new(latencies)
    }

    fn send_bulk<C: Contender>(self, queue: &C, nth: usize) {
        let band = 1 + nth % (self.bands - 1);
        while queue.send(band, 0) {}
    }

    fn send_urgent<C: Contender>(self, queue: &C, started: Instant, duration: Duration) {
        let mut due = started.elapsed();
        let end = due + duration;
        while due < end {
            due += self.interval;
            let mut from = due;
            if let Some(early) = due.checked_sub(started.elapsed()) {
                thread::sleep(early);
                from = started.elapsed();
            }
            if !queue.send(0, from.as_nanos() as Item) {
                break;
            }
        }
    }

    fn receive<C: Contender>(self, queue: &C, started: Instant) -> Vec<u64> {
        let mut latencies = Vec::new();
        while let Some((band, from)) = queue.recv() {
            if band == 0 {
                latencies.push((started.elapsed().as_nanos() as u64).saturating_sub(from));
            }
            (0..self.work)
                .fold(1_u64, |sum, round| black_box(sum.wrapping_mul(3) ^ u64::from(round)));
        }
        latencies
    }
}
