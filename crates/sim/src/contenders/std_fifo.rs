//! No priority, for scale: the standard library's bounded channel.
//!
//! <https://doc.rust-lang.org/std/sync/mpsc/fn.sync_channel.html>

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use parking_lot::Mutex;

use super::support::{LAST, or_pass_on};
use super::{Contender, Item};

/// One channel for all bands, with one receiver, behind a lock that nobody contends for: it must
/// not be shared between threads.
#[derive(Debug)]
pub struct StdFifo {
    sender: SyncSender<Item>,
    receiver: Mutex<Receiver<Item>>,
}

impl StdFifo {
    fn unless_last(&self, item: Item) -> Option<(usize, Item)> {
        or_pass_on(item, |last| _ = self.sender.try_send(last))
    }
}

impl Contender for StdFifo {
    const NAME: &'static str = "std_fifo";
    const DESIGN: &'static str = "one std::sync::mpsc::sync_channel";
    const PRIORITY: bool = false;
    const STRICT: bool = false;
    const CAPACITY_PER_BAND: bool = false;
    const CLOSES: bool = false;
    const MANY_RECEIVERS: bool = false;

    fn make(capacities: &[usize]) -> Self {
        let (sender, receiver) = sync_channel(capacities.iter().sum());
        Self { sender, receiver: Mutex::new(receiver) }
    }

    fn try_send(&self, _: usize, item: Item) -> bool {
        self.sender.try_send(item).is_ok()
    }

    fn send(&self, _: usize, item: Item) -> bool {
        self.sender.send(item).is_ok()
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        let received = self.receiver.lock().try_recv();
        received.ok().and_then(|item| self.unless_last(item))
    }

    fn recv(&self) -> Option<(usize, Item)> {
        let received = self.receiver.lock().recv();
        received.ok().and_then(|item| self.unless_last(item))
    }

    fn close(&self) {
        self.send(0, LAST);
    }
}
