//! What users of other bounded channels take for granted, asked of this one in three ways. Here:
//! channels for one item, and who of two threads is first. `conformance_limits` says what was left
//! out.

mod common;
mod ways;

use common::{join, parked};
use overtake_core::{RecvError, SendError, TryRecvError, TrySendError};
use std::sync::mpsc;
use std::thread;
use ways::{Way, in_every_way, poll};

in_every_way! {
    dropped_in_either_order_nothing_happens,
    sent_then_received,
    sent_then_forgotten,
    refused_where_nobody_receives,
    closed_where_nobody_sends,
    looked_at_without_waiting,
    dropped_by_two_threads_at_once,
    sent_while_the_receiver_goes,
    received_while_the_sender_goes,
    sent_and_received_by_two_threads,
    received_by_a_thread_that_waits,
    a_panic_in_the_sender_closes,
    a_panic_in_the_receiver_closes,
    answers_come_back_through_a_channel_that_was_sent,
}

const ROUNDS: usize = 500;

fn dropped_in_either_order_nothing_happens(way: Way) {
    let (tx, rx) = way.channel::<Box<u8>>(1);
    drop(rx);
    drop(tx);
    let (tx, rx) = way.channel::<Box<u8>>(1);
    drop(tx);
    drop(rx);
}

fn sent_then_received(way: Way) {
    let (tx, rx) = way.channel(1);
    tx.send(Box::new(10)).unwrap();
    assert_eq!(rx.recv(), Ok(Box::new(10)));
}

fn sent_then_forgotten(way: Way) {
    let (tx, rx) = way.channel(1);
    tx.send(Box::new(10)).unwrap();
    drop(rx);
    assert!(tx.is_empty() && tx.is_closed());
}

fn refused_where_nobody_receives(way: Way) {
    let (tx, rx) = way.channel(1);
    drop(rx);
    assert_eq!(tx.send(Box::new(1)), Err(SendError(Box::new(1))));
    assert!(tx.try_send(Box::new(2)) == Err(TrySendError::Closed(Box::new(2))));
}

fn closed_where_nobody_sends(way: Way) {
    let (tx, rx) = way.channel::<Box<u8>>(1);
    drop(tx);
    assert_eq!(rx.recv(), Err(RecvError::Closed));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    assert_eq!((rx.iter().next(), rx.try_iter().next()), (None, None));
}

fn looked_at_without_waiting(way: Way) {
    let (tx, rx) = way.channel(1);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    tx.try_send(10).unwrap();
    assert_eq!(rx.try_recv(), Ok(10));
    drop(tx);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

fn dropped_by_two_threads_at_once(way: Way) {
    for _ in 0..ROUNDS {
        let (tx, rx) = way.channel::<Box<u8>>(1);
        tx.send(Box::new(1)).unwrap();
        let receiver = thread::spawn(move || drop(rx));
        drop(tx);
        join(receiver);
    }
}

fn sent_while_the_receiver_goes(way: Way) {
    for _ in 0..ROUNDS {
        let (tx, rx) = way.channel(1);
        let receiver = thread::spawn(move || drop(rx));
        if let Err(SendError(back)) = tx.send(Box::new(1)) {
            assert_eq!(*back, 1);
        }
        join(receiver);
        assert_eq!(tx.send(Box::new(2)), Err(SendError(Box::new(2))));
        assert!(tx.is_empty());
    }
}

fn received_while_the_sender_goes(way: Way) {
    for _ in 0..ROUNDS {
        let (tx, rx) = way.channel::<Box<u8>>(1);
        let receiver = thread::spawn(move || rx.recv());
        drop(tx);
        assert_eq!(join(receiver), Err(RecvError::Closed));
    }
}

fn sent_and_received_by_two_threads(way: Way) {
    for round in 0..ROUNDS {
        let (tx, rx) = way.channel(1);
        let sender = thread::spawn(move || tx.send(Box::new(round)));
        let received = if round % 2 == 0 { rx.recv().ok() } else { poll(&rx) };
        assert_eq!(received, Some(Box::new(round)));
        assert_eq!(join(sender), Ok(()));
        assert_eq!(rx.recv(), Err(RecvError::Closed));
    }
}

fn received_by_a_thread_that_waits(way: Way) {
    for round in 0..ROUNDS / 10 {
        let (tx, rx) = way.channel(1);
        let receiver = parked(move || rx.recv());
        tx.try_send(round).unwrap();
        assert_eq!(join(receiver), Ok(round));
        assert!(tx.is_closed());
    }
}

fn a_panic_in_the_sender_closes(way: Way) {
    let (tx, rx) = way.channel(1);
    let sender = thread::spawn(move || {
        tx.send(1).unwrap();
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert_eq!((rx.recv(), rx.recv()), (Ok(1), Err(RecvError::Closed)));
    assert!(sender.join().is_err());
}

fn a_panic_in_the_receiver_closes(way: Way) {
    let (tx, rx) = way.channel(1);
    let receiver = thread::spawn(move || {
        rx.recv().unwrap();
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    let refused = (0..).find(|&number| tx.send(number).is_err());
    assert!(receiver.join().is_err() && refused >= Some(1));
}

/// Questions with the way back inside, as servers do it.
fn answers_come_back_through_a_channel_that_was_sent(way: Way) {
    let (questions, asked) = way.channel::<(u64, mpsc::Sender<u64>)>(1);
    let server = thread::spawn(move || {
        asked.iter().for_each(|(number, back)| back.send(number * number).unwrap());
    });
    for number in 0..200 {
        let (back, answer) = mpsc::channel();
        questions.send((number, back)).unwrap();
        assert_eq!(answer.recv(), Ok(number * number));
    }
    drop(questions);
    join(server);
}
