//! What most programs have today: a binary heap behind a mutex.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Contender, Item};

/// A heap ordered by band, then by arrival, behind one mutex, with a condition variable for
/// receivers and one per band for senders. Each band has its own capacity, as ours has.
#[derive(Debug)]
pub struct MutexHeap {
    state: Mutex<State>,
    item_came: Condvar,
    room_came: Vec<Condvar>,
    capacities: Vec<usize>,
}

#[derive(Debug)]
struct State {
    heap: BinaryHeap<Reverse<(usize, u64, Item)>>,
    next_sequence: u64,
    lengths: Vec<usize>,
    closed: bool,
}

impl MutexHeap {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, mut state: MutexGuard<'_, State>, band: usize, item: Item) {
        let sequence = state.next_sequence;
        state.next_sequence += 1;
        state.lengths[band] += 1;
        state.heap.push(Reverse((band, sequence, item)));
        drop(state);
        self.item_came.notify_one();
    }

    fn pop(&self, mut state: MutexGuard<'_, State>) -> Option<(usize, Item)> {
        let Reverse((band, _, item)) = state.heap.pop()?;
        state.lengths[band] -= 1;
        drop(state);
        self.room_came[band].notify_one();
        Some((band, item))
    }
}

impl Contender for MutexHeap {
    const NAME: &'static str = "mutex_heap";
    const DESIGN: &'static str = "binary heap with sequence numbers, one std mutex, condvars";

    fn make(capacities: &[usize]) -> Self {
        let heap = BinaryHeap::with_capacity(capacities.iter().sum());
        let lengths = vec![0; capacities.len()];
        Self {
            state: Mutex::new(State { heap, next_sequence: 0, lengths, closed: false }),
            item_came: Condvar::new(),
            room_came: capacities.iter().map(|_| Condvar::new()).collect(),
            capacities: capacities.to_vec(),
        }
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        let state = self.lock();
        let fits = !state.closed && state.lengths[band] < self.capacities[band];
        if fits {
            self.push(state, band, item);
        }
        fits
    }

    fn send(&self, band: usize, item: Item) -> bool {
        let mut state = self.lock();
        while !state.closed && state.lengths[band] == self.capacities[band] {
            state = self.room_came[band].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let open = !state.closed;
        if open {
            self.push(state, band, item);
        }
        open
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.pop(self.lock())
    }

    fn recv(&self) -> Option<(usize, Item)> {
        let mut state = self.lock();
        while state.heap.is_empty() && !state.closed {
            state = self.item_came.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.pop(state)
    }

    fn close(&self) {
        self.lock().closed = true;
        self.item_came.notify_all();
        self.room_came.iter().for_each(Condvar::notify_all);
    }
}
