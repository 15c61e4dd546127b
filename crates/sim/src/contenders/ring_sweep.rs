//! A lock-free ring per band, swept once, with a semaphore: the design of folly's
//! `PriorityLifoSemMPMCQueue`, on `crossbeam-queue`'s `ArrayQueue`.
//!
//! <https://docs.rs/crossbeam-queue/latest/crossbeam_queue/struct.ArrayQueue.html>

use crossbeam_queue::ArrayQueue;
use crossbeam_utils::atomic::AtomicCell;

use super::support::Semaphore;
use super::{Contender, Item};

/// Rings in order of urgency. Semaphores count the items, and per band the room.
///
/// The sweep looks at each ring once, so it can pass an item that came while it looked elsewhere.
#[derive(Debug)]
pub struct RingSweep {
    rings: Vec<ArrayQueue<Item>>,
    items: Semaphore,
    room: Vec<Semaphore>,
    closed: AtomicCell<bool>,
}

impl RingSweep {
    fn push(&self, band: usize, item: Item) {
        let pushed = self.rings[band].push(item);
        debug_assert_eq!(pushed, Ok(()), "room was taken for it");
        self.items.release();
    }

    /// Takes the item that a permit stands for: there is one, though a single sweep may miss it.
    fn pop(&self) -> (usize, Item) {
        loop {
            let mut rings = self.rings.iter().enumerate();
            if let Some((band, item)) = rings.find_map(|(band, ring)| Some((band, ring.pop()?))) {
                self.room[band].release();
                return (band, item);
            }
        }
    }
}

impl Contender for RingSweep {
    const NAME: &'static str = "ring_sweep";
    const DESIGN: &'static str = "ArrayQueue per band, plain sweep, semaphore";
    const STRICT: bool = false;

    fn make(capacities: &[usize]) -> Self {
        Self {
            rings: capacities.iter().map(|&capacity| ArrayQueue::new(capacity)).collect(),
            items: Semaphore::new(0),
            room: capacities.iter().map(|&capacity| Semaphore::new(capacity)).collect(),
            closed: AtomicCell::new(false),
        }
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        let fits = !self.closed.load() && self.room[band].try_acquire();
        if fits {
            self.push(band, item);
        }
        fits
    }

    fn send(&self, band: usize, item: Item) -> bool {
        let fits = !self.closed.load() && self.room[band].acquire();
        if fits {
            self.push(band, item);
        }
        fits
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.items.try_acquire().then(|| self.pop())
    }

    fn recv(&self) -> Option<(usize, Item)> {
        self.items.acquire().then(|| self.pop())
    }

    fn close(&self) {
        self.closed.store(true);
        self.room.iter().for_each(Semaphore::close);
        self.items.close();
    }
}
