//! Throughput: items through the queue from and to several threads.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use super::threads::{ITEMS_PER_LOOK, Meter, Start, Window, join};
use crate::contenders::{Contender, Item};

/// How many items at once, where many are sent or received.
const BATCH: usize = 64;

/// How many threads send and receive, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Sending threads.
    pub senders: usize,
    /// Receiving threads.
    pub receivers: usize,
    /// Bands.
    pub bands: usize,
    /// Capacity of each band, in items.
    pub capacity: usize,
    /// Which bands are sent to.
    pub traffic: Traffic,
    /// With which calls.
    pub calls: Calls,
}

/// Which bands are sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Each sender goes round all of them.
    EveryBand,
    /// The lowest alone: the others are looked at in vain.
    LowestBand,
    /// The lowest, and every sixteenth item goes to one of the others in turn.
    MostlyLowest,
}

/// With which calls items are sent and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Blocking calls for one item.
    Single,
    /// Calls for many items, and blocking ones where these do nothing.
    Many,
}

impl Flow {
    /// Whether the design can do it.
    #[must_use]
    pub const fn suits<C: Contender>(self) -> bool {
        self.receivers == 1 || C::MANY_RECEIVERS
    }

    /// Lets items flow for so long, and returns how many a second were received meanwhile.
    ///
    /// # Panics
    ///
    /// If an item is lost or comes twice: numbers and sums of what was sent and received are compared.
    #[must_use]
    pub fn run<C: Contender>(self, length: Duration) -> f64 {
        let queue = C::make(&vec![self.capacity; self.bands]);
        let start = Start::new(self.senders + self.receivers, length);
        let (sent, received) = thread::scope(|scope| {
            let (queue, start) = (&queue, &start);
            let senders: Vec<_> = (0..self.senders)
                .map(|nth| scope.spawn(move || self.send(queue, nth, start)))
                .collect();
            let receivers: Vec<_> = (0..self.receivers)
                .map(|_| scope.spawn(move || self.receive(queue, start)))
                .collect();
            let sent = senders.into_iter().map(join).fold(Total::default(), Total::and);
            queue.close();
            (sent, receivers.into_iter().map(join).fold(Total::default(), Total::and))
        });
        let same = (sent.items, sent.sum) == (received.items, received.sum);
        assert!(same, "{} lost or doubled an item", C::NAME);
        received.measured as f64 / length.as_secs_f64()
    }

    fn send<C: Contender>(self, queue: &C, nth: usize, start: &Start) -> Total {
        let sender = Sending {
            queue,
            bands: BandsInTurn { flow: self, next: nth % self.bands, sent: 0 },
            first: (nth as Item) << 40,
        };
        match self.calls {
            Calls::Single => sender.one_by_one(start.wait()),
            Calls::Many => sender.in_batches(start.wait()),
        }
    }

    fn receive<C: Contender>(self, queue: &C, start: &Start) -> Total {
        let mut meter = Meter::new(start.wait());
        let mut sum: Item = 0;
        let mut taken = Vec::with_capacity(2 * BATCH);
        loop {
            if self.calls == Calls::Many && queue.try_recv_many(&mut taken, BATCH) > 0 {
                meter.count(taken.len() as u64);
                sum = taken.drain(..).fold(sum, Item::wrapping_add);
            } else if let Some((_, item)) = queue.recv() {
                meter.count(1);
                sum = sum.wrapping_add(item);
            } else {
                let (items, measured) = meter.counted();
                return Total { items, sum, measured };
            }
        }
    }
}

/// What threads have sent or received.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    items: u64,
    sum: Item,
    /// Of the items, those that were received while it counted.
    measured: u64,
}

impl Total {
    fn and(self, other: Self) -> Self {
        Self {
            items: self.items + other.items,
            sum: self.sum.wrapping_add(other.sum),
            measured: self.measured + other.measured,
        }
    }
}

/// One thread that sends numbered items.
struct Sending<'a, C> {
    queue: &'a C,
    bands: BandsInTurn,
    first: Item,
}

impl<C: Contender> Sending<'_, C> {
    fn one_by_one(mut self, window: Window) -> Total {
        let mut total = Total::default();
        while Instant::now() < window.closes {
            for _ in 0..ITEMS_PER_LOOK {
                let item = self.first + total.items;
                assert!(self.queue.send(self.bands.next(), item), "nobody closes it yet");
                total.items += 1;
                total.sum = total.sum.wrapping_add(item);
            }
        }
        total
    }

    fn in_batches(mut self, window: Window) -> Total {
        let mut total = Total::default();
        let mut batch = VecDeque::with_capacity(BATCH);
        while Instant::now() < window.closes {
            let first = self.first + total.items;
            batch.extend(first..first + BATCH as Item);
            total.items += BATCH as u64;
            total.sum = batch.iter().fold(total.sum, |sum, &item| sum.wrapping_add(item));
            let band = self.bands.next();
            while let Some(&item) = batch.front() {
                if self.queue.try_send_many(band, &mut batch) == 0 {
                    assert!(self.queue.send(band, item), "nobody closes it yet");
                    batch.pop_front();
                }
            }
        }
        total
    }
}

/// The bands that one sender sends to. Counted on, as a division would cost more than some queues do.
struct BandsInTurn {
    flow: Flow,
    next: usize,
    sent: usize,
}

impl BandsInTurn {
    fn next(&mut self) -> usize {
        let lowest = self.flow.bands - 1;
        self.sent += 1;
        match self.flow.traffic {
            Traffic::EveryBand => self.turn(self.flow.bands),
            Traffic::MostlyLowest if self.sent.is_multiple_of(16) => self.turn(lowest),
            Traffic::LowestBand | Traffic::MostlyLowest => lowest,
        }
    }

    fn turn(&mut self, bands: usize) -> usize {
        let band = self.next;
        self.next = if band + 1 < bands { band + 1 } else { 0 };
        band
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::{Visitor, for_each};

    const FLOW: Flow = Flow {
        senders: 1,
        receivers: 1,
        bands: 3,
        capacity: 4,
        traffic: Traffic::EveryBand,
        calls: Calls::Single,
    };

    #[test]
    fn nothing_is_lost_in_any_flow() {
        struct Flows;
        impl Visitor for Flows {
            fn visit<C: Contender>(&mut self) {
                let flows = [
                    FLOW,
                    Flow { senders: 2, receivers: 2, calls: Calls::Many, ..FLOW },
                    Flow { senders: 3, traffic: Traffic::MostlyLowest, ..FLOW },
                    Flow { receivers: 3, traffic: Traffic::LowestBand, ..FLOW },
                ];
                for flow in flows.into_iter().filter(|flow| flow.suits::<C>()) {
                    assert!(flow.run::<C>(Duration::from_millis(1)) >= 0.0);
                }
            }
        }
        for_each(&mut Flows);
    }

    #[test]
    fn bands_come_in_turn() {
        let first = |traffic, count| {
            let mut bands = BandsInTurn { flow: Flow { traffic, ..FLOW }, next: 1, sent: 0 };
            Vec::from_iter((0..count).map(|_| bands.next()))
        };
        assert_eq!(first(Traffic::EveryBand, 5), [1, 2, 0, 1, 2]);
        assert_eq!(first(Traffic::LowestBand, 3), [2; 3]);
        let mostly = first(Traffic::MostlyLowest, 48);
        assert_eq!((mostly[15], mostly[31], mostly[47]), (1, 0, 1));
        assert_eq!(mostly.into_iter().filter(|&band| band == 2).count(), 45);
    }
}
