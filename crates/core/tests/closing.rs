//! G4 across closing: what was accepted comes out, what was refused comes back, and everybody
//! who waits is told.

mod common;

use common::{Dice, ROUNDS, join, parked, within};
use overtake_core::{
    Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
    bounded,
};
use std::thread;
use std::time::Duration;

#[test]
fn close_keeps_what_is_inside_and_refuses_the_rest() {
    let (tx, rx) = bounded(&[2, 2]);
    tx.try_send(1, 'b').unwrap();
    tx.try_send(0, 'a').unwrap();
    assert!(tx.close());
    assert!(tx.is_closed() && rx.is_closed());
    assert!(tx.try_send(0, 'c') == Err(TrySendError::Closed('c')));
    assert!(tx.send(0, 'c') == Err(SendError('c')));
    assert!(tx.send_timeout(0, 'c', Duration::MAX) == Err(SendTimeoutError::Closed('c')));
    assert_eq!(rx.recv(), Ok('a'));
    assert_eq!(rx.try_recv(), Ok('b'));
    assert_eq!(rx.recv(), Err(RecvError::Closed));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(rx.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
}

#[test]
fn only_the_first_close_closes() {
    let (tx, rx) = bounded::<u8>(&[1]);
    assert!(rx.close());
    assert!(!tx.close() && !rx.close());
    drop(tx);
    assert!(!rx.close());
}

#[test]
fn closed_wins_over_full() {
    let (tx, _rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    assert_eq!(tx.try_send(0, 2), Err(TrySendError::Full(2)));
    tx.close();
    assert_eq!(tx.try_send(0, 2), Err(TrySendError::Closed(2)));
}

#[test]
fn the_last_sender_closes() {
    let (tx, rx) = bounded(&[2]);
    let other = tx.clone();
    assert_eq!((tx.sender_count(), rx.receiver_count()), (2, 1));
    drop(tx);
    assert!(!rx.is_closed());
    other.try_send(0, 1).unwrap();
    drop(other);
    assert_eq!((rx.is_closed(), rx.sender_count()), (true, 0));
    assert_eq!(rx.iter().collect::<Vec<_>>(), [1]);
}

#[test]
fn the_last_receiver_closes() {
    let (tx, rx) = bounded(&[2]);
    let other = rx.clone();
    drop(rx);
    assert_eq!(tx.try_send(0, 1), Ok(()));
    assert_eq!(tx.receiver_count(), 1);
    drop(other);
    assert_eq!((tx.is_closed(), tx.receiver_count(), tx.len()), (true, 0, 0));
    assert_eq!(tx.send(0, 2), Err(SendError(2)));
}

#[test]
fn closing_wakes_blocked_receivers() {
    within(10, || {
        let (tx, rx) = bounded::<u8>(&[1, 1]);
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let rx = rx.clone();
                parked(move || rx.recv())
            })
            .collect();
        drop(tx);
        for receiver in waiting {
            assert_eq!(join(receiver), Err(RecvError::Closed));
        }
    });
}

#[test]
fn closing_gives_blocked_senders_their_items_back() {
    within(10, || {
        let closings: [fn(Receiver<usize>); 2] = [|rx| assert!(rx.close()), drop];
        for closing in closings {
            let (tx, rx) = bounded(&[1]);
            tx.try_send(0, 100).unwrap();
            let waiting: Vec<_> = (0..4)
                .map(|number| {
                    let tx = tx.clone();
                    parked(move || tx.send(0, number))
                })
                .collect();
            closing(rx);
            for (number, sender) in waiting.into_iter().enumerate() {
                assert_eq!(join(sender), Err(SendError(number)));
            }
        }
    });
}

/// How a receiver takes items up to the end.
type Drain = fn(&Receiver<usize>) -> Vec<usize>;

const DRAINS: [Drain; 4] = [
    |rx| {
        let mut items = Vec::new();
        loop {
            match rx.try_recv() {
                Ok(item) => items.push(item),
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Closed) => return items,
            }
        }
    },
    |rx| std::iter::from_fn(|| rx.recv().ok()).collect(),
    |rx| {
        let mut items = Vec::new();
        loop {
            match rx.recv_timeout(Duration::from_micros(1)) {
                Ok(item) => items.push(item),
                Err(RecvTimeoutError::Timeout) => {}
                Err(error) => {
                    assert_eq!(error, RecvTimeoutError::Closed);
                    return items;
                }
            }
        }
    },
    |rx| rx.iter().collect(),
];

/// One round: some items, the last one urgent, and the only sender goes.
fn send_and_go(drain: Drain, receivers: usize, dice: &mut Dice) {
    let (tx, rx) = bounded(&[8, 8, 8]);
    let bands: Vec<_> = (0..dice.below(5)).map(|_| dice.below(3)).chain([0]).collect();
    let sent = bands.len();
    let others: Vec<_> = (1..receivers)
        .map(|_| {
            let rx = rx.clone();
            thread::spawn(move || drain(&rx))
        })
        .collect();
    let sender = thread::spawn(move || {
        for (number, band) in bands.into_iter().enumerate() {
            tx.try_send(band, number).unwrap();
        }
    });
    let mut received = drain(&rx);
    received.extend(others.into_iter().flat_map(join));
    received.sort_unstable();
    assert_eq!(received, (0..sent).collect::<Vec<_>>());
    join(sender);
}

#[test]
fn kind_05_the_last_items_come_before_closed() {
    within(120, || {
        let mut dice = Dice::new(5);
        for round in 0..ROUNDS {
            send_and_go(DRAINS[round % DRAINS.len()], 1, &mut dice);
        }
    });
}

#[test]
fn kind_05_the_last_items_come_before_closed_to_four_receivers() {
    within(120, || {
        let mut dice = Dice::new(54);
        for round in 0..ROUNDS / 10 {
            send_and_go(DRAINS[round % DRAINS.len()], 4, &mut dice);
        }
    });
}

#[test]
fn close_beside_senders_loses_nothing() {
    within(120, || {
        for _ in 0..ROUNDS / 10 {
            let (tx, rx) = bounded(&[2, 2]);
            let senders: Vec<_> = (0..2)
                .map(|band| {
                    let tx = tx.clone();
                    thread::spawn(move || (0..50).take_while(|&n| tx.send(band, n).is_ok()).count())
                })
                .collect();
            let early = (0..3).filter(|_| rx.recv().is_ok()).count();
            tx.close();
            let accepted: usize = senders.into_iter().map(join).sum();
            assert_eq!(early + rx.iter().count(), accepted);
        }
    });
}

/// Once a receiver was told `Closed`, no refused send may make it `Empty` again.
#[test]
fn closed_is_final() {
    within(120, || {
        let (tx, rx) = bounded(&[1]);
        tx.close();
        let refused = thread::spawn(move || {
            (0..ROUNDS * 10).filter(|_| tx.try_send(0, 1).is_err_and(|e| e.is_closed())).count()
        });
        let mut looks = 0;
        while !refused.is_finished() {
            assert_eq!(rx.try_recv(), Err(TryRecvError::Closed), "after {looks} looks");
            looks += 1;
        }
        assert_eq!(join(refused), ROUNDS * 10);
    });
}

#[test]
fn receivers_going_beside_senders_leave_nobody_stuck() {
    within(120, || {
        for _ in 0..ROUNDS / 10 {
            let (tx, rx) = bounded(&[1]);
            let sender = thread::spawn(move || (0..).find(|&n| tx.send(0, n).is_err()));
            assert_eq!(rx.recv(), Ok(0));
            drop(rx);
            assert!(join(sender) >= Some(1));
        }
    });
}

#[test]
fn handles_of_one_channel_know_each_other() {
    let (tx, rx) = bounded::<u8>(&[1]);
    let (other_tx, other_rx) = bounded::<u8>(&[1]);
    assert!(tx.same_channel(&tx.clone()) && rx.same_channel(&rx.clone()));
    assert!(!tx.same_channel(&other_tx) && !rx.same_channel(&other_rx));
}
