//! Small programs on a channel: what each thread calls, run under the checker and judged.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use overtake_core::{BandSet, Receiver, Sender, TryRecvError, TrySendError, bounded};
use shuttle::thread;

use crate::history::{Answer, Call, Event, is_linearizable};

/// The calls of one thread, in order.
pub type Thread = Vec<Call>;

/// Who calls what on which channel.
#[derive(Clone, Debug)]
pub struct Program {
    /// The channel.
    pub capacities: Vec<usize>,
    /// Called before the threads start, by one thread.
    pub before: Thread,
    /// The threads.
    pub threads: Vec<Thread>,
}

/// An item that counts its drops.
struct Item {
    number: u8,
    dropped: Arc<[AtomicUsize; 256]>,
}

impl Drop for Item {
    fn drop(&mut self) {
        self.dropped[usize::from(self.number)].fetch_add(1, Ordering::Relaxed);
    }
}

struct World {
    tx: Sender<Item>,
    rx: Receiver<Item>,
    clock: AtomicU64,
    events: Mutex<Vec<Event>>,
    dropped: Arc<[AtomicUsize; 256]>,
}

impl World {
    fn call(&self, rx: &Receiver<Item>, call: &Call) -> Answer {
        let began = self.clock.fetch_add(1, Ordering::Relaxed);
        let answer = match call {
            Call::Send(band, number) => {
                let item = Item { number: *number, dropped: Arc::clone(&self.dropped) };
                match self.tx.try_send(*band, item) {
                    Ok(()) => Answer::Sent,
                    Err(TrySendError::Full(_)) => Answer::Full,
                    Err(TrySendError::Closed(_)) => Answer::Closed,
                }
            }
            Call::Receive(set) => {
                let rx = rx.clone().only(set.iter().copied().collect::<BandSet>());
                match rx.try_recv_with_band() {
                    Ok((band, item)) => Answer::Item(band, item.number),
                    Err(TryRecvError::Empty) => Answer::Empty,
                    Err(TryRecvError::Closed) => Answer::Closed,
                }
            }
            Call::Close => Answer::DidClose(self.tx.close()),
        };
        let returned = self.clock.fetch_add(1, Ordering::Relaxed);
        let event = Event { call: call.clone(), answer, began, returned };
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        answer
    }
}

/// Runs a program once, in the order that the checker chooses, and judges it.
///
/// # Panics
///
/// If no order of the calls explains the answers, an item is dropped twice or never, or room or
/// a slot is lost.
pub fn run_program(program: &Program) {
    let (tx, rx) = bounded(&program.capacities);
    let dropped = Arc::new(std::array::from_fn(|_| AtomicUsize::new(0)));
    let (clock, events) = (AtomicU64::new(0), Mutex::default());
    let world = Arc::new(World { tx, rx, clock, events, dropped });
    for call in &program.before {
        world.call(&world.rx, call);
    }
    let threads: Vec<_> = program
        .threads
        .iter()
        .map(|calls| {
            let (world, calls) = (Arc::clone(&world), calls.clone());
            thread::spawn(move || {
                let rx = world.rx.clone();
                for call in &calls {
                    world.call(&rx, call);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("a thread of the program");
    }
    let all: Vec<_> = (0..program.capacities.len()).collect();
    while let Answer::Item(..) = world.call(&world.rx, &Call::Receive(all.clone())) {}
    let events = world.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(is_linearizable(&program.capacities, &events), "no order explains {events:#?}");
    assert_whole(&world, program);
    let sent = events.iter().filter(|event| matches!(event.call, Call::Send(..))).count();
    let dropped: usize = world.dropped.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    assert_eq!(dropped, sent, "every item is dropped once");
}

/// At rest: empty, and the capacity is exact.
fn assert_whole(world: &World, program: &Program) {
    assert_eq!(world.tx.len(), 0);
    let item =
        || Item { number: 0, dropped: Arc::new(std::array::from_fn(|_| AtomicUsize::new(0))) };
    for (band, &capacity) in program.capacities.iter().enumerate() {
        if world.tx.is_closed() {
            break;
        }
        for _ in 0..capacity {
            assert!(world.tx.try_send(band, item()).is_ok(), "room was lost in band {band}");
        }
        assert!(world.tx.try_send(band, item()).is_err(), "too much room in band {band}");
    }
}
