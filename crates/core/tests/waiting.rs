//! G3: nobody stays parked beside an item it may take, or beside room it waits for.

mod common;

use common::{ROUNDS, join, parked, within};
use overtake_core::{BandSet, Receiver, RecvError, RecvTimeoutError, Sender, bounded};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

// ---- items -------------------------------------------------------------------------------------

#[test]
fn a_parked_receiver_gets_the_item() {
    within(10, || {
        for band in 0..3 {
            let (tx, rx) = bounded(&[1; 3]);
            let waiting = parked(move || rx.recv_with_band());
            tx.try_send(band, 'x').unwrap();
            assert_eq!(join(waiting), Ok((band, 'x')));
        }
    });
}

#[test]
fn a_wake_goes_to_a_receiver_that_can_use_it() {
    within(10, || {
        let (tx, rx) = bounded(&[1; 3]);
        let waiting: Vec<_> = (0..3)
            .map(|band| {
                let rx = rx.clone().only(BandSet::only(band));
                parked(move || rx.recv())
            })
            .collect();
        // The most senior waits for band 0, yet each item finds its own.
        for band in (0..3).rev() {
            tx.try_send(band, band).unwrap();
        }
        for (band, receiver) in waiting.into_iter().enumerate() {
            assert_eq!(join(receiver), Ok(band));
        }
    });
}

#[test]
fn every_item_wakes_one_more() {
    const RECEIVERS: usize = 8;
    within(10, || {
        let (tx, rx) = bounded(&[RECEIVERS]);
        let waiting: Vec<_> = (0..RECEIVERS)
            .map(|_| {
                let rx = rx.clone();
                parked(move || rx.recv().unwrap())
            })
            .collect();
        for number in 0..RECEIVERS {
            tx.try_send(0, number).unwrap();
        }
        let mut received: Vec<_> = waiting.into_iter().map(join).collect();
        received.sort_unstable();
        assert_eq!(received, (0..RECEIVERS).collect::<Vec<_>>());
    });
}

/// A receiver told of the lower band may take the urgent item; the other must still be woken.
#[test]
fn a_wake_that_was_not_used_is_passed_on() {
    within(120, || {
        let (tx, rx) = bounded(&[1, 2]);
        for _ in 0..ROUNDS / 100 {
            let (both, lower) = (rx.clone(), rx.clone().only(BandSet::only(1)));
            let both = parked(move || both.recv().unwrap());
            let lower = parked(move || lower.recv().unwrap());
            tx.try_send(1, "bulk").unwrap();
            tx.try_send(0, "urgent").unwrap();
            if join(both) == "bulk" {
                assert_eq!(rx.try_recv(), Ok("urgent"));
                tx.try_send(1, "bulk").unwrap();
            }
            assert_eq!(join(lower), "bulk");
        }
    });
}

// ---- room --------------------------------------------------------------------------------------

#[test]
fn a_parked_sender_gets_the_room() {
    within(10, || {
        let (tx, rx) = bounded(&[1, 1]);
        tx.try_send(1, 'a').unwrap();
        let waiting = parked(move || tx.send(1, 'b'));
        assert_eq!(rx.try_recv(), Ok('a'));
        assert_eq!(join(waiting), Ok(()));
        assert_eq!(rx.try_recv(), Ok('b'));
    });
}

/// One place, freed again and again: whoever is told of it is the only one who is.
#[test]
fn parked_senders_get_room_in_the_order_of_waiting() {
    within(120, || {
        for _ in 0..100 {
            let (tx, rx) = bounded(&[1]);
            tx.try_send(0, 0).unwrap();
            let waiting: Vec<_> = (1..=6)
                .map(|number| {
                    let tx = tx.clone();
                    parked(move || tx.send(0, number))
                })
                .collect();
            let received: Vec<_> = (0..=6).map(|_| rx.recv().unwrap()).collect();
            assert_eq!(received, [0, 1, 2, 3, 4, 5, 6]);
            for sender in waiting {
                assert_eq!(join(sender), Ok(()));
            }
        }
    });
}

#[test]
fn room_wakes_a_sender_of_that_band() {
    within(10, || {
        let (tx, rx) = bounded(&[1, 1]);
        tx.try_send(0, "first urgent").unwrap();
        tx.try_send(1, "first bulk").unwrap();
        let urgent = tx.clone();
        let bulk = parked(move || tx.send(1, "second bulk"));
        let urgent = parked(move || urgent.send(0, "second urgent"));
        // The bulk sender is senior, but this room is not its own.
        assert_eq!(rx.recv(), Ok("first urgent"));
        assert_eq!(join(urgent), Ok(()));
        assert!(!bulk.is_finished());
        assert_eq!(rx.recv(), Ok("second urgent"));
        assert_eq!(rx.recv(), Ok("first bulk"));
        assert_eq!(join(bulk), Ok(()));
    });
}

// ---- first waits -------------------------------------------------------------------------------

/// A channel whose notifier never had a waiter, raced from a barrier.
fn race<R: Send + 'static>(
    capacity: usize,
    filled: usize,
    ours: impl FnOnce(Sender<usize>) -> R + Send + 'static,
    theirs: impl FnOnce(Receiver<usize>),
) -> R {
    let (tx, rx) = bounded(&[1, capacity]);
    for number in 0..filled {
        tx.try_send(1, number).unwrap();
    }
    let barrier = Arc::new(Barrier::new(2));
    let start = Arc::clone(&barrier);
    let thread = thread::spawn(move || {
        start.wait();
        ours(tx)
    });
    barrier.wait();
    theirs(rx);
    join(thread)
}

#[test]
fn kind_01_the_first_receiver_ever_is_woken() {
    within(120, || {
        for round in 0..ROUNDS {
            let tx = race(
                1,
                0,
                move |tx| (tx.try_send(1, round), tx),
                move |rx| {
                    assert_eq!(rx.recv(), Ok(round));
                },
            );
            assert_eq!(tx.0, Ok(()));
        }
    });
}

#[test]
fn kind_01_the_first_sender_ever_is_woken() {
    within(120, || {
        for _ in 0..ROUNDS {
            let sent = race(
                1,
                1,
                |tx| tx.send(1, 1),
                |rx| {
                    assert_eq!(rx.try_recv(), Ok(0));
                    assert_eq!(rx.recv(), Ok(1));
                },
            );
            assert_eq!(sent, Ok(()));
        }
    });
}

#[test]
fn kind_01_four_first_receivers_are_woken() {
    within(120, || {
        for _ in 0..ROUNDS / 10 {
            let (tx, rx) = bounded(&[1, 4]);
            let barrier = Arc::new(Barrier::new(5));
            let receivers: Vec<_> = (0..4)
                .map(|_| {
                    let (rx, start) = (rx.clone(), Arc::clone(&barrier));
                    thread::spawn(move || {
                        start.wait();
                        rx.recv().unwrap()
                    })
                })
                .collect();
            barrier.wait();
            for number in 0..4 {
                tx.try_send(1, number).unwrap();
            }
            assert_eq!(receivers.into_iter().map(join).sum::<usize>(), 6);
        }
    });
}

// ---- release -----------------------------------------------------------------------------------

#[test]
fn release_frees_all_who_wait_and_nobody_later() {
    within(10, || {
        let (tx, rx) = bounded(&[1, 1]);
        let waiting: Vec<_> = [BandSet::ALL, BandSet::only(0), BandSet::only(1), BandSet::EMPTY]
            .map(|set| {
                let rx = rx.clone().only(set);
                parked(move || rx.recv())
            })
            .into();
        tx.release();
        for receiver in waiting {
            assert_eq!(join(receiver), Err(RecvError::Released));
        }
        let later = rx.clone();
        let later = parked(move || later.recv());
        assert_eq!(tx.try_send(0, 'a'), Ok(()));
        assert_eq!(join(later), Ok('a'));
        assert!(!rx.is_closed());
    });
}

#[test]
fn release_frees_timed_waits_and_iterators() {
    within(10, || {
        let (tx, rx) = bounded::<u8>(&[1]);
        let (timed, iterating) = (rx.clone(), rx.clone());
        let timed = parked(move || timed.recv_timeout(Duration::MAX));
        let iterating = parked(move || iterating.iter().next());
        rx.release();
        assert_eq!(join(timed), Err(RecvTimeoutError::Released));
        assert_eq!(join(iterating), None);
        drop(tx);
    });
}

#[test]
fn release_wakes_no_sender() {
    within(10, || {
        let (tx, rx) = bounded(&[1]);
        tx.try_send(0, 1).unwrap();
        let waiting = parked(move || tx.send(0, 2));
        rx.release();
        assert_eq!(rx.try_recv(), Ok(1));
        assert_eq!(join(waiting), Ok(()));
        assert_eq!(rx.try_recv(), Ok(2));
    });
}

/// Released beats an item: who waited at the release takes nothing, whatever came just before.
#[test]
fn a_release_and_an_item_at_once_lose_nothing() {
    within(120, || {
        let (tx, rx) = bounded(&[1]);
        let mut released = 0;
        for round in 0..ROUNDS / 100 {
            let waiting = rx.clone();
            let waiting = parked(move || waiting.recv());
            tx.try_send(0, round).unwrap();
            tx.release();
            match join(waiting) {
                Ok(item) => assert_eq!(item, round),
                Err(error) => {
                    assert_eq!(error, RecvError::Released);
                    assert_eq!(rx.try_recv(), Ok(round));
                    released += 1;
                }
            }
        }
        assert!(rx.is_empty(), "{released} releases");
    });
}

#[test]
fn an_item_that_comes_after_the_release_stays_inside() {
    within(10, || {
        let (tx, rx) = bounded(&[1]);
        let waiting = rx.clone();
        let waiting = parked(move || waiting.recv());
        tx.release();
        tx.try_send(0, 1).unwrap();
        assert_eq!(join(waiting), Err(RecvError::Released));
        assert_eq!(rx.try_recv(), Ok(1));
    });
}

#[test]
fn a_release_while_nobody_waits_is_forgotten() {
    let (tx, rx) = bounded(&[1]);
    tx.release();
    assert_eq!(rx.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    tx.try_send(0, 1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
}
