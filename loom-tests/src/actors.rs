//! Small programs of threads and tasks that wait for each other, run under the checker and judged.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use overtake_core::internals::nobody_waits;
use overtake_core::{BandSet, Receiver, Sender, bounded};
use shuttle::thread;

use crate::task::{Alarm, block_on, block_on_changing, poll};

/// One thing that a thread does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends to a band, in some way.
    Send(usize, Way),
    /// Receives from some bands, in some way.
    Receive(Vec<usize>, Way),
    /// Closes.
    Close,
    /// Releases.
    Release,
}

/// How one waits, if at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Tries.
    Try,
    /// Blocks the thread.
    Block,
    /// Blocks the thread until a deadline that has passed.
    Expired,
    /// As a task, with one waker.
    Task,
    /// As a task that polls with another waker each time.
    Changing,
    /// As a task that is polled once and dropped.
    Dropped,
    /// As a task that is polled once, and dropped when all others are through.
    Dormant,
    /// As a task that is polled once and leaked.
    Leaked,
}

/// Who does what on which channel.
#[derive(Clone, Debug)]
pub struct Play {
    /// The channel.
    pub capacities: Vec<usize>,
    /// Done before the threads start, by one thread.
    pub before: Vec<Act>,
    /// The threads.
    pub actors: Vec<Vec<Act>>,
}

/// What an actor is at, for whoever decides whether all is quiet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum At {
    Work,
    WaitsForItem(Vec<usize>),
    WaitsForRoom(usize),
    End,
}

type Dormant = Pin<Box<dyn Future<Output = ()> + Send>>;

struct World {
    tx: Sender<usize>,
    rx: Receiver<usize>,
    next_item: AtomicUsize,
    sent: Mutex<Vec<usize>>,
    received: Mutex<Vec<usize>>,
    actors: Mutex<Vec<At>>,
    dormant: Mutex<Vec<Dormant>>,
    leaked: AtomicUsize,
}

/// None of these locks is held where the checker may stop a thread.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    fn new(capacities: &[usize], actors: usize) -> Self {
        let (tx, rx) = bounded(capacities);
        Self {
            tx,
            rx,
            next_item: AtomicUsize::new(0),
            sent: Mutex::default(),
            received: Mutex::default(),
            actors: Mutex::new(vec![At::Work; actors]),
            dormant: Mutex::default(),
            leaked: AtomicUsize::new(0),
        }
    }

    fn perform(self: &Arc<Self>, act: &Act) {
        match act {
            Act::Send(band, way) => self.send(*band, *way),
            Act::Receive(set, way) => self.receive(set, *way),
            Act::Close => drop(self.tx.close()),
            Act::Release => self.rx.release(),
        }
    }

    fn send(&self, band: usize, way: Way) {
        let item = self.next_item.fetch_add(1, Ordering::Relaxed);
        let tx = &self.tx;
        let is_sent = match way {
            Way::Try => tx.try_send(band, item).is_ok(),
            Way::Block => tx.send(band, item).is_ok(),
            Way::Expired => tx.send_timeout(band, item, Duration::ZERO).is_ok(),
            Way::Task => block_on(tx.send_async(band, item)).is_ok(),
            Way::Changing => block_on_changing(tx.send_async(band, item)).is_ok(),
            Way::Dropped | Way::Dormant | Way::Leaked => {
                matches!(poll(&mut tx.send_async(band, item), Alarm::new()), Poll::Ready(Ok(())))
            }
        };
        if is_sent {
            lock(&self.sent).push(item);
        }
    }

    fn receive(self: &Arc<Self>, set: &[usize], way: Way) {
        let rx = self.rx.clone().only(set.iter().copied().collect::<BandSet>());
        let received = match way {
            Way::Try => rx.try_recv().ok(),
            Way::Block => rx.recv().ok(),
            Way::Expired => rx.recv_timeout(Duration::ZERO).ok(),
            Way::Task => block_on(rx.recv_async()).ok(),
            Way::Changing => block_on_changing(rx.recv_async()).ok(),
            Way::Dropped | Way::Dormant | Way::Leaked => return self.poll_once(rx, way),
        };
        lock(&self.received).extend(received);
    }

    fn poll_once(self: &Arc<Self>, rx: Receiver<usize>, way: Way) {
        let world = Arc::downgrade(self);
        let mut once: Dormant = Box::pin(async move {
            let received = rx.recv_async().await.ok();
            if let Some(world) = world.upgrade() {
                lock(&world.received).extend(received);
            }
        });
        if poll(&mut once, Alarm::new()).is_ready() {
            return;
        }
        match way {
            Way::Dormant => lock(&self.dormant).push(once),
            Way::Leaked => {
                self.leaked.fetch_add(1, Ordering::Relaxed);
                // With the receiver inside: its channel is never closed for want of receivers.
                mem::forget(once);
            }
            _ => drop(once),
        }
    }

    fn run(self: &Arc<Self>, actor: usize, acts: &[Act]) {
        for act in acts {
            let at = match act {
                Act::Receive(set, Way::Block | Way::Task | Way::Changing) => {
                    At::WaitsForItem(set.clone())
                }
                Act::Send(band, Way::Block | Way::Task | Way::Changing) => At::WaitsForRoom(*band),
                _ => At::Work,
            };
            self.note(actor, at);
            self.perform(act);
            self.note(actor, At::Work);
        }
        self.note(actor, At::End);
    }

    fn note(&self, actor: usize, at: At) {
        lock(&self.actors)[actor] = at;
    }

    /// Whether all are through, or asleep with nothing there for them but what `absorbed` wakes may
    /// have been for.
    fn is_quiet(&self, absorbed: usize) -> bool {
        let actors = lock(&self.actors).clone();
        let is_closed = self.tx.is_closed();
        actors.iter().all(|at| match at {
            At::Work => false,
            At::End => true,
            At::WaitsForItem(set) => {
                !is_closed
                    && set.iter().map(|&band| self.tx.len_of(band)).sum::<usize>() <= absorbed
            }
            At::WaitsForRoom(band) => {
                !is_closed && self.tx.len_of(*band) == self.tx.capacity_of(*band)
            }
        })
    }

    fn wait_until_quiet(&self, absorbed: usize) {
        /// Somebody who is awake gets to run in far fewer.
        const YIELDS: usize = 600;
        for _ in 0..YIELDS {
            if self.is_quiet(absorbed) {
                return;
            }
            thread::yield_now();
        }
        panic!("asleep beside an item or room: {:?}, {:?}", lock(&self.actors), self.tx);
    }
}

/// Runs a play once, in the order that the checker chooses, and judges it.
///
/// # Panics
///
/// If somebody sleeps beside an item or room, an item is lost or received twice, or a cell stays
/// in use.
pub fn run_play(play: &Play) {
    let world = Arc::new(World::new(&play.capacities, play.actors.len()));
    for act in &play.before {
        world.perform(act);
    }
    let actors: Vec<_> = play
        .actors
        .iter()
        .cloned()
        .enumerate()
        .map(|(actor, acts)| {
            let world = Arc::clone(&world);
            thread::spawn(move || world.run(actor, &acts))
        })
        .collect();
    let leaked = || world.leaked.load(Ordering::Relaxed);
    let dormant = || lock(&world.dormant).len() + leaked();
    // Those that count absorb a wake each, and they count themselves before their thread ends.
    let most = play.actors.iter().flatten().filter(|act| act.absorbs()).count();
    world.wait_until_quiet(most);
    let woken = mem::take(&mut *lock(&world.dormant));
    drop(woken);
    world.wait_until_quiet(dormant());
    world.tx.close();
    for actor in actors {
        actor.join().expect("a thread of the play");
    }
    // Of those who went on once the others were dropped.
    lock(&world.dormant).clear();
    while let Ok(item) = world.rx.try_recv() {
        lock(&world.received).push(item);
    }
    let (mut sent, mut received) = (lock(&world.sent).clone(), lock(&world.received).clone());
    sent.sort_unstable();
    received.sort_unstable();
    assert_eq!(sent, received, "each item once");
    assert!(leaked() > 0 || nobody_waits(&world.tx), "a cell is in use, or a count is wrong");
}

impl Act {
    fn absorbs(&self) -> bool {
        matches!(self, Self::Receive(_, Way::Dormant | Way::Leaked))
    }
}
