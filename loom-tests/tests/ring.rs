//! Models of the ring's slots, through the channel: R2 to R8. The checker also watches the places of
//! the items: two threads at one of them fail a model.
#![cfg(overtake_loom)]

use overtake_core::internals::Fault;
use overtake_core::{Receiver, Sender, bounded};
use overtake_loom_tests::{Seen, check, must_fail, spawn};
use std::collections::VecDeque;

/// At rest and drained: exactly `capacity` items get in, and come out in order.
fn assert_whole(tx: &Sender<usize>, rx: &Receiver<usize>, capacity: usize) {
    assert_eq!(tx.len(), 0);
    for item in 0..capacity {
        tx.try_send(0, item).expect("the capacity is exact at rest");
    }
    assert!(tx.try_send(0, capacity).is_err());
    for item in 0..capacity {
        assert_eq!(rx.try_recv(), Ok(item));
    }
}

/// What came out first.
static PUBLISHED: Seen<usize> = Seen::new();

/// The other sender may be stopped between its claim and its publish; then its ticket is voided.
fn send_and_receive_beside_a_send() {
    let (tx, rx) = bounded(&[2]);
    let late = tx.clone();
    let late = spawn(1, move || late.try_send(0, 1).unwrap());
    tx.try_send(0, 2).unwrap();
    let first = rx.try_recv().unwrap();
    PUBLISHED.add(first);
    late.join().unwrap();
    assert_eq!(rx.try_recv(), Ok(3 - first), "each comes out once");
    assert_whole(&tx, &rx, 2);
}

/// Checks R2 and R5: a voided sender keeps its item, sends it anew, and its slot is not lost.
#[test]
fn a_late_sender_is_passed() {
    check("a_late_sender_is_passed", 3, send_and_receive_beside_a_send);
    assert_eq!(PUBLISHED.all(), [1, 2]);
}

/// Whether the second send got in while the other receiver was still reading.
static GOT_IN: Seen<bool> = Seen::new();

/// The other receiver may be stopped between its claim and freeing the slot; then it is passed.
fn two_laps_beside_a_receive() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    let late = rx.clone();
    let late = spawn(1, move || late.try_recv().is_ok());
    let mut sent = 1;
    let mut received = 0;
    for item in [2, 3] {
        let got_in = tx.try_send(0, item).is_ok();
        GOT_IN.add(got_in);
        sent += usize::from(got_in);
        received += usize::from(item == 2 && rx.try_recv().is_ok());
    }
    received += usize::from(late.join().unwrap());
    while rx.try_recv().is_ok() {
        received += 1;
    }
    assert_eq!(sent, received);
    assert_whole(&tx, &rx, 1);
}

/// Checks R4, R5 and R7: a sender passes a slot that is still being read, and the slot is not lost.
#[test]
fn a_late_receiver_is_passed() {
    check("a_late_receiver_is_passed", 2, two_laps_beside_a_receive);
    assert_eq!(GOT_IN.all(), [false, true]);
}

#[test]
fn receiver_frees_its_slot_by_a_store() {
    must_fail(
        "receiver_frees_its_slot_by_a_store",
        Fault::FreeByStore,
        2,
        two_laps_beside_a_receive,
    );
}

fn two_sends_beside_two_receives() {
    let (tx, rx) = bounded(&[2]);
    let sender = tx.clone();
    let sender = spawn(1, move || {
        for item in [1, 2] {
            sender.try_send(0, item).unwrap();
        }
    });
    let here = [rx.try_recv(), rx.try_recv()];
    sender.join().unwrap();
    let rest = std::iter::from_fn(|| rx.try_recv().ok());
    let all: Vec<_> = here.into_iter().flatten().chain(rest).collect();
    assert_eq!(all, [1, 2]);
    assert_whole(&tx, &rx, 2);
}

/// Checks R1: one sender's items come out in order, each once.
#[test]
fn one_senders_items_stay_in_order() {
    check("one_senders_items_stay_in_order", 2, two_sends_beside_two_receives);
}

// ---- runs ----------------------------------------------------------------------------------------

/// What came out, and in which order.
static RUN: Seen<Vec<usize>> = Seen::new();

/// A capacity of 4 gives runs of 2. The batch may be stopped inside its claim, and then be passed.
fn send_and_receive_beside_a_batch() {
    let (tx, rx) = bounded(&[4]);
    let late = tx.clone();
    let late = spawn(1, move || {
        let mut items = VecDeque::from([1, 2]);
        assert_eq!(late.try_send_many(0, &mut items), Ok(2));
    });
    tx.try_send(0, 9).unwrap();
    let mut all = vec![rx.try_recv().unwrap()];
    late.join().unwrap();
    while rx.try_recv_many(&mut all, 2).is_ok() {}
    RUN.add(all.clone());
    assert_eq!(all.iter().filter(|&&item| item != 9).collect::<Vec<_>>(), [&1, &2]);
    assert_whole(&tx, &rx, 4);
}

/// Checks R9: a batch whose ticket was voided stays in order, and leaves no ticket without an owner.
#[test]
fn a_late_batch_is_passed_and_stays_in_order() {
    check("a_late_batch_is_passed_and_stays_in_order", 3, send_and_receive_beside_a_batch);
    assert_eq!(RUN.all(), [[1, 2, 9], [1, 9, 2], [9, 1, 2]]);
}

#[test]
fn batch_goes_on_past_a_voided_ticket() {
    must_fail(
        "batch_goes_on_past_a_voided_ticket",
        Fault::PublishPastVoided,
        3,
        send_and_receive_beside_a_batch,
    );
}

#[test]
fn batch_leaves_its_claim() {
    must_fail("batch_leaves_its_claim", Fault::LeaveClaim, 2, send_and_receive_beside_a_batch);
}

#[test]
fn sender_publishes_by_a_store() {
    must_fail(
        "sender_publishes_by_a_store",
        Fault::PublishByStore,
        2,
        send_and_receive_beside_a_send,
    );
}

/// How many the other took.
static TAKEN: Seen<usize> = Seen::new();

fn two_receivers_of_a_run() {
    let (tx, rx) = bounded(&[4]);
    tx.try_send_many(0, &mut VecDeque::from([1, 2])).unwrap();
    let late = rx.clone();
    let late = spawn(1, move || {
        let mut items = Vec::new();
        let _ = late.try_recv_many(&mut items, 2);
        assert!(items.is_sorted());
        items.len()
    });
    let mut here = Vec::new();
    let _ = rx.try_recv_many(&mut here, 2);
    let there = late.join().unwrap();
    TAKEN.add(there);
    assert_eq!(here.len() + there, 2, "each comes out once");
    assert_whole(&tx, &rx, 4);
}

/// Checks R2 and R10: two receivers that found the same run take each item once.
#[test]
fn one_of_two_takes_a_run() {
    check("one_of_two_takes_a_run", 3, two_receivers_of_a_run);
    assert_eq!(TAKEN.all(), [0, 2]);
}
