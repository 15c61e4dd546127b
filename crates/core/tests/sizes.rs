//! What the snapshots may say while others are at work, and that they are exact at rest.

mod common;

use common::{ROUNDS, join, within};
use overtake_core::{Receiver, Sender, TryRecvError, bounded};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

const CAPACITIES: [usize; 3] = [1, 4, 7];

fn assert_within_capacity(tx: &Sender<usize>, rx: &Receiver<usize>) {
    for (band, capacity) in CAPACITIES.into_iter().enumerate() {
        assert!(tx.len_of(band) <= capacity);
        assert_eq!(rx.capacity_of(band), capacity);
        // Stale as soon as they are said; only that they can be asked.
        let _ = (tx.is_full(band), rx.is_empty());
    }
    assert!(rx.len() <= CAPACITIES.iter().sum());
}

fn assert_exact(tx: &Sender<usize>, expected: [usize; 3]) {
    assert_eq!([0, 1, 2].map(|band| tx.len_of(band)), expected);
    assert_eq!(tx.len(), expected.iter().sum::<usize>());
    assert_eq!(tx.is_empty(), expected == [0; 3]);
    for (band, capacity) in CAPACITIES.into_iter().enumerate() {
        assert_eq!(tx.is_full(band), expected[band] == capacity);
    }
}

#[test]
fn kind_17_sizes_are_exact_at_rest() {
    let (tx, rx) = bounded(&CAPACITIES);
    assert_exact(&tx, [0, 0, 0]);
    tx.try_send(0, 1).unwrap();
    assert_exact(&tx, [1, 0, 0]);
    for number in 0..7 {
        tx.try_send(2, number).unwrap();
    }
    assert_exact(&tx, [1, 0, 7]);
    rx.recv().unwrap();
    rx.recv().unwrap();
    assert_exact(&tx, [0, 0, 6]);
    tx.close();
    assert_exact(&tx, [0, 0, 6]);
}

#[test]
fn kind_17_sizes_stay_within_bounds_under_fire() {
    within(120, || {
        let (tx, rx) = bounded(&CAPACITIES);
        let stop = Arc::new(AtomicBool::new(false));
        let senders: Vec<_> = (0..3)
            .map(|sender| {
                let (tx, stop) = (tx.clone(), Arc::clone(&stop));
                thread::spawn(move || {
                    let mut accepted = 0;
                    for number in (0..).take_while(|_| !stop.load(Ordering::Relaxed)) {
                        accepted += usize::from(tx.try_send((number + sender) % 3, number).is_ok());
                    }
                    accepted
                })
            })
            .collect();
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let (rx, stop) = (rx.clone(), Arc::clone(&stop));
                thread::spawn(move || {
                    let mut received = 0;
                    while !stop.load(Ordering::Relaxed) {
                        received += (0..rx.len()).filter(|_| rx.try_recv().is_ok()).count();
                    }
                    received
                })
            })
            .collect();
        for _ in 0..ROUNDS * 5 {
            assert_within_capacity(&tx, &rx);
        }
        stop.store(true, Ordering::Relaxed);
        let accepted: usize = senders.into_iter().map(join).sum();
        let received: usize = receivers.into_iter().map(join).sum();
        assert_eq!(rx.len(), accepted - received);
        assert_eq!(rx.try_iter().count(), accepted - received);
        assert_exact(&tx, [0, 0, 0]);
    });
}

/// Each thread makes room before it sends, so nobody may be told that there is none.
#[test]
fn kind_14_room_that_one_made_is_never_full() {
    within(120, || {
        let (tx, rx) = bounded(&[256]);
        (0..256).for_each(|number| tx.try_send(0, number).unwrap());
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (tx, rx) = (tx.clone(), rx.clone());
                thread::spawn(move || {
                    for _ in 0..ROUNDS {
                        let item = rx.try_recv().expect("never empty");
                        tx.try_send(0, item).expect("never full");
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(join);
        let mut rest: Vec<_> = rx.try_iter().collect();
        rest.sort_unstable();
        assert_eq!(rest, (0..256).collect::<Vec<_>>());
    });
}

/// Each thread sends before it takes, so in a channel of one band nobody may find it empty.
#[test]
fn kind_14_an_item_that_one_sent_leaves_no_empty_band() {
    within(120, || {
        let (tx, rx) = bounded(&[4]);
        let barrier = Arc::new(Barrier::new(4));
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (tx, rx, start) = (tx.clone(), rx.clone(), Arc::clone(&barrier));
                thread::spawn(move || {
                    start.wait();
                    (0..ROUNDS).for_each(|_| {
                        tx.try_send(0, thread).expect("room for one of each");
                        rx.try_recv().expect("an item for each");
                    });
                })
            })
            .collect();
        threads.into_iter().for_each(join);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    });
}
