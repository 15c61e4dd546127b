//! Latency of urgent items while bulk items saturate the queue.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use super::Latencies;
use super::threads::{Start, Window, join};
use crate::contenders::{Contender, Item};

/// A bulk sender looks at the clock once in so many items.
const ITEMS_PER_LOOK: usize = 16;

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
    /// Whether the design can do it.
    #[must_use]
    pub const fn suits<C: Contender>() -> bool {
        C::PRIORITY
    }

    /// Sends urgent items for so long, and returns how long each took to the end of its receive, from
    /// the moment at which it was due. The schedule is pushed back where the operating system
    /// wakes the sender late, and never because a send took long: so what a blocked send delays is
    /// counted, item by item, and what a late alarm delays is not.
    #[must_use]
    pub fn run<C: Contender>(self, length: Duration) -> Latencies {
        let queue = C::make(&vec![self.capacity; self.bands]);
        let start = Start::new(self.bulk_senders + self.receivers + 1, length);
        let latencies = thread::scope(|scope| {
            let (queue, start) = (&queue, &start);
            let bulk: Vec<_> = (0..self.bulk_senders)
                .map(|nth| scope.spawn(move || self.send_bulk(queue, nth, start.wait())))
                .collect();
            let receivers: Vec<_> = (0..self.receivers)
                .map(|_| scope.spawn(move || self.receive(queue, length, start.wait())))
                .collect();
            self.send_urgent(queue, start.wait());
            bulk.into_iter().for_each(join);
            queue.close();
            receivers.into_iter().flat_map(join).collect()
        });
        Latencies::new(latencies)
    }

    fn send_bulk<C: Contender>(self, queue: &C, nth: usize, window: Window) {
        let band = 1 + nth % (self.bands - 1);
        while Instant::now() < window.closes {
            for _ in 0..ITEMS_PER_LOOK {
                queue.send(band, 0);
            }
        }
    }

    /// The items say when they were due, in nanoseconds since the window opened; 0 stands for before.
    fn send_urgent<C: Contender>(self, queue: &C, window: Window) {
        let mut due = Instant::now();
        while due < window.closes {
            due += self.interval;
            let early = due.saturating_duration_since(Instant::now());
            if !early.is_zero() {
                thread::sleep(early);
                due = Instant::now();
            }
            queue.send(0, due.saturating_duration_since(window.opens).as_nanos() as Item);
        }
    }

    fn receive<C: Contender>(self, queue: &C, length: Duration, window: Window) -> Vec<u64> {
        let most = length.as_nanos() / self.interval.as_nanos();
        let mut latencies = Vec::with_capacity(most as usize + 1);
        while let Some((band, due)) = queue.recv() {
            if band == 0 && due > 0 {
                latencies.push((window.opens.elapsed().as_nanos() as u64).saturating_sub(due));
            }
            (0..self.work)
                .fold(1_u64, |sum, round| black_box(sum.wrapping_mul(3) ^ u64::from(round)));
        }
        latencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::MutexMap;

    #[test]
    fn every_urgent_item_is_timed_and_the_flood_ends() {
        let interval = Duration::from_micros(100);
        let flood =
            Flood { bulk_senders: 2, receivers: 2, bands: 3, capacity: 16, interval, work: 10 };
        // How many there are depends on the machine, but a late sender only makes fewer.
        assert!(flood.run::<MutexMap>(Duration::from_millis(20)).count() <= 201);
    }
}
