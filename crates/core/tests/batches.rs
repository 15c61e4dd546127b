//! Many items by one call: like as many single calls, in order, exactly once, and no more than fit.

mod common;

use common::{Dice, Tally, join, within};
use overtake_core::{BandSet, Receiver, TryRecvError, TrySendManyError, bounded};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::thread;

/// The most that one claim takes, as the docs say.
fn longest_run(capacity: usize) -> usize {
    (capacity / 2).clamp(1, 32)
}

fn queue<T>(items: impl IntoIterator<Item = T>) -> VecDeque<T> {
    items.into_iter().collect()
}

#[test]
fn what_does_not_fit_stays_in_order() {
    for capacity in [1, 2, 3, 5, 31, 32, 33, 64, 100, 1_000] {
        let (tx, rx) = bounded(&[1, capacity]);
        for lap in 0..3 {
            let mut items = queue(0..capacity + 5);
            assert_eq!(tx.try_send_many(1, &mut items), Ok(capacity), "lap {lap}");
            assert_eq!(items, queue(capacity..capacity + 5));
            assert_eq!(tx.try_send_many(1, &mut items), Err(TrySendManyError::Full));
            assert_eq!((items.len(), tx.len_of(1)), (5, capacity));
            let mut received = Vec::new();
            assert_eq!(rx.try_recv_many(&mut received, usize::MAX), Ok(capacity));
            assert_eq!(received, Vec::from_iter(0..capacity));
            assert_eq!(rx.try_recv_many(&mut received, 1), Err(TryRecvError::Empty));
        }
    }
}

#[test]
fn the_limit_holds_and_what_is_there_is_kept() {
    let (tx, rx) = bounded(&[8, 8]);
    assert_eq!(tx.try_send_many(0, &mut VecDeque::new()), Ok(0));
    tx.try_send_many(1, &mut queue([10, 11, 12])).unwrap();
    tx.try_send_many(0, &mut queue([1, 2])).unwrap();
    let mut items = vec![(9, 99)];
    assert_eq!(rx.try_recv_many_with_band(&mut items, 0), Ok(0));
    assert_eq!(rx.try_recv_many_with_band(&mut items, 4), Ok(4));
    assert_eq!(items, [(9, 99), (0, 1), (0, 2), (1, 10), (1, 11)]);
    let upper = rx.clone().only(BandSet::only(0));
    assert_eq!(upper.try_recv_many(&mut Vec::new(), 5), Err(TryRecvError::Empty));
    assert_eq!(rx.try_recv(), Ok(12));
}

#[test]
fn a_closed_channel_takes_no_batch_and_gives_all_out() {
    let (tx, rx) = bounded(&[4]);
    assert_eq!(tx.try_send_many(0, &mut queue(0..3)), Ok(3));
    tx.close();
    let mut items = queue([7, 8]);
    assert_eq!(tx.try_send_many(0, &mut items), Err(TrySendManyError::Closed));
    assert_eq!((items, tx.try_send_many(0, &mut VecDeque::new())), (queue([7, 8]), Ok(0)));
    let mut received = Vec::new();
    assert_eq!(rx.try_recv_many(&mut received, 9), Ok(3));
    assert_eq!(received, [0, 1, 2]);
    assert_eq!(rx.try_recv_many(&mut received, 9), Err(TryRecvError::Closed));
    assert_eq!(rx.try_recv_many(&mut received, 0), Ok(0));
}

#[test]
fn a_band_that_is_not_there_is_named() {
    let (tx, _rx) = bounded::<u8>(&[1, 1]);
    let tx = std::panic::AssertUnwindSafe(tx);
    let call = || tx.try_send_many(2, &mut VecDeque::new());
    let panic = std::panic::catch_unwind(call).expect_err("no band 2");
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "band 2 of a channel with 2 bands");
}

#[test]
fn items_of_no_size_are_counted() {
    let (tx, rx) = bounded(&[5]);
    let mut items = queue([(); 7]);
    assert_eq!((tx.try_send_many(0, &mut items), items.len()), (Ok(5), 2));
    let mut received = Vec::new();
    assert_eq!(rx.try_recv_many(&mut received, 4), Ok(4));
    assert_eq!((received.len(), rx.len()), (4, 1));
}

#[test]
fn every_item_is_dropped_once_wherever_it_stayed() {
    let tally = Tally::default();
    let (tx, rx) = bounded(&[6, 2]);
    let mut items = queue((0..9).map(|_| tally.item()));
    assert_eq!(tx.try_send_many(0, &mut items), Ok(6));
    assert_eq!(tx.try_send_many(1, &mut items), Ok(2));
    let mut received = Vec::new();
    assert_eq!(rx.try_recv_many(&mut received, 4), Ok(4));
    assert_eq!(tally.dropped(), 0);
    drop(received);
    assert_eq!(tally.dropped(), 4);
    drop((tx, rx));
    assert_eq!(tally.dropped(), 8, "what was inside");
    drop(items);
    tally.assert_all_dropped_once();
}

// ---- beside other threads ------------------------------------------------------------------------

/// Sends numbers of one sender in batches of all sizes up to `most`.
fn send_all(tx: &overtake_core::Sender<(usize, usize)>, sender: usize, count: usize, most: usize) {
    let mut dice = Dice::new(sender as u64);
    let mut next = 0;
    let mut items = VecDeque::new();
    while next < count || !items.is_empty() {
        while next < count && items.len() <= dice.below(most) {
            items.push_back((sender, next));
            next += 1;
        }
        if tx.try_send_many(0, &mut items).is_err() {
            thread::yield_now();
        }
    }
}

/// Receives until the channel is closed; fails where one sender's numbers are out of order.
fn receive_all(rx: &Receiver<(usize, usize)>, senders: usize, most: usize) -> Vec<(usize, usize)> {
    let mut dice = Dice::new(99);
    let mut all = Vec::new();
    loop {
        match rx.try_recv_many(&mut all, 1 + dice.below(most)) {
            Ok(_) => {}
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Closed) => break,
        }
    }
    for sender in 0..senders {
        let of_one = all.iter().filter(|(from, _)| *from == sender);
        assert!(of_one.is_sorted(), "sender {sender} is out of order");
    }
    all
}

fn many_threads(capacity: usize, senders: usize, receivers: usize, count: usize) {
    let (tx, rx) = bounded(&[capacity]);
    let sending: Vec<_> = (0..senders)
        .map(|sender| {
            let tx = tx.clone();
            thread::spawn(move || send_all(&tx, sender, count, 2 * longest_run(capacity) + 1))
        })
        .collect();
    let receiving: Vec<_> = (0..receivers)
        .map(|_| {
            let rx = rx.clone();
            thread::spawn(move || receive_all(&rx, senders, 2 * longest_run(capacity) + 1))
        })
        .collect();
    sending.into_iter().for_each(join);
    drop(tx);
    let mut all: Vec<_> = receiving.into_iter().flat_map(join).collect();
    all.sort_unstable();
    let expected = (0..senders).flat_map(|sender| (0..count).map(move |next| (sender, next)));
    assert!(all.into_iter().eq(expected), "every item is received once");
    assert!(rx.is_empty());
}

#[test]
fn batches_of_many_threads_stay_in_order() {
    within(120, || {
        let count = if cfg!(miri) { 20 } else { 1_000 };
        for capacity in [1, 2, 3, 8, 100] {
            for (senders, receivers) in [(1, 1), (2, 2), (3, 1), (1, 3)] {
                many_threads(capacity, senders, receivers, count);
            }
        }
    });
}

/// The capacity is exact again after batches that met each other.
#[test]
fn no_room_is_lost_between_batches() {
    within(120, || {
        for capacity in [1, 2, 4, 7] {
            let (tx, rx) = bounded(&[capacity]);
            for _ in 0..if cfg!(miri) { 5 } else { 2_000 } {
                let threads = [0, 1].map(|side| {
                    let (tx, rx) = (tx.clone(), rx.clone());
                    thread::spawn(move || {
                        let _ = tx.try_send_many(0, &mut queue([side; 3]));
                        let _ = rx.try_recv_many(&mut Vec::new(), 2);
                    })
                });
                threads.into_iter().for_each(join);
                while rx.try_recv_many(&mut Vec::new(), 3).is_ok() {}
                let mut items = queue(vec![0; capacity + 1]);
                assert_eq!(tx.try_send_many(0, &mut items), Ok(capacity));
                assert_eq!(rx.try_recv_many(&mut Vec::new(), capacity), Ok(capacity));
            }
        }
    });
}

// ---- against the specification --------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Op {
    Send { band: usize, count: usize },
    SendOne { band: usize },
    Receive { limit: usize },
    ReceiveOne,
    Close,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..4_usize, 0..70_usize).prop_map(|(band, count)| Op::Send { band, count }),
        4 => (0..4_usize).prop_map(|band| Op::SendOne { band }),
        8 => (0..90_usize).prop_map(|limit| Op::Receive { limit }),
        4 => Just(Op::ReceiveOne),
        1 => Just(Op::Close),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 300 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// A batch is as many single calls, until the first that says no.
    #[test]
    fn batches_follow_the_specification(
        capacities in vec(1..=80_usize, 1..=4),
        ops in vec(op(), 0..60),
    ) {
        let (tx, rx) = bounded(&capacities);
        let mut bands = vec![VecDeque::new(); capacities.len()];
        let mut closed = false;
        let mut number = 0..;
        for op in ops {
            match op {
                Op::Send { band, count } => {
                    let band = band % bands.len();
                    let mut items = queue(number.by_ref().take(count));
                    let room = if closed { 0 } else { capacities[band] - bands[band].len() };
                    let fits: Vec<_> = items.iter().copied().take(room).collect();
                    let rest = queue(items.iter().copied().skip(room));
                    let expected = match fits.len() {
                        0 if count > 0 && closed => Err(TrySendManyError::Closed),
                        0 if count > 0 => Err(TrySendManyError::Full),
                        sent => Ok(sent),
                    };
                    prop_assert_eq!(tx.try_send_many(band, &mut items), expected);
                    prop_assert_eq!(items, rest);
                    bands[band].extend(fits);
                }
                Op::SendOne { band } => {
                    let band = band % bands.len();
                    let item = number.next().unwrap_or(0);
                    let fits = !closed && bands[band].len() < capacities[band];
                    prop_assert_eq!(tx.try_send(band, item).is_ok(), fits);
                    if fits {
                        bands[band].push_back(item);
                    }
                }
                Op::Receive { limit } => {
                    let mut expected = Vec::new();
                    for (band, items) in bands.iter_mut().enumerate() {
                        let most = (limit - expected.len()).min(items.len());
                        expected.extend(items.drain(..most).map(|item| (band, item)));
                    }
                    let mut received = Vec::new();
                    let said = rx.try_recv_many_with_band(&mut received, limit);
                    prop_assert_eq!(said.is_err(), limit > 0 && expected.is_empty());
                    prop_assert_eq!(said.unwrap_or(0), expected.len());
                    prop_assert_eq!(received, expected);
                }
                Op::ReceiveOne => {
                    let mut full = bands.iter_mut().enumerate().filter(|(_, items)| !items.is_empty());
                    let expected = full.next().and_then(|(band, items)| Some((band, items.pop_front()?)));
                    prop_assert_eq!(rx.try_recv_with_band().ok(), expected);
                }
                Op::Close => {
                    tx.close();
                    closed = true;
                }
            }
            for (band, items) in bands.iter().enumerate() {
                prop_assert_eq!(tx.len_of(band), items.len());
            }
        }
    }
}
