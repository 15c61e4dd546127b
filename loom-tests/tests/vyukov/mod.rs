//! A ring in the way of Vyukov: slots carry sequence numbers, and who comes second waits for the
//! first. Here to be caught.

use shuttle::hint::spin_loop;
use shuttle::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

pub(super) struct Vyukov {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: Vec<(AtomicUsize, AtomicU32)>,
}

impl Vyukov {
    pub(super) fn new(slots: usize) -> Self {
        let slots = (0..slots).map(|at| (AtomicUsize::new(at), AtomicU32::new(0))).collect();
        Self { head: AtomicUsize::new(0), tail: AtomicUsize::new(0), slots }
    }

    /// `false` if it is full.
    pub(super) fn push(&self, item: u32) -> bool {
        loop {
            let tail = self.tail.load(SeqCst);
            let (sequence, place) = &self.slots[tail % self.slots.len()];
            let found = sequence.load(SeqCst);
            if found == tail {
                if self.tail.compare_exchange(tail, tail + 1, SeqCst, SeqCst).is_ok() {
                    place.store(item, SeqCst);
                    sequence.store(tail + 1, SeqCst);
                    return true;
                }
            } else if self.head.load(SeqCst) + self.slots.len() == tail {
                return false;
            } else {
                spin_loop();
            }
        }
    }

    /// `None` if it is empty.
    pub(super) fn pop(&self) -> Option<u32> {
        loop {
            let head = self.head.load(SeqCst);
            let (sequence, place) = &self.slots[head % self.slots.len()];
            let found = sequence.load(SeqCst);
            if found == head + 1 {
                if self.head.compare_exchange(head, head + 1, SeqCst, SeqCst).is_ok() {
                    let item = place.load(SeqCst);
                    sequence.store(head + self.slots.len(), SeqCst);
                    return Some(item);
                }
            } else if self.tail.load(SeqCst) == head {
                return None;
            } else {
                spin_loop();
            }
        }
    }
}
