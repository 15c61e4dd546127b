//! Recording a history from a contender: real threads, real calls, one clock.

use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use overtake_core::BandSet;

use super::history::{History, Operation, OperationKind};
use crate::contenders::Contender;

/// What to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordOptions {
    /// How many bands the queue has.
    pub bands: usize,
    /// How many items each band holds.
    pub capacity: usize,
    /// How many threads push.
    pub senders: usize,
    /// How many threads pop.
    pub receivers: usize,
    /// How many calls are made in all.
    pub operations: usize,
    /// Whether every second receiver is limited to every second band, where the design can.
    pub restricted: bool,
    /// Which bands are pushed to in which order.
    pub seed: u64,
}

/// Lets threads push to random bands and pop, and writes down every call.
#[must_use]
pub fn record<C: Contender>(options: &RecordOptions) -> History {
    let RecordOptions { bands, capacity, senders, receivers, operations, .. } = *options;
    let capacities = vec![capacity; bands];
    let queue = C::make(&capacities);
    let threads = senders + receivers;
    let ready = Barrier::new(threads);
    let started = Instant::now();
    let operations = thread::scope(|scope| {
        let (queue, ready) = (&queue, &ready);
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                let calls = operations * (thread + 1) / threads - operations * thread / threads;
                scope.spawn(move || {
                    let mut scribe = Scribe::new(thread, started, calls);
                    ready.wait();
                    if thread < senders {
                        push_all(queue, options, thread, &mut scribe);
                    } else {
                        pop_all(queue, set_of::<C>(options, thread), &mut scribe);
                    }
                    scribe.written
                })
            })
            .collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap_or_default()).collect()
    });
    History { operations, capacities }
}

fn set_of<C: Contender>(options: &RecordOptions, thread: usize) -> BandSet {
    let every_second = (0..options.bands).filter(|band| band % 2 == 1).collect::<BandSet>();
    if options.restricted && C::RESTRICTS && thread % 2 == 1 && !every_second.is_empty() {
        every_second
    } else {
        (0..options.bands).collect()
    }
}

fn push_all<C: Contender>(queue: &C, options: &RecordOptions, thread: usize, scribe: &mut Scribe) {
    let mut random = Random(options.seed ^ (thread as u64 + 1) << 32);
    let first = (thread as u64) << 40;
    for value in first..first + scribe.calls as u64 {
        let band = random.below(options.bands as u64) as usize;
        scribe.call(BandSet::ALL, || {
            let pushed = queue.try_send(band, value);
            (if pushed { OperationKind::PushOk } else { OperationKind::PushFull }, band, value)
        });
    }
}

fn pop_all<C: Contender>(queue: &C, set: BandSet, scribe: &mut Scribe) {
    for _ in 0..scribe.calls {
        scribe.call(set, || {
            let popped = if C::RESTRICTS { queue.try_recv_from(set) } else { queue.try_recv() };
            match popped {
                Some((band, value)) => (OperationKind::PopOk, band, value),
                None => (OperationKind::PopEmpty, 0, 0),
            }
        });
    }
}

/// Writes down the calls of one thread.
struct Scribe {
    thread: u32,
    started: Instant,
    calls: usize,
    written: Vec<Operation>,
    /// Locked before each time is taken: on the machines this runs on that drains the store
    /// buffer, so that a call has not returned before what it wrote can be seen.
    fence: Mutex<()>,
}

impl Scribe {
    fn new(thread: usize, started: Instant, calls: usize) -> Self {
        let written = Vec::with_capacity(calls);
        Self { thread: thread as u32, started, calls, written, fence: Mutex::new(()) }
    }

    fn call(&mut self, set: BandSet, body: impl FnOnce() -> (OperationKind, usize, u64)) {
        let call = self.now();
        let (kind, band, value) = body();
        let ret = self.now();
        self.written.push(Operation { thread: self.thread, kind, band, value, call, ret, set });
    }

    fn now(&self) -> u64 {
        drop(self.fence.lock().unwrap_or_else(PoisonError::into_inner));
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A small generator of random numbers (splitmix64), so that a seed repeats a recording's calls.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % limit
    }
}
