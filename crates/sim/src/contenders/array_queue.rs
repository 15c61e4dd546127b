//! No priority, for scale: one `crossbeam-queue` `ArrayQueue`, the ring that many know.
//!
//! <https://docs.rs/crossbeam-queue/latest/crossbeam_queue/struct.ArrayQueue.html>

use crossbeam_queue::ArrayQueue;

use super::support::{Polling, poll};
use super::{Contender, Item};

/// The ring alone. It has no waiting calls, so those here poll.
#[derive(Debug)]
pub struct OneArrayQueue {
    ring: ArrayQueue<Item>,
    polling: Polling,
}

impl Contender for OneArrayQueue {
    const NAME: &'static str = "array_queue";
    const DESIGN: &'static str = "crossbeam-queue ArrayQueue alone, polled";
    const PRIORITY: bool = false;
    const STRICT: bool = false;
    const CAPACITY_PER_BAND: bool = false;
    const BLOCKS: bool = false;
    const CLOSES: bool = false;

    fn make(capacities: &[usize]) -> Self {
        Self { ring: ArrayQueue::new(capacities.iter().sum()), polling: Polling::default() }
    }

    fn try_send(&self, _: usize, item: Item) -> bool {
        self.ring.push(item).is_ok()
    }

    fn send(&self, _: usize, item: Item) -> bool {
        poll(|| self.ring.push(item).is_ok().then_some(true))
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.ring.pop().map(|item| (0, item))
    }

    fn recv(&self) -> Option<(usize, Item)> {
        self.polling.recv(|| self.try_recv())
    }

    fn close(&self) {
        self.polling.end();
    }
}
