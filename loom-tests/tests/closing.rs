//! Models of the gate and of closing: C1, G4.
#![cfg(overtake_loom)]

use loom::thread;
use overtake_core::internals::Fault;
use overtake_core::{BandSet, RecvError, SendError, TryRecvError, TrySendError, bounded};
use overtake_loom_tests::{Seen, check, must_fail};
use std::sync::Arc;

// ---- C1: what was accepted comes out before `Closed` -------------------------------------------

/// Whether the send got in.
static GOT_IN: Seen<bool> = Seen::new();

fn close_beside_a_send() {
    let (tx, rx) = bounded(&[1]);
    let sender = tx.clone();
    let sender = thread::spawn(move || sender.try_send(0, 7).is_ok());
    tx.close();
    let received = rx.recv();
    let got_in = sender.join().unwrap();
    GOT_IN.add(got_in);
    let expected = if got_in { Ok(7) } else { Err(RecvError::Closed) };
    assert_eq!(received, expected);
}

/// Checks G4 by C1, edge E1: a send beside `close` is refused, or its item is received.
#[test]
fn an_accepted_item_is_received_before_closed() {
    check("an_accepted_item_is_received_before_closed", 3, close_beside_a_send);
    assert_eq!(GOT_IN.all(), [false, true]);
}

#[test]
fn receiver_believes_the_closed_flag() {
    must_fail("receiver_believes_the_closed_flag", Fault::CloseByFlag, 3, close_beside_a_send);
}

fn last_sender_goes_after_a_send() {
    let (tx, rx) = bounded(&[1]);
    let sender = thread::spawn(move || tx.try_send(0, 7).unwrap());
    let mut looks = 0;
    let received = loop {
        match rx.try_recv() {
            Err(TryRecvError::Empty) if looks < 2 => looks += 1,
            other => break other,
        }
    };
    sender.join().unwrap();
    match received {
        Ok(item) => assert_eq!(item, 7),
        Err(error) => {
            assert_eq!(error, TryRecvError::Empty);
            assert_eq!(rx.try_recv(), Ok(7));
        }
    }
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

/// Checks G4 by C1: the last sender sends and goes while a receiver is between its look at the
/// bands and its look at the gate.
#[test]
fn the_last_item_is_received_before_closed() {
    check("the_last_item_is_received_before_closed", 3, last_sender_goes_after_a_send);
}

#[test]
fn receiver_looks_once_and_believes_the_flag() {
    must_fail(
        "receiver_looks_once_and_believes_the_flag",
        Fault::CloseByFlag,
        3,
        last_sender_goes_after_a_send,
    );
}

fn refused_send_beside_a_receive() {
    let (tx, rx) = bounded::<u8>(&[1]);
    tx.close();
    let sender = thread::spawn(move || (tx.try_send(0, 7), tx));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    assert!(sender.join().unwrap().0 == Err(TrySendError::Closed(7)));
}

/// Checks C1: a seal stays; a send that is refused does not reopen it for a moment.
#[test]
fn closed_is_final() {
    check("closed_is_final", 3, refused_send_beside_a_receive);
}

// ---- closing wakes -----------------------------------------------------------------------------

fn close_beside_a_waiting_receiver() {
    let (tx, rx) = bounded::<u8>(&[1]);
    let receiver = thread::spawn(move || (rx.recv(), rx));
    tx.close();
    assert_eq!(receiver.join().unwrap().0, Err(RecvError::Closed));
}

/// Checks G3 by N1, edge E1: no receiver stays parked in a sealed channel.
#[test]
fn close_wakes_a_receiver() {
    check("close_wakes_a_receiver", 3, close_beside_a_waiting_receiver);
}

#[test]
fn receiver_parks_in_a_sealed_channel() {
    must_fail(
        "receiver_parks_in_a_sealed_channel",
        Fault::ParkWithoutLook,
        3,
        close_beside_a_waiting_receiver,
    );
}

fn close_beside_a_waiting_sender() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    let sender = thread::spawn(move || (tx.send(0, 2), tx));
    rx.close();
    assert!(sender.join().unwrap().0 == Err(SendError(2)));
    assert_eq!(rx.try_recv(), Ok(1));
}

/// Checks G3 and G4: a blocked sender gets its item back.
#[test]
fn close_wakes_a_sender() {
    check("close_wakes_a_sender", 3, close_beside_a_waiting_sender);
}

/// The send is refused for want of room, but holds the gate open while the receiver looks.
fn last_send_through_a_closed_gate() {
    let (tx, rx) = bounded(&[1, 1]);
    tx.try_send(1, 1).unwrap();
    let urgent_only = rx.clone().only(BandSet::only(0));
    let sender = tx.clone();
    let sender = thread::spawn(move || sender.try_send(1, 2).is_err());
    tx.close();
    assert_eq!(urgent_only.recv(), Err(RecvError::Closed));
    assert!(sender.join().unwrap());
}

/// Checks G3: whoever parked because a send was still inside is woken when that send leaves.
#[test]
fn the_sealing_send_wakes_a_receiver() {
    check("the_sealing_send_wakes_a_receiver", 3, last_send_through_a_closed_gate);
}

// ---- the last receiver goes --------------------------------------------------------------------

/// Whether the item got in.
static SENT: Seen<bool> = Seen::new();

fn last_receiver_goes_beside_a_send() {
    let item = Arc::new(());
    let (tx, rx) = bounded(&[1]);
    let sent = Arc::clone(&item);
    let sender = thread::spawn(move || {
        SENT.add(tx.try_send(0, sent).is_ok());
        tx
    });
    drop(rx);
    let _tx = sender.join().unwrap();
    assert_eq!(Arc::strong_count(&item), 1);
}

/// Checks G4, edge E3: an item sent while the last receiver goes is dropped or handed back, and
/// does not stay inside for as long as a sender lives.
#[test]
fn no_item_outlives_the_last_receiver() {
    check("no_item_outlives_the_last_receiver", 3, last_receiver_goes_beside_a_send);
    assert_eq!(SENT.all(), [false, true]);
}
