//! G2: one thread is stopped for ever before each of its atomic steps in turn, and the others must
//! finish their calls within a bound. The control is a ring that must not pass.
#![cfg(overtake_shuttle)]

mod vyukov;

use overtake_core::{BandSet, Receiver, Sender, TryRecvError, bounded};
use overtake_loom_tests::{Stopped, Stopping, let_victim_go, stop_victim, victim};
use shuttle::{Config, MaxSteps, Runner, thread};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vyukov::Vyukov;

/// How many continuations each stop is followed by.
const RUNS: usize = 100;
/// Steps of all others together after a stop.
const BOUND: usize = 6_000;
const CAPACITY: usize = 2;

type Body = Box<dyn FnOnce() + Send>;

/// Runs the threads; waits for all but the victim, probes, and lets the victim go on.
fn run_all(threads: Vec<Body>, probe: impl FnOnce()) {
    let handles: Vec<_> = threads.into_iter().map(thread::spawn).collect();
    let mut stopped = None;
    for (at, handle) in handles.into_iter().enumerate() {
        if at + 1 == victim() {
            stopped = Some(handle);
        } else {
            handle.join().unwrap();
        }
    }
    // If it was not stopped so far, it is now, so that the probe knows what to expect.
    stop_victim();
    probe();
    let_victim_go();
    if let Some(stopped) = stopped {
        stopped.join().unwrap();
    }
}

/// Stops each of `threads` threads after each of its steps. Says how many runs were stopped, how
/// many of them hung, and the most steps after a stop.
fn stop_everywhere(threads: usize, most_stops: usize, body: fn()) -> (usize, usize, usize) {
    let (mut runs, mut hung, mut longest) = (0, 0, 0);
    for victim in 1..=threads {
        for stop_after in 0..most_stops {
            let outcome = Arc::new(Stopped::default());
            let scheduler = Stopping::new(victim, stop_after, BOUND, RUNS, Arc::clone(&outcome));
            let mut config = Config::new();
            config.max_steps = MaxSteps::FailAfter(100_000);
            config.silence_warnings = true;
            Runner::new(scheduler, config).run(body);
            let here = outcome.runs.load(Ordering::Relaxed);
            if here == 0 {
                break;
            }
            runs += here;
            hung += outcome.hung.load(Ordering::Relaxed);
            longest = longest.max(outcome.longest.load(Ordering::Relaxed));
        }
    }
    (runs, hung, longest)
}

fn report(name: &str, (runs, hung, longest): (usize, usize, usize)) {
    println!("stopping {name}: {runs} runs, {hung} hung, at most {longest} steps");
}

/// With one thread stopped each band must still take all but as many items as that thread can
/// `hold`, and give them back.
fn probe(tx: &Sender<u32>, rx: &Receiver<u32>, hold: usize) {
    for round in 0..6 * CAPACITY {
        for band in 0..tx.band_count() {
            let capacity = tx.capacity_of(band);
            let mine = rx.clone().only(BandSet::only(band));
            while mine.try_recv().is_ok() {}
            let taken = (0..capacity).take_while(|_| tx.try_send(band, 9).is_ok()).count();
            assert!(taken + hold >= capacity, "band {band} takes {taken} in round {round}: {tx:?}");
            let given = (0..capacity).take_while(|_| mine.try_recv().is_ok()).count();
            assert!(given >= taken, "band {band} gives {given} of {taken} back");
        }
    }
}

fn sender(tx: &Sender<u32>) -> Body {
    let tx = tx.clone();
    Box::new(move || {
        for item in 0..4 {
            let _ = tx.try_send(item as usize % 2, item);
        }
    })
}

fn receiver(rx: &Receiver<u32>) -> Body {
    let rx = rx.clone();
    Box::new(move || {
        for _ in 0..4 {
            let _ = rx.try_recv();
        }
    })
}

fn two_bands() {
    let (tx, rx) = bounded(&[CAPACITY; 2]);
    let threads = vec![sender(&tx), sender(&tx), receiver(&rx), receiver(&rx)];
    run_all(threads, || probe(&tx, &rx, 1));
}

#[test]
fn no_stopped_thread_holds_up_others() {
    let found = stop_everywhere(4, 400, two_bands);
    report("two_bands", found);
    assert!(found.0 > 10_000 && found.1 == 0, "{found:?}");
}

fn one_contended_band() {
    let (tx, rx) = bounded(&[CAPACITY; 1]);
    let send = |tx: &Sender<u32>| -> Body {
        let tx = tx.clone();
        Box::new(move || {
            for item in 0..4 {
                let _ = tx.try_send(0, item);
            }
        })
    };
    let threads = vec![send(&tx), send(&tx), receiver(&rx)];
    run_all(threads, || probe(&tx, &rx, 1));
}

#[test]
fn nor_in_one_contended_band() {
    let found = stop_everywhere(3, 400, one_contended_band);
    report("one_contended_band", found);
    assert!(found.0 > 10_000 && found.1 == 0, "{found:?}");
}

/// Of a capacity of 4, one claim takes 2.
fn batches() {
    let (tx, rx) = bounded(&[4; 1]);
    let send = |tx: &Sender<u32>| -> Body {
        let tx = tx.clone();
        Box::new(move || {
            let mut items = (0..5).collect();
            let _ = (tx.try_send_many(0, &mut items), tx.try_send_many(0, &mut items));
        })
    };
    let receive = |rx: &Receiver<u32>| -> Body {
        let rx = rx.clone();
        Box::new(move || {
            let _ = rx.try_recv_many(&mut Vec::new(), 3);
            let _ = rx.try_recv_many(&mut Vec::new(), 2);
        })
    };
    let threads = vec![send(&tx), send(&tx), receive(&rx), receive(&rx)];
    run_all(threads, || probe(&tx, &rx, 2));
}

/// A thread stopped inside a batch holds the places of one claim, and nobody up.
#[test]
fn nor_one_stopped_inside_a_batch() {
    let found = stop_everywhere(4, 400, batches);
    report("batches", found);
    assert!(found.0 > 10_000 && found.1 == 0, "{found:?}");
}

fn close_beside_all() {
    let (tx, rx) = bounded(&[CAPACITY; 2]);
    let closer = rx.clone();
    let closer: Body = Box::new(move || assert!(closer.close() || closer.is_closed()));
    let threads = vec![sender(&tx), receiver(&rx), closer];
    run_all(threads, || {
        rx.close();
        while rx.try_recv().is_ok() {}
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
        assert!(tx.try_send(1, 9).is_err_and(|refused| refused.is_closed()));
    });
}

#[test]
fn nor_while_the_channel_closes() {
    let found = stop_everywhere(3, 400, close_beside_all);
    report("close_beside_all", found);
    assert!(found.0 > 5_000 && found.1 == 0, "{found:?}");
}

/// The last sender goes in one thread, the last receiver in another.
fn last_handles_go() {
    let (tx, rx) = bounded(&[CAPACITY; 2]);
    let other = tx.clone();
    let sends: Body = Box::new(move || {
        for item in 0..2 {
            let _ = other.try_send(item as usize, item);
        }
        drop(other);
    });
    let receives: Body = Box::new(move || {
        let _ = rx.try_recv();
        drop(rx);
    });
    let last: Body = Box::new(move || {
        let _ = tx.try_send(1, 7);
        drop(tx);
    });
    run_all(vec![sends, receives, last], || ());
}

#[test]
fn nor_while_the_last_handles_go() {
    let found = stop_everywhere(3, 400, last_handles_go);
    report("last_handles_go", found);
    assert!(found.0 > 5_000 && found.1 == 0, "{found:?}");
}

fn control() {
    let ring = Arc::new(Vyukov::new(2 * CAPACITY));
    let side = |sends: bool| -> Body {
        let ring = Arc::clone(&ring);
        Box::new(move || {
            for item in 0..4 {
                if sends {
                    ring.push(item);
                } else {
                    ring.pop();
                }
            }
        })
    };
    run_all(vec![side(true), side(true), side(false), side(false)], || ());
}

/// The control: a ring that waits for whoever has claimed a slot hangs, so the meter sees it.
#[test]
fn a_ring_that_waits_hangs() {
    let found = stop_everywhere(4, 80, control);
    report("control", found);
    assert!(found.1 > 100, "{found:?}");
}
