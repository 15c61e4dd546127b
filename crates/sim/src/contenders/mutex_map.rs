//! A sorted map of queues behind a mutex: what one writes who wants order among equals too.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Contender, Item};

/// A queue per band that has been used, in a sorted map behind one mutex, with a condition variable
/// for receivers and one per band for senders. Queues stay when they are empty: making them anew
/// would cost an allocation for each item.
#[derive(Debug)]
pub struct MutexMap {
    state: Mutex<State>,
    item_came: Condvar,
    room_came: Vec<Condvar>,
    capacities: Vec<usize>,
}

#[derive(Debug, Default)]
struct State {
    queues: BTreeMap<usize, VecDeque<Item>>,
    length: usize,
    closed: bool,
}

impl MutexMap {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self, state: &State, band: usize) -> bool {
        state.queues.get(&band).is_some_and(|queue| queue.len() == self.capacities[band])
    }

    fn push(&self, mut state: MutexGuard<'_, State>, band: usize, item: Item) {
        state.length += 1;
        state.queues.entry(band).or_default().push_back(item);
        drop(state);
        self.item_came.notify_one();
    }

    fn pop(&self, mut state: MutexGuard<'_, State>) -> Option<(usize, Item)> {
        let mut queues = state.queues.iter_mut();
        let taken = queues.find_map(|(&band, queue)| Some((band, queue.pop_front()?)))?;
        state.length -= 1;
        drop(state);
        self.room_came[taken.0].notify_one();
        Some(taken)
    }
}

impl Contender for MutexMap {
    const NAME: &'static str = "mutex_map";
    const DESIGN: &'static str = "sorted map of queues, one std mutex, condvars";

    fn make(capacities: &[usize]) -> Self {
        Self {
            state: Mutex::default(),
            item_came: Condvar::new(),
            room_came: capacities.iter().map(|_| Condvar::new()).collect(),
            capacities: capacities.to_vec(),
        }
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        let state = self.lock();
        let fits = !state.closed && !self.is_full(&state, band);
        if fits {
            self.push(state, band, item);
        }
        fits
    }

    fn send(&self, band: usize, item: Item) -> bool {
        let mut state = self.lock();
        while !state.closed && self.is_full(&state, band) {
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
        while state.length == 0 && !state.closed {
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
