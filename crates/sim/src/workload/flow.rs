//! Throughput: items through the queue from and to several threads.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::contenders::{Contender, Item};

/// How many threads send and receive, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Sending threads.
    pub senders: usize,
    /// Receiving threads.
    pub receivers: usize,
    /// Bands; each sender goes round them.
    pub bands: usize,
    /// Capacity of each band, in items.
    pub capacity: usize,
}

impl Flow {
    /// Sends `items` through in all, with blocking calls, and returns how long that took: from
    /// the moment at which the first thread set off to that at which the last one was through.
    ///
    /// # Panics
    ///
    /// If an item is lost or comes twice: the sums of what was sent and received are compared.
    #[must_use]
    pub fn run<C: Contender>(self, items: u64) -> Duration {
        let queue = C::make(&vec![self.capacity; self.bands]);
        let ready = Barrier::new(self.senders + self.receivers);
        let (sent, received) = thread::scope(|scope| {
            let (queue, ready) = (&queue, &ready);
            let senders: Vec<_> = shares(items, self.senders)
                .map(|share| {
                    scope.spawn(move || timed(ready, || send_all(queue, share, self.bands)))
                })
                .collect();
            let receivers: Vec<_> = (0..self.receivers)
                .map(|_| scope.spawn(move || timed(ready, || receive_all(queue))))
                .collect();
            let sent = senders.into_iter().map(join).reduce(Run::and);
            queue.close();
            (sent, receivers.into_iter().map(join).reduce(Run::and))
        });
        let (Some(sent), Some(received)) = (sent, received) else {
            return Duration::ZERO;
        };
        assert_eq!(sent.sum, received.sum, "{} lost or doubled an item", C::NAME);
        let all = sent.and(received);
        all.ended.duration_since(all.began)
    }
}

/// What one or more threads did, and when. Each looks at the clock itself: with more threads than
/// cores nobody else would see it set off.
#[derive(Clone, Copy, Debug)]
struct Run {
    sum: Item,
    began: Instant,
    ended: Instant,
}

impl Run {
    fn and(self, other: Self) -> Self {
        Self {
            sum: self.sum.wrapping_add(other.sum),
            began: self.began.min(other.began),
            ended: self.ended.max(other.ended),
        }
    }
}

fn timed(ready: &Barrier, body: impl FnOnce() -> Item) -> Run {
    ready.wait();
    let began = Instant::now();
    Run { sum: body(), began, ended: Instant::now() }
}

/// Splits `items` into ranges that differ by one item at most.
fn shares(items: u64, senders: usize) -> impl Iterator<Item = std::ops::Range<u64>> {
    let senders = senders as u64;
    (0..senders).map(move |nth| items * nth / senders..items * (nth + 1) / senders)
}

fn send_all<C: Contender>(queue: &C, items: std::ops::Range<u64>, bands: usize) -> Item {
    let mut sum: Item = 0;
    for item in items {
        assert!(queue.send((item % bands as u64) as usize, item), "nobody closes it yet");
        sum = sum.wrapping_add(item);
    }
    sum
}

fn receive_all<C: Contender>(queue: &C) -> Item {
    std::iter::from_fn(|| queue.recv()).fold(0, |sum, (_, item)| sum.wrapping_add(item))
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::{Visitor, for_each};

    #[test]
    fn nothing_is_lost_in_any_flow() {
        struct Flows;
        impl Visitor for Flows {
            fn visit<C: Contender>(&mut self) {
                for (senders, receivers) in [(1, 1), (2, 2), (3, 1), (1, 3)] {
                    let flow = Flow { senders, receivers, bands: 3, capacity: 4 };
                    assert!(flow.run::<C>(1_000) > Duration::ZERO);
                }
            }
        }
        for_each(&mut Flows);
    }

    #[test]
    fn shares_cover_everything_once() {
        let all: Vec<_> = shares(10, 3).flatten().collect();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
    }
}
