//! No priority, for scale: one bounded `kanal` channel.
//!
//! <https://docs.rs/kanal/latest/kanal/fn.bounded.html>

use kanal::{Receiver, Sender, bounded};

use super::support::{LAST, or_pass_on};
use super::{Contender, Item};

/// One channel for all bands. Its own `close` throws away what is inside, so that it is not used.
#[derive(Debug)]
pub struct KanalFifo {
    sender: Sender<Item>,
    receiver: Receiver<Item>,
}

impl KanalFifo {
    fn unless_last(&self, item: Item) -> Option<(usize, Item)> {
        or_pass_on(item, |last| _ = self.sender.try_send(last))
    }
}

impl Contender for KanalFifo {
    const NAME: &'static str = "kanal_fifo";
    const DESIGN: &'static str = "one bounded kanal channel";
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
        self.sender.try_send(item).unwrap_or(false)
    }

    fn send(&self, _: usize, item: Item) -> bool {
        self.sender.send(item).is_ok()
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.receiver.try_recv().ok().flatten().and_then(|item| self.unless_last(item))
    }

    fn recv(&self) -> Option<(usize, Item)> {
        self.receiver.recv().ok().and_then(|item| self.unless_last(item))
    }

    fn try_recv_many(&self, taken: &mut Vec<Item>, _: usize) -> usize {
        let before = taken.len();
        let _ = self.receiver.drain_into(taken);
        if taken.last() == Some(&LAST) {
            taken.pop();
            self.close();
        }
        taken.len() - before
    }

    fn close(&self) {
        self.send(0, LAST);
    }
}
