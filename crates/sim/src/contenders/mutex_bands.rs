//! The strongest design behind one lock that we know: an array of queues, a `parking_lot` mutex,
//! and no wake-up where nobody waits.
//!
//! <https://docs.rs/parking_lot/latest/parking_lot/type.Mutex.html>

use std::collections::VecDeque;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::{Contender, Item};

/// A queue per band and a bit for each that holds something. Waiters are counted, and who wakes one
/// takes it off the count: until it has run, others pass without a system call, in long turns.
#[derive(Debug)]
pub struct MutexBands {
    state: Mutex<State>,
    item_came: Condvar,
    room_came: Vec<Condvar>,
    capacities: Vec<usize>,
}

#[derive(Debug)]
struct State {
    bands: Vec<VecDeque<Item>>,
    /// Bit b is set while band b holds something.
    present: u64,
    idle_receivers: usize,
    blocked_senders: Vec<usize>,
    closed: bool,
}

impl State {
    fn push(&mut self, band: usize, item: Item) {
        self.bands[band].push_back(item);
        self.present |= 1 << band;
    }

    fn pop(&mut self) -> Option<(usize, Item)> {
        let band = self.present.trailing_zeros() as usize;
        let queue = self.bands.get_mut(band)?;
        let item = queue.pop_front()?;
        if queue.is_empty() {
            self.present &= !(1 << band);
        }
        Some((band, item))
    }
}

/// Takes up to `most` waiters off their count; those are to be woken.
fn claim(waiting: &mut usize, most: usize) -> usize {
    let claimed = most.min(*waiting);
    *waiting -= claimed;
    claimed
}

fn wake(waiters: &Condvar, count: usize) {
    for _ in 0..count {
        waiters.notify_one();
    }
}

impl MutexBands {
    fn push(&self, mut state: MutexGuard<'_, State>, band: usize, item: Item) {
        state.push(band, item);
        let woken = claim(&mut state.idle_receivers, 1);
        drop(state);
        wake(&self.item_came, woken);
    }

    fn pop(&self, mut state: MutexGuard<'_, State>) -> Option<(usize, Item)> {
        let (band, item) = state.pop()?;
        let woken = claim(&mut state.blocked_senders[band], 1);
        drop(state);
        wake(&self.room_came[band], woken);
        Some((band, item))
    }

    fn is_full(&self, state: &State, band: usize) -> bool {
        state.bands[band].len() == self.capacities[band]
    }
}

impl Contender for MutexBands {
    const NAME: &'static str = "mutex_bands";
    const DESIGN: &'static str = "queue per band, one parking_lot mutex, counted waiters";
    const BATCHES: bool = true;

    fn make(capacities: &[usize]) -> Self {
        Self {
            state: Mutex::new(State {
                bands: capacities.iter().map(|&room| VecDeque::with_capacity(room)).collect(),
                present: 0,
                idle_receivers: 0,
                blocked_senders: vec![0; capacities.len()],
                closed: false,
            }),
            item_came: Condvar::new(),
            room_came: capacities.iter().map(|_| Condvar::new()).collect(),
            capacities: capacities.to_vec(),
        }
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        let state = self.state.lock();
        let fits = !state.closed && !self.is_full(&state, band);
        if fits {
            self.push(state, band, item);
        }
        fits
    }

    fn send(&self, band: usize, item: Item) -> bool {
        let mut state = self.state.lock();
        while !state.closed && self.is_full(&state, band) {
            state.blocked_senders[band] += 1;
            self.room_came[band].wait(&mut state);
        }
        let open = !state.closed;
        if open {
            self.push(state, band, item);
        }
        open
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.pop(self.state.lock())
    }

    fn recv(&self) -> Option<(usize, Item)> {
        let mut state = self.state.lock();
        while state.present == 0 && !state.closed {
            state.idle_receivers += 1;
            self.item_came.wait(&mut state);
        }
        self.pop(state)
    }

    fn try_send_many(&self, band: usize, items: &mut VecDeque<Item>) -> usize {
        let mut state = self.state.lock();
        let room = self.capacities[band] - state.bands[band].len();
        let count = if state.closed { 0 } else { room.min(items.len()) };
        items.drain(..count).for_each(|item| state.push(band, item));
        let woken = claim(&mut state.idle_receivers, count);
        drop(state);
        wake(&self.item_came, woken);
        count
    }

    fn try_recv_many(&self, taken: &mut Vec<Item>, limit: usize) -> usize {
        let before = taken.len();
        let mut state = self.state.lock();
        while state.present != 0 && taken.len() - before < limit {
            let band = state.present.trailing_zeros() as usize;
            let queue = &mut state.bands[band];
            let count = queue.len().min(limit - (taken.len() - before));
            taken.extend(queue.drain(..count));
            if queue.is_empty() {
                state.present &= !(1 << band);
            }
            let woken = claim(&mut state.blocked_senders[band], count);
            wake(&self.room_came[band], woken);
        }
        taken.len() - before
    }

    fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.idle_receivers = 0;
        state.blocked_senders.fill(0);
        self.item_came.notify_all();
        for senders in &self.room_came {
            senders.notify_all();
        }
    }
}
