//! Whether what a few threads were answered can be explained by one order of their calls.
//!
//! By brute force against the sequential channel: every order that respects which call returned
//! before which began is tried, with a memory of the states that led nowhere.

use std::collections::{BTreeSet, HashSet};

/// A call on the channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Send a numbered item to a band.
    Send(usize, u8),
    /// Send numbered items to a band by one call.
    SendMany(usize, Vec<u8>),
    /// Receive from these bands.
    Receive(Vec<usize>),
    /// Receive up to so many items from these bands by one call.
    ReceiveMany(Vec<usize>, usize),
    /// Close.
    Close,
}

/// What it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The item is in.
    Sent,
    /// No room.
    Full,
    /// The item of a band.
    Item(usize, u8),
    /// Nothing to receive.
    Empty,
    /// No further item for a batch, closed or not.
    Nothing,
    /// The channel is closed.
    Closed,
    /// Whether this call closed the channel.
    DidClose(bool),
}

/// A call, its answer, and when it began and returned. A batch is an event for each of its items,
/// as if by a call of its own.
#[derive(Clone, Debug)]
pub struct Event {
    /// What was called.
    pub call: Call,
    /// What came back.
    pub answer: Answer,
    /// The clock before the call.
    pub began: u64,
    /// The clock after it.
    pub returned: u64,
    /// How many items it may hold places for, all those of a batch in its first event.
    pub weight: usize,
    /// Whether the event before this one is of the same batch, and so comes before it.
    pub continues: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    bands: Vec<Vec<u8>>,
    closed: bool,
}

/// Whether some order of `events` explains all answers of a channel with these capacities.
///
/// # Panics
///
/// If there are more than 64 events.
#[must_use]
pub fn is_linearizable(capacities: &[usize], events: &[Event]) -> bool {
    assert!(events.len() <= 64, "a set of events is a word");
    let empty = State { bands: vec![Vec::new(); capacities.len()], closed: false };
    let search = Search { capacities, events, crowds: crowds(events) };
    search.explains(0, &empty, &mut HashSet::new())
}

/// For each send, how many items of other calls on its band overlap it.
fn crowds(events: &[Event]) -> Vec<usize> {
    let on_band = |event: &Event, band| match &event.call {
        Call::Send(other, _) => *other == band,
        Call::Receive(set) => set.contains(&band),
        Call::SendMany(..) | Call::ReceiveMany(..) => unreachable!("a batch is single events"),
        Call::Close => false,
    };
    let crowd = |(at, event): (usize, &Event)| {
        let Call::Send(band, _) = event.call else { return 0 };
        let others = events.iter().enumerate().filter(|&(other, _)| other != at);
        others
            .filter(|(_, other)| {
                on_band(other, band) && other.began < event.returned && event.began < other.returned
            })
            .map(|(_, other)| other.weight)
            .sum()
    };
    events.iter().enumerate().map(crowd).collect()
}

struct Search<'a> {
    capacities: &'a [usize],
    events: &'a [Event],
    crowds: Vec<usize>,
}

impl Search<'_> {
    fn explains(&self, done: u64, state: &State, dead: &mut HashSet<(u64, State)>) -> bool {
        if done.count_ones() as usize == self.events.len() {
            return true;
        }
        if dead.contains(&(done, state.clone())) {
            return false;
        }
        let open = |at: &usize| done & (1 << at) == 0;
        let first_return =
            (0..self.events.len()).filter(open).map(|at| self.events[at].returned).min();
        for at in (0..self.events.len()).filter(open) {
            let is_next = !self.events[at].continues || !open(&(at - 1));
            if is_next
                && Some(self.events[at].began) < first_return
                && let Some(next) = self.step(at, state)
                && self.explains(done | 1 << at, &next, dead)
            {
                return true;
            }
        }
        dead.insert((done, state.clone()));
        false
    }

    /// The state after one call, if its answer is right in `state`.
    fn step(&self, at: usize, state: &State) -> Option<State> {
        let event = &self.events[at];
        let mut next = state.clone();
        let right = match (&event.call, event.answer) {
            (Call::Send(band, item), Answer::Sent) => {
                next.bands[*band].push(*item);
                !state.closed && state.bands[*band].len() < self.capacities[*band]
            }
            (Call::Send(band, _), Answer::Full) => {
                let inside = state.bands[*band].len();
                !state.closed && inside + self.crowds[at] >= self.capacities[*band]
            }
            (Call::Send(..), Answer::Closed) => state.closed,
            (Call::Receive(set), answer) => {
                let set: BTreeSet<_> = set.iter().copied().collect();
                let first = set.into_iter().find(|&band| !state.bands[band].is_empty());
                match (first, answer) {
                    (Some(first), Answer::Item(band, item)) => {
                        first == band && next.bands[band].remove(0) == item
                    }
                    (None, Answer::Empty) => !state.closed,
                    (None, Answer::Nothing) => true,
                    (None, Answer::Closed) => state.closed,
                    _ => false,
                }
            }
            (Call::Close, Answer::DidClose(did)) => {
                next.closed = true;
                did != state.closed
            }
            _ => false,
        };
        right.then_some(next)
    }
}
