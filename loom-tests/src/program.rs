//! Small programs on a channel: what each thread calls, run under the checker and judged.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use overtake_core::{
    BandSet, Receiver, Sender, TryRecvError, TrySendError, TrySendManyError, bounded,
};
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
    fn item(&self, number: u8) -> Item {
        Item { number, dropped: Arc::clone(&self.dropped) }
    }

    /// Makes one call, and writes down what was answered for each of its items. Says whether it
    /// received something.
    fn call(&self, rx: &Receiver<Item>, call: &Call) -> bool {
        let began = self.clock.fetch_add(1, Ordering::Relaxed);
        let answers = match call {
            Call::Send(band, number) => vec![(call.clone(), self.send(*band, *number))],
            Call::SendMany(band, numbers) => self.send_many(*band, numbers),
            Call::Receive(set) => vec![(call.clone(), receive(rx, set))],
            Call::ReceiveMany(set, limit) => receive_many(rx, set, *limit),
            Call::Close => vec![(Call::Close, Answer::DidClose(self.tx.close()))],
        };
        let returned = self.clock.fetch_add(1, Ordering::Relaxed);
        let received = answers.iter().any(|(_, answer)| matches!(answer, Answer::Item(..)));
        let all = match call {
            Call::SendMany(_, numbers) => numbers.len(),
            Call::ReceiveMany(_, limit) => *limit,
            _ => 1,
        };
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, (call, answer)) in answers.into_iter().enumerate() {
            let (weight, continues) = if at == 0 { (all, false) } else { (0, true) };
            events.push(Event { call, answer, began, returned, weight, continues });
        }
        received
    }

    fn send(&self, band: usize, number: u8) -> Answer {
        match self.tx.try_send(band, self.item(number)) {
            Ok(()) => Answer::Sent,
            Err(TrySendError::Full(_)) => Answer::Full,
            Err(TrySendError::Closed(_)) => Answer::Closed,
        }
    }

    fn send_many(&self, band: usize, numbers: &[u8]) -> Vec<(Call, Answer)> {
        let mut items: VecDeque<_> = numbers.iter().map(|&number| self.item(number)).collect();
        let (sent, answer) = match self.tx.try_send_many(band, &mut items) {
            Ok(sent) => (sent, Answer::Sent),
            Err(TrySendManyError::Full) => (0, Answer::Full),
            Err(TrySendManyError::Closed) => (0, Answer::Closed),
        };
        let left = items.iter().map(|item| item.number);
        assert!(left.eq(numbers[sent..].iter().copied()), "what is left is in order");
        // The first that did not fit; why the call ended behind others that did it does not say.
        let said = numbers[..sent.max(1)].iter();
        said.map(|&number| (Call::Send(band, number), answer)).collect()
    }
}

fn receive(rx: &Receiver<Item>, set: &[usize]) -> Answer {
    let rx = rx.clone().only(set.iter().copied().collect::<BandSet>());
    match rx.try_recv_with_band() {
        Ok((band, item)) => Answer::Item(band, item.number),
        Err(TryRecvError::Empty) => Answer::Empty,
        Err(TryRecvError::Closed) => Answer::Closed,
    }
}

fn receive_many(rx: &Receiver<Item>, set: &[usize], limit: usize) -> Vec<(Call, Answer)> {
    let rx = rx.clone().only(set.iter().copied().collect::<BandSet>());
    let mut items = Vec::new();
    let said = rx.try_recv_many_with_band(&mut items, limit);
    assert_eq!(said.unwrap_or(0), items.len());
    let mut answers: Vec<_> =
        items.iter().map(|(band, item)| Answer::Item(*band, item.number)).collect();
    match said {
        Ok(received) if received == limit => {}
        Ok(_) => answers.push(Answer::Nothing),
        Err(TryRecvError::Empty) => answers.push(Answer::Empty),
        Err(TryRecvError::Closed) => answers.push(Answer::Closed),
    }
    answers.into_iter().map(|answer| (Call::Receive(set.to_vec()), answer)).collect()
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
    while world.call(&world.rx, &Call::Receive(all.clone())) {}
    let events = world.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(is_linearizable(&program.capacities, &events), "no order explains {events:#?}");
    assert_whole(&world, program);
    let made: usize = program.before.iter().chain(program.threads.iter().flatten()).map(made).sum();
    let dropped: usize = world.dropped.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    assert_eq!(dropped, made, "every item is dropped once");
}

/// How many items a call makes.
fn made(call: &Call) -> usize {
    match call {
        Call::Send(..) => 1,
        Call::SendMany(_, numbers) => numbers.len(),
        _ => 0,
    }
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
