//! Deadlines: an item or room beats one that has passed, and the longest ones never pass.

mod common;

use common::{ROUNDS, join, parked, within};
use overtake_core::{RecvError, RecvTimeoutError, SendTimeoutError, bounded};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn an_item_beats_an_expired_deadline() {
    let (tx, rx) = bounded(&[2]);
    let past = Instant::now();
    for number in 0..2 {
        tx.try_send(0, number).unwrap();
    }
    assert_eq!(rx.recv_deadline(past), Ok(0));
    assert_eq!(rx.recv_timeout(Duration::ZERO), Ok(1));
    assert_eq!(rx.recv_deadline(past), Err(RecvTimeoutError::Timeout));
}

#[test]
fn room_beats_an_expired_deadline() {
    let (tx, _rx) = bounded(&[2]);
    let past = Instant::now();
    assert_eq!(tx.send_deadline(0, 1, past), Ok(()));
    assert_eq!(tx.send_timeout(0, 2, Duration::ZERO), Ok(()));
    assert_eq!(tx.send_deadline(0, 3, past), Err(SendTimeoutError::Timeout(3)));
    assert_eq!(tx.len(), 2);
}

#[test]
fn closed_beats_an_expired_deadline() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    tx.close();
    assert_eq!(tx.send_timeout(0, 2, Duration::ZERO), Err(SendTimeoutError::Closed(2)));
    assert_eq!(rx.recv_timeout(Duration::ZERO), Ok(1));
    assert_eq!(rx.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Closed));
}

#[test]
fn a_wait_is_at_least_as_long_as_asked() {
    within(10, || {
        let (tx, rx) = bounded(&[1]);
        let wait = Duration::from_millis(20);
        let start = Instant::now();
        assert_eq!(rx.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
        assert!(start.elapsed() >= wait);
        tx.try_send(0, 1).unwrap();
        let start = Instant::now();
        assert_eq!(tx.send_timeout(0, 2, wait), Err(SendTimeoutError::Timeout(2)));
        assert!(start.elapsed() >= wait);
    });
}

const FOR_EVER: [Duration; 4] = [
    Duration::MAX,
    Duration::from_secs(u64::MAX),
    Duration::from_secs(1 << 62),
    Duration::from_secs(1 << 40),
];

#[test]
fn kind_11_the_longest_receive_waits_for_its_item() {
    within(10, || {
        for timeout in FOR_EVER {
            let (tx, rx) = bounded(&[1]);
            let waiting = parked(move || rx.recv_timeout(timeout));
            tx.try_send(0, 1).unwrap();
            assert_eq!(join(waiting), Ok(1), "{timeout:?}");
        }
    });
}

#[test]
fn kind_11_the_longest_send_waits_for_its_room() {
    within(10, || {
        for timeout in FOR_EVER {
            let (tx, rx) = bounded(&[1]);
            tx.try_send(0, 1).unwrap();
            let waiting = parked(move || tx.send_timeout(0, 2, timeout));
            assert_eq!(rx.recv(), Ok(1));
            assert_eq!(join(waiting), Ok(()), "{timeout:?}");
        }
    });
}

#[test]
fn kind_11_a_send_in_the_microsecond_of_the_timeout_is_delivered_once() {
    within(120, || {
        let (tx, rx) = bounded(&[ROUNDS]);
        let (mut timed_out, mut next) = (0, 0);
        let sender = thread::spawn(move || (0..ROUNDS).for_each(|n| tx.send(0, n).unwrap()));
        while next < ROUNDS {
            match rx.recv_timeout(Duration::from_micros((next % 3) as u64)) {
                Ok(item) => {
                    assert_eq!(item, next);
                    next += 1;
                }
                Err(error) => {
                    assert_eq!(error, RecvTimeoutError::Timeout);
                    timed_out += 1;
                }
            }
        }
        join(sender);
        assert_eq!(rx.recv(), Err(RecvError::Closed), "after {timed_out} timeouts");
    });
}
