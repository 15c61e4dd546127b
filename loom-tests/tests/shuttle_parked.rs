//! G2 beside those who wait: one thread is stopped for ever before each of its steps, in a call of
//! any kind, beside four announced waiters. The others' `try_` calls finish within a bound, and
//! every later publish wakes a waiter again. The control is a list behind a lock.
#![cfg(overtake_shuttle)]

#[path = "programs/locked.rs"]
mod locked;

use locked::Locked;
use overtake_core::internals::Fault;
use overtake_core::{BandSet, Receiver, Sender, TryRecvError, bounded};
use overtake_loom_tests::{Stopped, Stopping, is_victim, let_victim_go, poll, stop_victim};
use shuttle::{Config, MaxSteps, Runner, thread};
use std::future::Future;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;
use std::time::Duration;

/// How many continuations each stop is followed by.
const RUNS: usize = 100;
/// Steps of all others together after a stop.
const BOUND: usize = 8_000;
/// The band of the waiting receivers, which is empty, and that of the waiting senders, which is full.
const CAPACITY: usize = 4;
const ITEMS: usize = 0;
const ROOM: usize = 1;

type Body = Box<dyn FnOnce() + Send>;
type Task = Pin<Box<dyn Future<Output = bool> + Send>>;

/// A planted fault is the whole process's, so one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

// ---- the waiters -----------------------------------------------------------------------------------

/// Counts its wakes, and holds up nobody.
#[derive(Default)]
struct Rung(AtomicUsize);

impl Wake for Rung {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A task that is polled only when it was woken.
struct Waiter {
    task: Option<Task>,
    rung: Arc<Rung>,
    heard: usize,
}

impl Waiter {
    fn new(future: impl Future<Output = bool> + Send + 'static) -> Self {
        let mut waiter = Self { task: Some(Box::pin(future)), rung: Arc::default(), heard: 0 };
        waiter.poll();
        waiter
    }

    fn poll(&mut self) {
        let is_ready = |task: &mut Task| poll(task, Arc::clone(&self.rung)).is_ready();
        if self.task.as_mut().is_some_and(is_ready) {
            self.task = None;
        }
    }

    /// Runs it for as long as it is woken.
    fn run(&mut self) {
        while self.task.is_some() && self.rung.0.load(Ordering::Relaxed) > self.heard {
            self.heard = self.rung.0.load(Ordering::Relaxed);
            self.poll();
        }
    }
}

struct Waiters {
    receivers: Vec<Waiter>,
    senders: Vec<Waiter>,
}

impl Waiters {
    /// Some of each side, all of them waiting.
    fn new(tx: &Sender<u32>, rx: &Receiver<u32>, receivers: usize, senders: usize) -> Self {
        while tx.try_send(ROOM, 1).is_ok() {}
        let receive = |_| {
            let rx = rx.clone().only(BandSet::only(ITEMS));
            Waiter::new(async move { rx.recv_async().await.is_ok() })
        };
        let send = |_| {
            let tx = tx.clone();
            Waiter::new(async move { tx.send_async(ROOM, 2).await.is_ok() })
        };
        let all = Self {
            receivers: (0..receivers).map(receive).collect(),
            senders: (0..senders).map(send).collect(),
        };
        assert_eq!(all.pending(), (receivers, senders));
        all
    }

    /// How many wait still.
    fn pending(&self) -> (usize, usize) {
        let count = |of: &[Waiter]| of.iter().filter(|waiter| waiter.task.is_some()).count();
        (count(&self.receivers), count(&self.senders))
    }

    /// Runs all until nobody is awake.
    fn run(&mut self) {
        for _ in 0..4 {
            for waiter in self.receivers.iter_mut().chain(&mut self.senders) {
                waiter.run();
            }
        }
    }
}

// ---- stopping --------------------------------------------------------------------------------------

/// Runs the threads; waits for all but the victims, probes, and lets them go on.
fn run_all(threads: Vec<Body>, probe: impl FnOnce()) {
    let handles: Vec<_> = threads.into_iter().map(thread::spawn).collect();
    let mut stopped = Vec::new();
    for (at, handle) in handles.into_iter().enumerate() {
        if is_victim(at + 1) {
            stopped.push(handle);
        } else {
            handle.join().unwrap();
        }
    }
    stop_victim();
    probe();
    let_victim_go();
    for handle in stopped {
        handle.join().unwrap();
    }
}

fn run_stopped(scheduler: Stopping, body: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(100_000);
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(body);
}

/// Stops thread 1 after each of its steps: the number of stopped runs, of those that hung, and the
/// most steps after a stop.
fn stop_everywhere(body: fn()) -> (usize, usize, usize) {
    let (mut runs, mut hung, mut longest) = (0, 0, 0);
    for stop_after in 0..400 {
        let outcome = Arc::new(Stopped::default());
        run_stopped(Stopping::new(1, stop_after, BOUND, RUNS, Arc::clone(&outcome)), body);
        let here = outcome.runs.load(Ordering::Relaxed);
        if here == 0 {
            break;
        }
        runs += here;
        hung += outcome.hung.load(Ordering::Relaxed);
        longest = longest.max(outcome.longest.load(Ordering::Relaxed));
    }
    (runs, hung, longest)
}

fn report(name: &str, (runs, hung, longest): (usize, usize, usize)) {
    println!("stopping {name}: {runs} runs, {hung} hung, at most {longest} steps");
}

// ---- one call of each kind, stopped ------------------------------------------------------------------

/// Others' `try_` calls beside the stopped one.
fn ten_tries(tx: &Sender<u32>, rx: &Receiver<u32>) -> Body {
    let (tx, rx) = (tx.clone(), rx.clone());
    Box::new(move || {
        for item in 0..5 {
            let _ = tx.try_send(ITEMS, item);
            let _ = rx.try_recv();
        }
    })
}

/// Every later publish, and every later room, wakes one more; but the stopped thread may have kept
/// one wake, and may be a waiter that absorbs one.
fn all_come_home(tx: &Sender<u32>, rx: &Receiver<u32>, mut waiters: Waiters) {
    waiters.run();
    let (receivers, senders) = waiters.pending();
    for _ in 0..=receivers {
        let _ = tx.try_send(ITEMS, 9);
        waiters.run();
    }
    let full = rx.clone().only(BandSet::only(ROOM));
    for _ in 0..=senders {
        let _ = full.try_recv();
        waiters.run();
    }
    assert_eq!(waiters.pending(), (0, 0), "asleep: {tx:?}");
}

fn beside_four_waiters(victim: impl FnOnce(Sender<u32>, Receiver<u32>) + Send + 'static) {
    let (tx, rx) = bounded(&[CAPACITY; 2]);
    let waiters = Waiters::new(&tx, &rx, 2, 2);
    let others = ten_tries(&tx, &rx);
    let handles = (tx.clone(), rx.clone());
    run_all(vec![Box::new(move || victim(handles.0, handles.1)), others], || {
        all_come_home(&tx, &rx, waiters);
    });
}

const CALLS: &[(&str, fn())] = &[
    ("try_send", || beside_four_waiters(|tx, _rx| assert!(tx.try_send(ITEMS, 8).is_ok()))),
    ("try_recv", || beside_four_waiters(|_tx, rx| assert!(rx.try_recv().is_ok()))),
    ("poll_and_drop_of_a_receive", || {
        beside_four_waiters(|_tx, rx| {
            let rx = rx.only(BandSet::only(ITEMS));
            drop(Waiter::new(async move { rx.recv_async().await.is_ok() }));
        })
    }),
    ("poll_and_drop_of_a_send", || {
        beside_four_waiters(|tx, _rx| {
            drop(Waiter::new(async move { tx.send_async(ROOM, 3).await.is_ok() }));
        })
    }),
    ("release", || beside_four_waiters(|_tx, rx| rx.release())),
    ("timed_receive", || {
        beside_four_waiters(|_tx, rx| {
            let _ = rx.only(BandSet::only(ITEMS)).recv_timeout(Duration::ZERO);
        })
    }),
    ("timed_send", || {
        beside_four_waiters(|tx, _rx| {
            let _ = tx.send_timeout(ROOM, 3, Duration::ZERO);
        })
    }),
    ("close", a_closer_is_stopped),
    ("send_beside_another", a_sender_is_stopped_beside_another),
    ("send_beside_an_urgent_one", a_sender_is_stopped_beside_an_urgent_one),
    ("help", a_helper_is_stopped),
    ("send_beside_two_rooms", a_sender_is_stopped_beside_two_rooms),
];

/// Whoever is told that the channel is closed has woken all who wait.
fn a_closer_is_stopped() {
    let (tx, rx) = bounded(&[CAPACITY; 2]);
    let mut waiters = Waiters::new(&tx, &rx, 2, 2);
    let closer = rx.clone();
    // No sends, and no room for a sender: those see a close through before anybody answers.
    let rx = rx.only(BandSet::only(ITEMS));
    let other = rx.clone();
    let others: Body = Box::new(move || while other.try_recv().is_ok() {});
    run_all(vec![Box::new(move || assert!(closer.close())), others], || {
        if rx.try_recv() == Err(TryRecvError::Closed) {
            waiters.run();
            assert_eq!(waiters.pending(), (0, 0), "asleep in a closed channel: {tx:?}");
        }
    });
}

/// A sender is stopped between its publish and its wake; another's wake goes to a receiver that
/// takes the first one's item, and must tell the next one.
fn a_sender_is_stopped_beside_another() {
    let (tx, rx) = bounded(&[CAPACITY; 2]);
    let mut waiters = Waiters::new(&tx, &rx, 2, 0);
    let send = |item| -> Body {
        let tx = tx.clone();
        Box::new(move || tx.try_send(ITEMS, item).unwrap())
    };
    run_all(vec![send(1), send(2)], || {
        waiters.run();
        assert!(waiters.pending().0 < 2, "nobody was woken");
        let left = rx.only(BandSet::only(ITEMS)).try_recv();
        assert_eq!(left, Err(TryRecvError::Empty), "asleep beside an item: {tx:?}");
    });
}

/// The same with items of two bands: the one that is left is not of the band that was told of.
fn a_sender_is_stopped_beside_an_urgent_one() {
    let (tx, rx) = bounded(&[1, 1]);
    let receive = |_| {
        let rx = rx.clone();
        Waiter::new(async move { rx.recv_async().await.is_ok() })
    };
    let mut waiters = Waiters { receivers: (0..2).map(receive).collect(), senders: Vec::new() };
    let send = |band| -> Body {
        let tx = tx.clone();
        Box::new(move || tx.try_send(band, 1).unwrap())
    };
    run_all(vec![send(1), send(0)], || {
        waiters.run();
        assert!(waiters.pending().0 < 2, "nobody was woken");
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty), "asleep beside an item: {tx:?}");
    });
}

/// What a waker does the first time; after that it counts.
struct Inside<F: Fn(&AtomicUsize) + Send + Sync + 'static> {
    wakes: AtomicUsize,
    work: F,
}

impl<F: Fn(&AtomicUsize) + Send + Sync + 'static> Wake for Inside<F> {
    fn wake(self: Arc<Self>) {
        if self.wakes.fetch_add(1, Ordering::Relaxed) == 0 {
            (self.work)(&self.wakes);
        }
    }
}

/// One wake is under way, as long as its waker likes; one of two senders that would help is stopped.
fn a_helper_is_stopped() {
    let (tx, rx) = bounded(&[CAPACITY; 2]);
    let sender = tx.clone();
    let inside = Inside {
        wakes: AtomicUsize::new(0),
        work: move |wakes| {
            let send = |item| -> Body {
                let tx = sender.clone();
                Box::new(move || tx.try_send(ITEMS, item).unwrap())
            };
            run_all(vec![send(2), send(3)], || {
                // Out of here no panic comes.
                WAS_HELPED.store(wakes.load(Ordering::Relaxed) > 1, Ordering::Relaxed);
            });
        },
    };
    let mut task: Task = Box::pin(async move { rx.recv_async().await.is_ok() });
    assert!(poll(&mut task, Arc::new(inside)).is_pending());
    tx.try_send(ITEMS, 1).unwrap();
    assert!(WAS_HELPED.load(Ordering::Relaxed), "the other sender woke nobody");
}

/// Of the current run.
static WAS_HELPED: AtomicBool = AtomicBool::new(false);

/// A sender is stopped in the band of the blocked ones; a receive passes its ticket, and makes room
/// for two.
fn a_sender_is_stopped_beside_two_rooms() {
    let (tx, rx) = bounded(&[2]);
    let stopped = tx.clone();
    let victim: Body = Box::new(move || {
        let _ = stopped.try_send(0, 1);
    });
    let fills = tx.clone();
    let fills: Body = Box::new(move || while fills.try_send(0, 2).is_ok() {});
    run_all(vec![victim, fills], || {
        let send = |_| {
            let tx = tx.clone();
            Waiter::new(async move { tx.send_async(0, 3).await.is_ok() })
        };
        let mut waiters = Waiters { receivers: Vec::new(), senders: (0..2).map(send).collect() };
        // What was inside makes room for one each; so does a ticket that is passed.
        let (_, before) = waiters.pending();
        let head_of = || tx.capacity_of(0) - tx.len_of(0);
        while head_of() == 0 && rx.try_recv().is_ok() {}
        waiters.run();
        let room = head_of();
        assert!(waiters.pending().1 == 0 || room == 0 || before == 0, "asleep beside room: {tx:?}");
    });
}

#[test]
fn no_stopped_call_strands_who_waits() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, call) in CALLS {
        let found = stop_everywhere(*call);
        report(name, found);
        assert!(found.0 >= 1_000 && found.1 == 0, "{name}: {found:?}");
    }
}

// ---- threads that park ---------------------------------------------------------------------------------

/// A parked receiver comes home by what another sends.
fn a_parked_receiver() {
    let (tx, rx) = bounded(&[CAPACITY; 2]);
    let (stopped, receiver) = (tx.clone(), rx.clone());
    let receiver: Body = Box::new(move || assert!(receiver.recv().is_ok()));
    let sender = tx.clone();
    let sender: Body = Box::new(move || {
        for item in 0..2 {
            sender.try_send(ITEMS, item).unwrap();
        }
    });
    let victim: Body = Box::new(move || {
        let _ = stopped.try_send(ITEMS, 8);
    });
    // Its handle stays, so that nothing is closed.
    run_all(vec![victim, receiver, sender], || drop(rx));
}

/// A blocked sender comes home by what another takes.
fn a_blocked_sender() {
    let (tx, rx) = bounded(&[CAPACITY]);
    while tx.try_send(0, 1).is_ok() {}
    let (stopped, receiver) = (rx.clone(), rx.clone());
    let receiver: Body = Box::new(move || {
        for _ in 0..2 {
            let _ = receiver.try_recv();
        }
    });
    let victim: Body = Box::new(move || {
        let _ = stopped.try_recv();
    });
    let sender = tx.clone();
    let sender: Body = Box::new(move || sender.send(0, 2).unwrap());
    run_all(vec![victim, sender, receiver], || drop((tx, rx)));
}

#[test]
fn nor_one_that_parks() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, body) in
        [("a_parked_receiver", a_parked_receiver as fn()), ("a_blocked_sender", a_blocked_sender)]
    {
        let found = stop_everywhere(body);
        report(name, found);
        assert!(found.0 >= 1_000 && found.1 == 0, "{name}: {found:?}");
    }
}

// ---- two stopped at once ---------------------------------------------------------------------------------

/// Two senders are stopped: each withholds one wake, and a third one's publish wakes the waiter.
fn two_senders_are_stopped() {
    let (tx, rx) = bounded(&[CAPACITY; 2]);
    let mut waiters = Waiters::new(&tx, &rx, 1, 0);
    let send = |item| -> Body {
        let tx = tx.clone();
        Box::new(move || tx.try_send(ITEMS, item).unwrap())
    };
    run_all(vec![send(1), send(2), send(3)], || {
        waiters.run();
        assert_eq!(waiters.pending().0, 0, "asleep beside items: {tx:?}");
    });
}

/// Stops threads 1 and 2 after each pair of steps.
fn stop_two(runs: usize, body: fn()) -> (usize, usize, usize) {
    let (mut stopped, mut hung, mut longest) = (0, 0, 0);
    for first in 0..200 {
        let before = stopped;
        for second in 0..200 {
            let outcome = Arc::new(Stopped::default());
            let scheduler = Stopping::new(1, first, BOUND, runs, Arc::clone(&outcome));
            run_stopped(scheduler.and(2, second), body);
            let here = outcome.runs.load(Ordering::Relaxed);
            stopped += here;
            hung += outcome.hung.load(Ordering::Relaxed);
            longest = longest.max(outcome.longest.load(Ordering::Relaxed));
            if here < runs {
                break;
            }
        }
        if stopped == before {
            break;
        }
    }
    (stopped, hung, longest)
}

#[test]
fn two_stopped_senders_withhold_two_wakes() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let found = stop_two(12, two_senders_are_stopped);
    report("two_senders", found);
    assert!(found.0 > 10_000 && found.1 == 0, "{found:?}");
}

// ---- mutants and the control ---------------------------------------------------------------------------

/// Whether this call strands somebody with `fault` planted.
fn is_caught(fault: Fault, call: &str) -> bool {
    let (_, body) = CALLS.iter().find(|(name, _)| *name == call).expect("a call of the table");
    Fault::plant(Some(fault));
    let found = catch_unwind(AssertUnwindSafe(|| stop_everywhere(*body).1));
    Fault::plant(None);
    found.map_or(true, |hung| hung > 0)
}

#[test]
fn every_mutant_strands_somebody() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    panic::set_hook(Box::new(|_| ()));
    let faults = [
        (Fault::NoHelp, "try_send"),
        (Fault::ClearBeforeWake, "try_send"),
        (Fault::CountAfterBit, "poll_and_drop_of_a_receive"),
        (Fault::ClosedWithoutWaking, "close"),
        (Fault::NoChain, "send_beside_an_urgent_one"),
        (Fault::OneWakePerCall, "send_beside_two_rooms"),
        (Fault::HelpOnce, "help"),
    ];
    let mut missed = Vec::new();
    for (fault, call) in faults {
        if is_caught(fault, call) {
            println!("mutant {fault:?}: caught by {call}");
        } else {
            missed.push(fault);
        }
    }
    let _ = panic::take_hook();
    assert!(missed.is_empty(), "survived: {missed:?}");
}

/// The same stops beside a list behind a lock.
fn control() {
    let list = Arc::new(Locked::default());
    for _ in 0..3 {
        list.announce(Arc::<Rung>::default().into());
    }
    let side = || -> Body {
        let list = Arc::clone(&list);
        Box::new(move || {
            for _ in 0..2 {
                list.publish();
            }
        })
    };
    run_all(vec![side(), side()], || ());
}

#[test]
fn a_list_behind_a_lock_hangs() {
    let found = stop_everywhere(control);
    report("control", found);
    assert!(found.1 > 50, "{found:?}");
}
