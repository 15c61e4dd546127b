//! A lock-free sorted map: `crossbeam-skiplist`, keyed by band and arrival.
//!
//! <https://docs.rs/crossbeam-skiplist/latest/crossbeam_skiplist/struct.SkipMap.html>

use std::fmt;

use crossbeam_skiplist::SkipMap;
use crossbeam_utils::atomic::AtomicCell;

use super::support::Semaphore;
use super::{Contender, Item};

/// The map grows without limit, so semaphores count items, and per band the room.
///
/// An item has its number before it is in the map, and taking the first is a look and a removal: so
/// it can pass an item that came in between.
pub struct SkipList {
    map: SkipMap<(usize, u64), Item>,
    next_sequence: AtomicCell<u64>,
    items: Semaphore,
    room: Vec<Semaphore>,
    closed: AtomicCell<bool>,
}

impl fmt::Debug for SkipList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkipList").finish_non_exhaustive()
    }
}

impl SkipList {
    fn push(&self, band: usize, item: Item) {
        self.map.insert((band, self.next_sequence.fetch_add(1)), item);
        self.items.release();
    }

    /// Takes the item that a permit stands for: there is one, though others may be quicker to take
    /// the first.
    fn pop(&self) -> (usize, Item) {
        loop {
            if let Some(entry) = self.map.pop_front() {
                let (band, _) = *entry.key();
                self.room[band].release();
                return (band, *entry.value());
            }
        }
    }
}

impl Contender for SkipList {
    const NAME: &'static str = "skip_list";
    const DESIGN: &'static str = "crossbeam-skiplist by band and number, semaphores";
    const STRICT: bool = false;

    fn make(capacities: &[usize]) -> Self {
        Self {
            map: SkipMap::new(),
            next_sequence: AtomicCell::new(0),
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
