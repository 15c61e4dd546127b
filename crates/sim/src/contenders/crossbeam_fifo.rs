//! No priority, for scale: one bounded `crossbeam-channel`.
//!
//! <https://docs.rs/crossbeam-channel/latest/crossbeam_channel/fn.bounded.html>

use crossbeam_channel::{Receiver, Sender, bounded};

use super::support::{LAST, or_pass_on};
use super::{Contender, Item};

/// One channel for all bands.
#[derive(Debug)]
pub struct CrossbeamFifo {
    sender: Sender<Item>,
    receiver: Receiver<Item>,
}

impl CrossbeamFifo {
    fn unless_last(&self, item: Item) -> Option<(usize, Item)> {
        or_pass_on(item, |last| _ = self.sender.try_send(last))
    }
}

impl Contender for CrossbeamFifo {
    const NAME: &'static str = "crossbeam_fifo";
    const DESIGN: &'static str = "one bounded crossbeam-channel";
    const PRIORITY: bool = false;
    const STRICT: bool = false;
    const CAPACITY_PER_BAND: bool = false;
    const CLOSES: bool = false;

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

    fn close(&self) {
        self.send(0, LAST);
    }
}
