//! Models of closing: C1, C2, G4.
#![cfg(overtake_loom)]

use overtake_core::internals::Fault;
use overtake_core::{BandSet, RecvError, SendError, TryRecvError, TrySendError, bounded};
use overtake_loom_tests::{Seen, check, must_fail, spawn};
use std::sync::Arc;

// ---- C1: what was accepted comes out before `Closed` -------------------------------------------

/// Whether the send got in.
static GOT_IN: Seen<bool> = Seen::new();

fn close_beside_a_send() {
    let (tx, rx) = bounded(&[1]);
    let sender = tx.clone();
    let sender = spawn(1, move || sender.try_send(0, 7).is_ok());
    tx.close();
    let received = rx.recv();
    let got_in = sender.join().unwrap();
    GOT_IN.add(got_in);
    let expected = if got_in { Ok(7) } else { Err(RecvError::Closed) };
    assert_eq!(received, expected);
}

/// Checks G4 by C1 and C2: a send beside `close` is refused, or its item is received.
#[test]
fn an_accepted_item_is_received_before_closed() {
    check("an_accepted_item_is_received_before_closed", 3, close_beside_a_send);
    assert_eq!(GOT_IN.all(), [false, true]);
}

#[test]
fn receiver_believes_the_closed_flag() {
    must_fail("receiver_believes_the_closed_flag", Fault::TrustUnpublished, 3, close_beside_a_send);
}

fn last_sender_goes_after_a_send() {
    let (tx, rx) = bounded(&[1]);
    let sender = spawn(1, move || tx.try_send(0, 7).unwrap());
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

/// Checks G4 by C1, edge E6: the last sender sends and goes while a receiver is between two looks.
#[test]
fn the_last_item_is_received_before_closed() {
    check("the_last_item_is_received_before_closed", 3, last_sender_goes_after_a_send);
}

// ---- what a close comes before and after ---------------------------------------------------------

/// Whether the send got in, and what was received first.
static URGENT: Seen<(bool, u8)> = Seen::new();

fn close_and_receive_beside_an_urgent_send() {
    let (tx, rx) = bounded(&[1, 1]);
    tx.try_send(1, 2).unwrap();
    let sender = tx.clone();
    let sender = spawn(1, move || sender.try_send(0, 1).is_ok());
    tx.close();
    let first = rx.recv().unwrap();
    let got_in = sender.join().unwrap();
    URGENT.add((got_in, first));
    assert_eq!(first, if got_in { 1 } else { 2 }, "what got in was inside before the close");
    assert_eq!(rx.recv().ok(), got_in.then_some(2));
}

/// Checks G1 by C2: a send that is accepted was so before the close, so whoever receives after the
/// close meets its item.
#[test]
fn an_urgent_send_beside_a_close_is_refused_or_met() {
    check(
        "an_urgent_send_beside_a_close_is_refused_or_met",
        3,
        close_and_receive_beside_an_urgent_send,
    );
    assert_eq!(URGENT.all(), [(false, 2), (true, 1)]);
}

#[test]
fn receiver_passes_an_unpublished_ticket_of_a_sealed_ring() {
    must_fail(
        "receiver_passes_an_unpublished_ticket_of_a_sealed_ring",
        Fault::TrustUnpublished,
        3,
        close_and_receive_beside_an_urgent_send,
    );
}

/// What the two sends came to.
static TWO_SENDS: Seen<(bool, bool)> = Seen::new();

fn close_beside_two_sends() {
    let (tx, rx) = bounded(&[1, 1]);
    let closer = spawn(1, move || (rx.close(), rx));
    let sent = (tx.try_send(0, 1).is_ok(), tx.try_send(1, 2).is_ok());
    TWO_SENDS.add(sent);
    assert_ne!(sent, (false, true), "refused as closed, then accepted");
    assert!(closer.join().unwrap().0);
}

/// Checks C1: once a send was refused, none is accepted, in whatever band.
#[test]
fn after_a_refusal_nothing_gets_in() {
    check("after_a_refusal_nothing_gets_in", 3, close_beside_two_sends);
    assert_eq!(TWO_SENDS.all(), [(false, false), (true, false), (true, true)]);
}

#[test]
fn sender_that_meets_a_seal_leaves_the_rest_open() {
    must_fail(
        "sender_that_meets_a_seal_leaves_the_rest_open",
        Fault::CloseWithoutHelp,
        3,
        close_beside_two_sends,
    );
}

/// Whether `Closed` was answered, and whether the send got in.
static CLOSED_THEN_SENT: Seen<(bool, bool)> = Seen::new();

fn close_beside_a_receive_and_a_send() {
    let (tx, rx) = bounded(&[1]);
    let closer = tx.clone();
    let closer = spawn(1, move || closer.close());
    let closed = rx.try_recv() == Err(TryRecvError::Closed);
    let sent = tx.try_send(0, 1).is_ok();
    CLOSED_THEN_SENT.add((closed, sent));
    assert!(!(closed && sent), "answered Closed, then accepted");
    closer.join().unwrap();
}

/// Checks C1, edge E4: the mark comes after all seals.
#[test]
fn after_closed_nothing_gets_in() {
    check("after_closed_nothing_gets_in", 3, close_beside_a_receive_and_a_send);
    assert_eq!(CLOSED_THEN_SENT.all(), [(false, false), (false, true), (true, false)]);
}

#[test]
fn closer_marks_before_it_seals() {
    must_fail(
        "closer_marks_before_it_seals",
        Fault::CloseBeforeSeals,
        3,
        close_beside_a_receive_and_a_send,
    );
}

fn two_closers_beside_a_send() {
    let (tx, rx) = bounded(&[1]);
    let other = spawn(1, move || (rx.close(), rx));
    let closed = tx.close();
    let (other, rx) = other.join().unwrap();
    assert!(closed != other, "exactly one of them closed it");
    assert_eq!(rx.try_recv(), Err::<u8, _>(TryRecvError::Closed));
}

/// Checks C1: `close` says yes once.
#[test]
fn one_of_two_closers_closes() {
    check("one_of_two_closers_closes", 3, two_closers_beside_a_send);
}

fn refused_send_beside_a_receive() {
    let (tx, rx) = bounded::<u8>(&[1]);
    tx.close();
    let sender = spawn(1, move || (tx.try_send(0, 7), tx));
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
    let receiver = spawn(1, move || (rx.recv(), rx));
    tx.close();
    assert_eq!(receiver.join().unwrap().0, Err(RecvError::Closed));
}

/// Checks G3 by N1, edge E4: no receiver stays parked in a sealed channel.
#[test]
fn close_wakes_a_receiver() {
    check("close_wakes_a_receiver", 2, close_beside_a_waiting_receiver);
}

#[test]
fn receiver_parks_in_a_sealed_channel() {
    must_fail(
        "receiver_parks_in_a_sealed_channel",
        Fault::ParkWithoutLook,
        2,
        close_beside_a_waiting_receiver,
    );
}

/// Checks G3, edge E7: nor does one that waits for no band at all.
#[test]
fn close_wakes_a_receiver_without_bands() {
    check("close_wakes_a_receiver_without_bands", 2, || {
        let (tx, rx) = bounded::<u8>(&[1]);
        let rx = rx.only(BandSet::EMPTY);
        let receiver = spawn(1, move || (rx.recv(), rx));
        tx.close();
        assert_eq!(receiver.join().unwrap().0, Err(RecvError::Closed));
    });
}

fn close_beside_a_waiting_sender() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    let sender = spawn(1, move || (tx.send(0, 2), tx));
    rx.close();
    assert!(sender.join().unwrap().0 == Err(SendError(2)));
    assert_eq!(rx.try_recv(), Ok(1));
}

/// Checks G3 and G4: a blocked sender gets its item back.
#[test]
fn close_wakes_a_sender() {
    check("close_wakes_a_sender", 2, close_beside_a_waiting_sender);
}

/// The send is refused for want of room or as closed, while a receiver of the other band looks.
fn refused_send_beside_a_close() {
    let (tx, rx) = bounded(&[1, 1]);
    tx.try_send(1, 1).unwrap();
    let urgent_only = rx.clone().only(BandSet::only(0));
    let sender = tx.clone();
    let sender = spawn(1, move || sender.try_send(1, 2).is_err());
    tx.close();
    assert_eq!(urgent_only.recv(), Err(RecvError::Closed));
    assert!(sender.join().unwrap());
}

/// Checks G3: a receiver of a drained band is not held up by what is in others.
#[test]
fn a_receiver_of_a_drained_band_is_closed() {
    check("a_receiver_of_a_drained_band_is_closed", 2, refused_send_beside_a_close);
}

// ---- the last receiver goes --------------------------------------------------------------------

/// Whether the item got in.
static SENT: Seen<bool> = Seen::new();

fn last_receiver_goes_beside_a_send() {
    let item = Arc::new(());
    let (tx, rx) = bounded(&[1]);
    let sent = Arc::clone(&item);
    let sender = spawn(1, move || {
        SENT.add(tx.try_send(0, sent).is_ok());
        tx
    });
    drop(rx);
    let _tx = sender.join().unwrap();
    assert_eq!(Arc::strong_count(&item), 1);
}

/// Checks G4, edge E6: an item sent while the last receiver goes is dropped or handed back, and
/// does not stay inside for as long as a sender lives.
#[test]
fn no_item_outlives_the_last_receiver() {
    check("no_item_outlives_the_last_receiver", 3, last_receiver_goes_beside_a_send);
    assert_eq!(SENT.all(), [false, true]);
}
