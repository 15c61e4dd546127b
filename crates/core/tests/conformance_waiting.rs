//! What users of other bounded channels take for granted, asked of this one in three ways. Here:
//! calls that wait for what another thread does. `conformance_limits` says what was left out.

mod common;
mod ways;

use common::{join, parked};
use overtake_core::{RecvError, RecvTimeoutError, SendError, SendTimeoutError};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;
use ways::{Way, assert_all, in_every_way, poll};

in_every_way! {
    a_receive_waits_for_its_item,
    a_send_waits_for_its_room,
    a_timed_receive_gets_what_comes_in_time,
    a_timed_send_gets_the_room_that_comes_in_time,
    two_threads_that_never_wait_get_everything_across,
    timeouts_beside_sends_lose_nothing,
    timeouts_beside_receives_lose_nothing,
    closing_wakes_every_receiver,
    closing_wakes_every_sender,
    the_last_receiver_to_go_ends_a_busy_sender,
    the_last_receiver_to_go_ends_busy_senders,
    the_last_sender_to_go_ends_a_busy_receiver,
    a_receiver_clone_that_goes_changes_nothing,
    a_sender_clone_that_goes_changes_nothing,
    what_a_drained_close_left_reaches_those_who_are_parked,
    a_close_after_one_of_two_was_served_wakes_the_other,
    one_wake_leaves_no_second_receiver_behind,
    draining_wakes_each_sender_that_waits,
    a_send_beside_the_last_receivers_end_has_one_answer,
    a_receive_beside_the_last_senders_end_gets_the_item,
}

const ROUNDS: usize = 300;
const FOR_EVER: Duration = Duration::MAX;

fn a_receive_waits_for_its_item(way: Way) {
    let (tx, rx) = way.channel(1);
    for number in 0..20 {
        let rx = rx.clone();
        let waiting = parked(move || rx.recv());
        tx.send(number).unwrap();
        assert_eq!(join(waiting), Ok(number));
    }
}

fn a_send_waits_for_its_room(way: Way) {
    let (tx, rx) = way.channel(1);
    let room = way.room(1);
    (0..room).for_each(|number| tx.try_send(number).unwrap());
    let waiting = parked(move || (tx.send(room), tx));
    assert_eq!(rx.recv(), Ok(0));
    let (sent, tx) = join(waiting);
    assert_eq!(sent, Ok(()));
    drop(tx);
    way.assert_all_in_order(&[0].into_iter().chain(rx).collect::<Vec<_>>(), room + 1);
}

fn a_timed_receive_gets_what_comes_in_time(way: Way) {
    let (tx, rx) = way.channel(1);
    let waiting = parked(move || (rx.recv_timeout(FOR_EVER), rx.recv_timeout(FOR_EVER)));
    tx.send(1).unwrap();
    drop(tx);
    assert_eq!(join(waiting), (Ok(1), Err(RecvTimeoutError::Closed)));
}

fn a_timed_send_gets_the_room_that_comes_in_time(way: Way) {
    let (tx, rx) = way.channel(1);
    (0..way.room(1)).for_each(|_| tx.try_send(1).unwrap());
    let waiting = parked(move || {
        let sent = tx.send_timeout(2, FOR_EVER);
        // Spread: there the next band has been full all the time.
        (0..).find_map(|_| tx.send_timeout(3, FOR_EVER).err()).map(|error| (sent, error))
    });
    assert_eq!(rx.recv(), Ok(1));
    drop(rx);
    let (sent, refused) = join(waiting).expect("refused at last");
    assert!(sent == Ok(()) || sent == Err(SendTimeoutError::Closed(2)), "{sent:?}");
    assert!(refused == SendTimeoutError::Closed(3));
}

fn two_threads_that_never_wait_get_everything_across(way: Way) {
    const ITEMS: usize = 5_000;
    let (tx, rx) = way.channel(3);
    let sender = thread::spawn(move || {
        for number in 0..ITEMS {
            while tx.try_send(number).is_err() {
                thread::yield_now();
            }
        }
    });
    let received: Vec<_> = std::iter::from_fn(|| poll(&rx)).collect();
    way.assert_all_in_order(&received, ITEMS);
    join(sender);
}

fn timeouts_beside_sends_lose_nothing(way: Way) {
    const ITEMS: usize = 1_000;
    let (tx, rx) = way.channel(2);
    let sender = thread::spawn(move || (0..ITEMS).for_each(|number| tx.send(number).unwrap()));
    let mut received = Vec::new();
    loop {
        match rx.recv_timeout(Duration::from_micros(received.len() as u64 % 4)) {
            Ok(number) => received.push(number),
            Err(RecvTimeoutError::Timeout) => {}
            Err(error) => break assert_eq!(error, RecvTimeoutError::Closed),
        }
    }
    way.assert_all_in_order(&received, ITEMS);
    join(sender);
}

fn timeouts_beside_receives_lose_nothing(way: Way) {
    const ITEMS: usize = 1_000;
    let (tx, rx) = way.channel(1);
    let receiver = thread::spawn(move || rx.into_iter().collect::<Vec<_>>());
    for number in 0..ITEMS {
        while let Err(error) = tx.send_timeout(number, Duration::from_micros(number as u64 % 4)) {
            assert!(error == SendTimeoutError::Timeout(number));
        }
    }
    drop(tx);
    way.assert_all_in_order(&join(receiver), ITEMS);
}

fn closing_wakes_every_receiver(way: Way) {
    for by_drop in [true, false] {
        let (tx, rx) = way.channel::<u8>(1);
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let rx = rx.clone();
                parked(move || rx.recv())
            })
            .collect();
        if by_drop {
            drop(tx)
        } else {
            assert!(rx.close())
        }
        assert!(waiting.into_iter().all(|one| join(one) == Err(RecvError::Closed)));
    }
}

fn closing_wakes_every_sender(way: Way) {
    for by_drop in [true, false] {
        let (tx, rx) = way.channel(1);
        (0..way.room(1)).for_each(|_| tx.try_send(9).unwrap());
        let waiting: Vec<_> = (0..3)
            .map(|number| {
                let tx = tx.clone();
                parked(move || tx.send(number))
            })
            .collect();
        if by_drop {
            drop(rx)
        } else {
            assert!(rx.close())
        }
        let answers: Vec<_> = waiting.into_iter().map(join).collect();
        assert_eq!(answers, [Err(SendError(0)), Err(SendError(1)), Err(SendError(2))]);
    }
}

fn the_last_receiver_to_go_ends_a_busy_sender(way: Way) {
    for round in 0..ROUNDS / 10 {
        let (tx, rx) = way.channel(2);
        let sender = thread::spawn(move || (0..).find(|&number| tx.send(number).is_err()));
        let received: Vec<_> = rx.iter().take(round).collect();
        drop(rx);
        let refused = join(sender).expect("ends only refused");
        way.assert_in_order(&received);
        assert!(refused >= round);
    }
}

fn the_last_receiver_to_go_ends_busy_senders(way: Way) {
    for round in 0..ROUNDS / 10 {
        let (tx, rx) = way.channel(2);
        let senders: Vec<_> = (0..3)
            .map(|_| {
                let tx = tx.clone();
                thread::spawn(move || while tx.send(1).is_ok() {})
            })
            .collect();
        drop(tx);
        assert_eq!(rx.iter().take(round).count(), round);
        drop(rx);
        senders.into_iter().for_each(join);
    }
}

fn the_last_sender_to_go_ends_a_busy_receiver(way: Way) {
    for round in 0..ROUNDS / 10 {
        let (tx, rx) = way.channel(2);
        let other = tx.clone();
        let receiver = thread::spawn(move || rx.into_iter().sum::<usize>());
        (0..round).for_each(|_| tx.send(1).unwrap());
        drop(tx);
        (0..round).for_each(|_| other.send(1).unwrap());
        drop(other);
        assert_eq!(join(receiver), 2 * round);
    }
}

fn a_receiver_clone_that_goes_changes_nothing(way: Way) {
    let (tx, rx) = way.channel(1);
    for number in 0..100 {
        let clone = rx.clone();
        let going = thread::spawn(move || drop(clone));
        tx.send(number).unwrap();
        assert_eq!(rx.recv(), Ok(number));
        join(going);
    }
    assert!(!tx.is_closed());
}

fn a_sender_clone_that_goes_changes_nothing(way: Way) {
    let (tx, rx) = way.channel(1);
    for number in 0..100 {
        let clone = tx.clone();
        let going = thread::spawn(move || clone.send(number));
        assert_eq!(rx.recv(), Ok(number));
        assert_eq!(join(going), Ok(()));
    }
    assert!(!rx.is_closed());
}

fn what_a_drained_close_left_reaches_those_who_are_parked(way: Way) {
    for _ in 0..ROUNDS / 10 {
        let (tx, rx) = way.channel(4);
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let rx = rx.clone();
                parked(move || rx.into_iter().collect::<Vec<_>>())
            })
            .collect();
        (0..4).for_each(|number| tx.send(number).unwrap());
        drop(tx);
        assert_all(&waiting.into_iter().flat_map(join).collect::<Vec<_>>(), 4);
    }
}

fn a_close_after_one_of_two_was_served_wakes_the_other(way: Way) {
    for _ in 0..ROUNDS / 10 {
        let (tx, rx) = way.channel(1);
        let other = rx.clone();
        let waiting = [parked(move || rx.recv()), parked(move || other.recv())];
        tx.send(1).unwrap();
        assert!(tx.close());
        let mut answers = waiting.map(join);
        answers.sort_unstable_by_key(Result::is_err);
        assert_eq!(answers, [Ok(1), Err(RecvError::Closed)]);
    }
}

/// Two items at once for two who are parked: whoever wakes first must not keep both wakes.
fn one_wake_leaves_no_second_receiver_behind(way: Way) {
    for _ in 0..ROUNDS / 10 {
        let (tx, rx) = way.channel(2);
        let other = rx.clone();
        let waiting = [parked(move || rx.recv()), parked(move || other.recv())];
        tx.try_send(0).unwrap();
        tx.try_send(1).unwrap();
        let received = waiting.map(|one| join(one).unwrap());
        assert_all(&received, 2);
    }
}

fn draining_wakes_each_sender_that_waits(way: Way) {
    for _ in 0..ROUNDS / 10 {
        let (tx, rx) = way.channel(1);
        let room = way.room(1);
        (0..room).for_each(|number| tx.try_send(number).unwrap());
        let waiting: Vec<_> = (0..2)
            .map(|more| {
                let tx = tx.clone();
                parked(move || tx.send(room + more))
            })
            .collect();
        drop(tx);
        let received: Vec<_> = rx.iter().collect();
        assert_all(&received, room + 2);
        assert!(waiting.into_iter().all(|one| join(one) == Ok(())));
    }
}

fn a_send_beside_the_last_receivers_end_has_one_answer(way: Way) {
    for _ in 0..ROUNDS {
        let (tx, rx) = way.channel(1);
        let (item, start) = (Arc::new(()), Arc::new(Barrier::new(2)));
        let (sent, begin) = (Arc::clone(&item), Arc::clone(&start));
        let sender = thread::spawn(move || {
            begin.wait();
            tx.send(sent).map_err(|SendError(back)| assert!(Arc::strong_count(&back) >= 2))
        });
        start.wait();
        drop(rx);
        // Either answer will do; there is one, and the item is gone.
        let _ = join(sender);
        assert_eq!(Arc::strong_count(&item), 1);
    }
}

fn a_receive_beside_the_last_senders_end_gets_the_item(way: Way) {
    for _ in 0..ROUNDS {
        let (tx, rx) = way.channel(1);
        let start = Arc::new(Barrier::new(2));
        let begin = Arc::clone(&start);
        let receiver = thread::spawn(move || {
            begin.wait();
            (rx.recv(), rx.recv())
        });
        start.wait();
        tx.send(1).unwrap();
        drop(tx);
        assert_eq!(join(receiver), (Ok(1), Err(RecvError::Closed)));
    }
}
