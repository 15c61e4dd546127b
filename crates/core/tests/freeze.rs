//! G2 on real threads: a thread that a signal stops anywhere inside a call holds up nobody, also
//! where somebody is parked. `Full` is weak, so the bands have two places at least.
//!
//! Each test prints what it saw. More and longer stops: `.ci/freeze.sh`.
#![cfg(target_os = "linux")]

mod common;
mod frozen;

use common::{Dice, join, parked, within};
use crossbeam_queue::ArrayQueue;
use frozen::{Done, Others, Plan, Seen, Victim, Watched, freeze};
use overtake_core::{BandSet, Receiver, Sender, bounded};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const CAPACITIES: [usize; 3] = [4, 2, 8];
const BANDS: usize = CAPACITIES.len();

type Handles = (Sender<u64>, Receiver<u64>);

/// Sends one item to each band, then takes what is there.
fn send_and_drain(tx: &Sender<u64>, rx: &Receiver<u64>, done: &Done) {
    for band in 0..tx.band_count() {
        // Full is no fault: others may have been quicker.
        let _ = tx.try_send(band, 1);
    }
    while let Ok((band, _)) = rx.try_recv_with_band() {
        done.received(band);
    }
}

/// Fails unless all went on in every stop.
#[track_caller]
fn assert_nobody_stalled(name: &str, seen: &Seen) {
    println!("freeze {name}: {seen}");
    if let Some((before, after)) = &seen.first_stall {
        panic!("{name}: while one was stopped, turns and items went from {before:?} to {after:?}");
    }
}

// ---- sends and receives ------------------------------------------------------------------------

/// Two threads send to and receive from all bands, while a third is stopped in `turn`.
fn frozen_in(name: &str, mut turn: impl FnMut(&Watched<'_>, &Handles) + Send + 'static) {
    let name = name.to_owned();
    within(1_000, move || {
        let handles = bounded(&CAPACITIES);
        let mut others = Others::through(BANDS);
        for _ in 0..2 {
            let (tx, rx) = handles.clone();
            others = others.and(move |done| send_and_drain(&tx, &rx, done));
        }
        let victim = Victim::start(move |watched| turn(watched, &handles));
        let seen = freeze(&Plan::from_env(), &victim, &others);
        victim.finish();
        others.finish(|| {});
        assert_nobody_stalled(&name, &seen);
    });
}

#[test]
fn kind_12_g2_who_is_frozen_in_an_urgent_send_holds_up_nobody() {
    frozen_in("urgent try_send", |watched, (tx, _)| {
        let _ = watched.call(|| tx.try_send(0, 2));
    });
}

#[test]
fn kind_12_g2_who_is_frozen_in_a_send_to_the_lowest_band_holds_up_nobody() {
    frozen_in("lowest try_send", |watched, (tx, _)| {
        let _ = watched.call(|| tx.try_send(BANDS - 1, 2));
    });
}

#[test]
fn kind_12_g2_who_is_frozen_in_a_receive_holds_up_nobody() {
    frozen_in("try_recv", |watched, (_, rx)| {
        let _ = watched.call(|| rx.try_recv());
    });
}

#[test]
fn kind_12_g2_who_is_frozen_in_a_receive_from_the_lowest_band_holds_up_nobody() {
    let mut lowest = None;
    frozen_in("lowest try_recv", move |watched, (_, rx)| {
        let set = BandSet::only(BANDS - 1);
        let lowest = lowest.get_or_insert_with(|| rx.clone().only(set));
        let _ = watched.call(|| lowest.try_recv());
    });
}

/// A full band is looked at by one who helps its head along.
#[test]
fn kind_12_g2_who_is_frozen_in_a_look_holds_up_nobody() {
    frozen_in("looks", |watched, (tx, rx)| {
        let _ = watched.call(|| (tx.is_full(0), rx.len(), tx.is_full(1), rx.is_empty()));
    });
}

// ---- closing -----------------------------------------------------------------------------------

/// Enough bands for a close to take a while.
const MANY: usize = 64;
/// Channels that are made in advance, so that the victim spends its time in closing them.
const FLEET: usize = 64;

/// A channel, in two parts.
type Split = fn() -> (Closes, Arc<Rest>);

/// What the victim has of a channel, to close it with.
enum Closes {
    Call(Sender<u64>),
    Receiver(Receiver<u64>),
    Sender(Sender<u64>),
}

/// What the others have of it.
type Rest = (Option<Sender<u64>>, Option<Receiver<u64>>);

/// A turn of one of the others: calls on the very channel that is being closed.
fn use_what_closes(current: &Mutex<Arc<Rest>>) {
    let now = Arc::clone(&current.lock().expect("no panic under the lock"));
    let (tx, rx) = &*now;
    for band in 0..MANY {
        if let Some(tx) = tx {
            let _ = tx.try_send(band, 1);
        }
        if let Some(rx) = rx {
            let _ = rx.try_recv();
        }
    }
}

/// Two threads use the channel that a third closes, one after the other, while that is stopped.
fn frozen_in_closing(name: &str, split: Split) {
    let name = name.to_owned();
    within(1_000, move || {
        let mut fleet: Vec<_> = (0..FLEET).map(|_| split()).collect();
        let current = Arc::new(Mutex::new(Arc::clone(&fleet[0].1)));
        let mut others = Others::through(0);
        for _ in 0..2 {
            let current = Arc::clone(&current);
            others = others.and(move |_| use_what_closes(&current));
        }
        let victim = Victim::start(move |watched| {
            if fleet.is_empty() {
                fleet.extend((0..FLEET).map(|_| split()));
            }
            let (closes, rest) = fleet.pop().expect("a channel");
            *current.lock().expect("no panic under the lock") = rest;
            watched.call(|| match closes {
                Closes::Call(tx) => assert!(tx.close()),
                Closes::Receiver(rx) => drop(rx),
                Closes::Sender(tx) => drop(tx),
            });
        });
        let seen = freeze(&Plan::from_env(), &victim, &others);
        victim.finish();
        others.finish(|| {});
        assert_nobody_stalled(&name, &seen);
    });
}

#[test]
fn kind_12_g2_who_is_frozen_in_a_close_holds_up_nobody() {
    frozen_in_closing("close", || {
        let (tx, rx) = bounded(&[2; MANY]);
        (Closes::Call(tx.clone()), Arc::new((Some(tx), Some(rx))))
    });
}

#[test]
fn kind_12_g2_the_last_receiver_frozen_while_it_goes_holds_up_nobody() {
    frozen_in_closing("last receiver", || {
        let (tx, rx) = bounded(&[2; MANY]);
        (0..MANY).for_each(|band| tx.try_send(band, 3).expect("room"));
        (Closes::Receiver(rx), Arc::new((Some(tx), None)))
    });
}

#[test]
fn kind_12_g2_the_last_sender_frozen_while_it_goes_holds_up_nobody() {
    frozen_in_closing("last sender", || {
        let (tx, rx) = bounded(&[2; MANY]);
        (Closes::Sender(tx), Arc::new((None, Some(rx))))
    });
}

// ---- while somebody is parked ------------------------------------------------------------------

/// A band of two places, so that who waits for room in it parks soon.
const NARROW: usize = 1;

/// One thread parks in `waits` again and again and must be woken by `wakes`, also while a third
/// one is stopped in `turn`.
fn frozen_beside_one_who_parks(
    name: &str,
    mut turn: impl FnMut(&Watched<'_>, &Handles) + Send + 'static,
    waits: impl Fn(&Handles) + Send + 'static,
    wakes: impl Fn(&Handles) + Send + 'static,
) {
    let name = name.to_owned();
    within(1_000, move || {
        let handles = bounded(&CAPACITIES);
        let (waiter, waker, victims) = (handles.clone(), handles.clone(), handles.clone());
        let others = Others::through(0).and(move |_| waits(&waiter)).and(move |_| wakes(&waker));
        let victim = Victim::start(move |watched| turn(watched, &victims));
        let seen = freeze(&Plan::from_env(), &victim, &others);
        victim.finish();
        others.finish(|| assert!(handles.0.close()));
        assert_nobody_stalled(&name, &seen);
    });
}

/// Receives from the narrow band alone.
fn wait_for_an_item((_, rx): &Handles) {
    let _ = rx.clone().only(BandSet::only(NARROW)).recv();
}

/// Sends to the narrow band, and receives what was sent to another.
fn bring_an_item((tx, rx): &Handles) {
    let _ = (tx.try_send(0, 1), tx.try_send(NARROW, 1), rx.try_recv());
}

/// Who comes to wait beside a send that is stopped half-way neither spins nor is forgotten.
#[test]
fn kind_12_g3_who_parks_beside_a_frozen_send_sleeps_and_is_woken() {
    within(1_000, || {
        let (tx, rx) = bounded(&CAPACITIES);
        let somebody_waits = Arc::new(AtomicBool::new(false));
        let (leave_it, own) = (Arc::clone(&somebody_waits), rx.clone());
        let victim = Victim::start(move |watched| {
            let _ = watched.call(|| tx.try_send(0, 2));
            while !leave_it.load(SeqCst) && own.try_recv().is_ok() {}
        });
        let (mut dice, mut asleep, mut stops) = (Dice::new(5), 0, 0);
        while asleep < 20 {
            let stopped = victim.stop(&mut dice);
            stops += 1;
            if !stopped.is_inside() {
                continue;
            }
            let rx = rx.clone();
            // It sleeps, or it already got an item, or this never returns.
            let waiting = parked(move || rx.recv());
            asleep += usize::from(!waiting.is_finished());
            somebody_waits.store(true, SeqCst);
            drop(stopped);
            assert_eq!(join(waiting), Ok(2));
            somebody_waits.store(false, SeqCst);
        }
        victim.finish();
        println!("freeze, then park: {stops} freezes, {asleep} times a receiver slept");
    });
}

#[test]
fn kind_12_g2_who_is_frozen_in_a_send_that_wakes_holds_up_nobody() {
    frozen_beside_one_who_parks(
        "try_send beside a parked receiver",
        |watched, (tx, _)| _ = watched.call(|| tx.try_send(NARROW, 2)),
        wait_for_an_item,
        bring_an_item,
    );
}

#[test]
fn kind_12_g2_who_is_frozen_in_a_receive_that_wakes_holds_up_nobody() {
    frozen_beside_one_who_parks(
        "try_recv beside a parked sender",
        |watched, (_, rx)| _ = watched.call(|| rx.try_recv()),
        |(tx, _)| _ = tx.send(NARROW, 2),
        |(tx, rx)| _ = (tx.try_send(0, 1), rx.try_recv(), rx.try_recv()),
    );
}

#[test]
fn kind_12_g2_who_is_frozen_on_its_way_to_park_holds_up_nobody() {
    frozen_beside_one_who_parks(
        "recv_timeout beside a parked receiver",
        |watched, (_, rx)| _ = watched.call(|| rx.recv_timeout(Duration::from_nanos(1))),
        wait_for_an_item,
        bring_an_item,
    );
}

#[test]
fn kind_12_g2_who_is_frozen_on_its_way_to_wait_for_room_holds_up_nobody() {
    frozen_beside_one_who_parks(
        "send_timeout beside a parked sender",
        |watched, (tx, _)| _ = watched.call(|| tx.send_timeout(NARROW, 2, Duration::from_nanos(1))),
        |(tx, _)| _ = tx.send(NARROW, 2),
        |(_, rx)| _ = (rx.try_recv(), rx.try_recv()),
    );
}

#[test]
fn kind_12_g2_who_is_frozen_in_a_release_holds_up_nobody() {
    frozen_beside_one_who_parks(
        "release beside a parked receiver",
        |watched, (tx, _)| watched.call(|| tx.release()),
        wait_for_an_item,
        bring_an_item,
    );
}

// ---- the control -------------------------------------------------------------------------------

/// The meter sees a stall where there is one: a queue whose threads wait for a slot that is
/// claimed and not yet written. They go on once the victim does.
#[test]
fn control_g2_an_array_queue_stalls_while_one_of_its_threads_is_frozen() {
    within(1_000, || {
        let queue = Arc::new(ArrayQueue::new(4));
        let mut others = Others::through(1);
        for _ in 0..2 {
            let queue = Arc::clone(&queue);
            others = others.and(move |done| {
                let _ = queue.push(1);
                while queue.pop().is_some() {
                    done.received(0);
                }
            });
        }
        let turns = AtomicUsize::new(0);
        let victim = Victim::start(move |watched| {
            if turns.fetch_add(1, SeqCst).is_multiple_of(2) {
                let _ = watched.call(|| queue.push(2));
            } else {
                let _ = watched.call(|| queue.pop());
            }
        });
        let plan = Plan {
            stops: 5_000,
            at_least: Duration::ZERO,
            steps: 20,
            patience: Duration::from_secs(1),
            stalls: 3,
            budget: Duration::MAX,
        };
        let seen = freeze(&plan, &victim, &others);
        // Both end, so whoever stalled went on.
        victim.finish();
        others.finish(|| {});
        println!("freeze control, crossbeam's ArrayQueue: {seen}");
        assert_eq!(seen.stalled, plan.stalls, "the control did not stall: {seen}");
    });
}
