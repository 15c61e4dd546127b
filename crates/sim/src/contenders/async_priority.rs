//! The published channel with priorities: `async-priority-channel`.
//!
//! <https://docs.rs/async-priority-channel/latest/async_priority_channel/>

use std::cmp::Reverse;

use async_priority_channel::{Receiver, Sender, bounded};
use futures_lite::future::block_on;

use super::{Contender, Item};

/// A heap behind a mutex with events for those who wait. It is made for tasks; a thread waits by
/// driving the future itself, parked meanwhile.
#[derive(Debug)]
pub struct AsyncPriority {
    sender: Sender<Item, Reverse<usize>>,
    receiver: Receiver<Item, Reverse<usize>>,
}

impl Contender for AsyncPriority {
    const NAME: &'static str = "async_priority";
    const DESIGN: &'static str = "async-priority-channel, its futures driven by parked threads";
    const FIFO: bool = false;
    const CAPACITY_PER_BAND: bool = false;

    fn make(capacities: &[usize]) -> Self {
        let (sender, receiver) = bounded(capacities.iter().sum::<usize>() as u64);
        Self { sender, receiver }
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        self.sender.try_send(item, Reverse(band)).is_ok()
    }

    fn send(&self, band: usize, item: Item) -> bool {
        block_on(self.sender.send(item, Reverse(band))).is_ok()
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.receiver.try_recv().ok().map(|(item, Reverse(band))| (band, item))
    }

    fn recv(&self) -> Option<(usize, Item)> {
        block_on(self.receiver.recv()).ok().map(|(item, Reverse(band))| (band, item))
    }

    fn close(&self) {
        self.sender.close();
    }
}
