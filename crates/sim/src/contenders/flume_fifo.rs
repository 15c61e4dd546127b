//! No priority, for scale: one bounded `flume` channel.
//!
//! <https://docs.rs/flume/latest/flume/fn.bounded.html>

use flume::{Receiver, Sender, bounded};

use super::support::{LAST, or_pass_on};
use super::{Contender, Item};

/// One channel for all bands.
#[derive(Debug)]
pub struct FlumeFifo {
    sender: Sender<Item>,
    receiver: Receiver<Item>,
}

impl FlumeFifo {
    fn unless_last(&self, item: Item) -> Option<(usize, Item)> {
        or_pass_on(item, |last| _ = self.sender.try_send(last))
    }
}

impl Contender for FlumeFifo {
    const NAME: &'static str = "flume_fifo";
    const DESIGN: &'static str = "one bounded flume channel";
    const PRIORITY: bool = false;
    const STRICT: bool = false;
    const CAPACITY_PER_BAND: bool = false;
    const CLOSES: bool = false;
    const BATCHES: bool = true;

    fn make(capacities: &[usize]) -> Self {
        let (sender, receiver) = bounded(capacities.iter().sum());
        Self { sender, receiver }
    }

    fn try_send(&self, _: usize, item: Item) -> bool {
        self.sender.try_send(item).is_ok()
    }

    fn send(&self, _: usize, item: Item) -> bool {
        self.sender.send(item).is_ok()
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.receiver.try_recv().ok().and_then(|item| self.unless_last(item))
    }

    fn recv(&self) -> Option<(usize, Item)> {
        self.receiver.recv().ok().and_then(|item| self.unless_last(item))
    }

    fn try_recv_many(&self, taken: &mut Vec<Item>, _: usize) -> usize {
        let before = taken.len();
        let items = self.receiver.drain();
        taken.extend(items.filter_map(|item| self.unless_last(item)).map(|(_, item)| item));
        taken.len() - before
    }

    fn close(&self) {
        self.send(0, LAST);
    }
}
