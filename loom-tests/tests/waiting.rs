//! Models of the notifier's rules N1 to N4, through the channel: G3.
//!
//! A lost wake shows as a deadlock. Every handle that a model does not drop on purpose stays
//! alive to the end, because closing wakes everybody and would hide it.
#![cfg(overtake_loom)]

use overtake_core::internals::Fault;
use overtake_core::{BandSet, RecvError, RecvTimeoutError, SendTimeoutError, bounded};
use overtake_loom_tests::{
    Alarm, Seen, check, check_plain, must_fail, must_fail_plain, poll, spawn, when_rung,
};
use std::sync::Arc;
use std::time::Duration;

// ---- N1 and N2: an item, and who waits for it ------------------------------------------------

fn receiver_meets_item() {
    let (tx, rx) = bounded(&[1]);
    let receiver = spawn(1, move || (rx.recv(), rx));
    tx.try_send(0, 7).unwrap();
    assert_eq!(receiver.join().unwrap().0, Ok(7));
}

/// Checks G3 by N1 and N2, edge E2: whatever the order, the receiver gets the item.
#[test]
fn a_receiver_is_not_left_parked_beside_an_item() {
    check("a_receiver_is_not_left_parked_beside_an_item", 2, receiver_meets_item);
}

#[test]
fn receiver_parks_without_a_look() {
    must_fail("receiver_parks_without_a_look", Fault::ParkWithoutLook, 2, receiver_meets_item);
}

#[test]
fn sender_wakes_before_it_publishes() {
    must_fail("sender_wakes_before_it_publishes", Fault::WakeBeforePublish, 2, receiver_meets_item);
}

// ---- N1 and N2: room, and who waits for it ---------------------------------------------------

fn sender_meets_room() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    let sender = spawn(1, move || (tx.send(0, 2), tx));
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(sender.join().unwrap().0, Ok(()));
    assert_eq!(rx.try_recv(), Ok(2));
}

/// Checks G3 by N1 and N2, edge E2: whatever the order, the sender gets the room.
#[test]
fn a_sender_is_not_left_parked_beside_room() {
    check("a_sender_is_not_left_parked_beside_room", 2, sender_meets_room);
}

#[test]
fn sender_parks_without_a_look() {
    must_fail("sender_parks_without_a_look", Fault::ParkWithoutLook, 2, sender_meets_room);
}

#[test]
fn receiver_frees_room_in_silence() {
    must_fail("receiver_frees_room_in_silence", Fault::RoomWithoutWake, 2, sender_meets_room);
}

#[test]
fn receiver_looks_before_it_is_seen() {
    must_fail(
        "receiver_looks_before_it_is_seen",
        Fault::AnnounceWithoutFence,
        2,
        receiver_meets_item,
    );
}

#[test]
fn sender_looks_for_waiters_too_early() {
    must_fail(
        "sender_looks_for_waiters_too_early",
        Fault::TellWithoutFence,
        2,
        receiver_meets_item,
    );
}

#[test]
fn receiver_looks_for_waiters_too_early() {
    must_fail(
        "receiver_looks_for_waiters_too_early",
        Fault::TellWithoutFence,
        2,
        sender_meets_room,
    );
}

// ---- N2: both sides block in turn --------------------------------------------------------------

fn ping_pong() {
    let (tx, rx) = bounded(&[1]);
    let sender = spawn(1, move || {
        assert_eq!((tx.send(0, 1), tx.send(0, 2)), (Ok(()), Ok(())));
        tx
    });
    assert_eq!((rx.recv(), rx.recv()), (Ok(1), Ok(2)));
    sender.join().unwrap();
}

/// Checks G3 and FIFO: two items through one place, where each side may have to wait.
#[test]
fn two_items_pass_through_one_place() {
    check_plain("two_items_pass_through_one_place", 1, ping_pong);
}

// ---- N3: a wake is used or passed on -----------------------------------------------------------

/// What the receiver of both bands got first.
static FIRST: Seen<&str> = Seen::new();

/// One task takes from both bands, the other from the lower one only. The first may be told of the
/// lower band and take the urgent item.
fn told_of_one_band_takes_from_another() {
    let (tx, rx) = bounded(&[1, 2]);
    let lower = rx.clone().only(BandSet::only(1));
    let (mut lower, mut both) = (lower.recv_async(), rx.recv_async());
    let (low, all) = (Alarm::new(), Alarm::new());
    assert!(poll(&mut lower, Arc::clone(&low)).is_pending());
    assert!(poll(&mut both, Arc::clone(&all)).is_pending());
    let sender = tx.clone();
    let sender = spawn(1, move || {
        sender.try_send(1, "bulk").unwrap();
        sender.try_send(0, "urgent").unwrap();
    });
    let first = when_rung(&mut both, &all).unwrap();
    FIRST.add(first);
    if first == "bulk" {
        tx.try_send(1, "bulk").unwrap();
    }
    assert_eq!(when_rung(&mut lower, &low), Ok("bulk"));
    sender.join().unwrap();
}

/// Checks G3 by N3: a wake for a band one has not taken from reaches the next who has it.
#[test]
fn a_wake_for_another_band_is_passed_on() {
    check_plain("a_wake_for_another_band_is_passed_on", 2, told_of_one_band_takes_from_another);
    assert_eq!(FIRST.all(), ["bulk", "urgent"]);
}

#[test]
fn receiver_keeps_the_wake_it_did_not_use() {
    must_fail_plain(
        "receiver_keeps_the_wake_it_did_not_use",
        Fault::SwallowWake,
        2,
        told_of_one_band_takes_from_another,
    );
}

fn two_senders_meet_one_room_each() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 0).unwrap();
    let (mut first, mut second) = (tx.send_async(0, 1), tx.send_async(0, 2));
    let alarms = (Alarm::new(), Alarm::new());
    assert!(poll(&mut first, Arc::clone(&alarms.0)).is_pending());
    assert!(poll(&mut second, Arc::clone(&alarms.1)).is_pending());
    let other = rx.clone();
    let receiver = spawn(1, move || assert_eq!(other.try_recv(), Ok(0)));
    assert_eq!(when_rung(&mut first, &alarms.0), Ok(()));
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(when_rung(&mut second, &alarms.1), Ok(()));
    receiver.join().unwrap();
}

/// Checks G3 by N3 for senders: two that wait for the same room both get in, in the order of
/// waiting.
#[test]
fn two_senders_share_one_place() {
    check_plain("two_senders_share_one_place", 2, two_senders_meet_one_room_each);
}

fn two_receivers_meet_two_items() {
    let (tx, rx) = bounded(&[2]);
    let (mut here, mut there) = (rx.recv_async(), rx.recv_async());
    let alarms = (Alarm::new(), Alarm::new());
    assert!(poll(&mut here, Arc::clone(&alarms.0)).is_pending());
    assert!(poll(&mut there, Arc::clone(&alarms.1)).is_pending());
    let sender = spawn(1, move || {
        assert_eq!((tx.try_send(0, 1), tx.try_send(0, 2)), (Ok(()), Ok(())));
        tx
    });
    let first = when_rung(&mut here, &alarms.0).unwrap();
    assert_eq!(first + when_rung(&mut there, &alarms.1).unwrap(), 3);
    sender.join().unwrap();
}

/// Checks G3 by N3: two items for two receivers, whoever is told of which.
#[test]
fn two_items_reach_two_receivers() {
    check_plain("two_items_reach_two_receivers", 2, two_receivers_meet_two_items);
}

// ---- deadlines that have passed ----------------------------------------------------------------

/// Whether the receive timed out.
static RECEIVE_EXPIRED: Seen<bool> = Seen::new();

fn expired_receiver_meets_item() {
    let (tx, rx) = bounded(&[1]);
    let hasty = rx.clone();
    let hasty = spawn(1, move || hasty.recv_timeout(Duration::ZERO));
    tx.try_send(0, 7).unwrap();
    let received = hasty.join().unwrap();
    RECEIVE_EXPIRED.add(received.is_err());
    match received {
        Ok(item) => assert_eq!(item, 7),
        Err(error) => {
            assert_eq!(error, RecvTimeoutError::Timeout);
            assert_eq!(rx.recv(), Ok(7));
        }
    }
}

/// Checks G4 by N3: a receive that times out leaves the item to others, and its cell
/// is free again.
#[test]
fn a_timed_out_receive_loses_no_item() {
    check("a_timed_out_receive_loses_no_item", 2, expired_receiver_meets_item);
    assert_eq!(RECEIVE_EXPIRED.all(), [false, true]);
}

fn expired_receiver_beside_a_patient_one() {
    let (tx, rx) = bounded(&[1]);
    let hasty = rx.clone();
    let mut patient = rx.recv_async();
    let alarm = Alarm::new();
    assert!(poll(&mut patient, Arc::clone(&alarm)).is_pending());
    let hasty = spawn(1, move || hasty.recv_timeout(Duration::ZERO));
    tx.try_send(0, 7).unwrap();
    if hasty.join().unwrap().is_ok() {
        tx.try_send(0, 7).unwrap();
    }
    assert_eq!(when_rung(&mut patient, &alarm), Ok(7));
}

/// Checks G3 and G4: an expired receive takes the item, or leaves it to one that waits.
#[test]
fn an_expired_receive_leaves_the_item_to_another() {
    check_plain(
        "an_expired_receive_leaves_the_item_to_another",
        2,
        expired_receiver_beside_a_patient_one,
    );
}

/// Whether the send timed out.
static SEND_EXPIRED: Seen<bool> = Seen::new();

fn expired_sender_meets_room() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    let sender = spawn(1, move || (tx.send_timeout(0, 2, Duration::ZERO), tx));
    assert_eq!(rx.try_recv(), Ok(1));
    let (sent, _tx) = sender.join().unwrap();
    SEND_EXPIRED.add(sent.is_err());
    match sent {
        Ok(()) => assert_eq!(rx.try_recv(), Ok(2)),
        Err(error) => {
            assert!(error == SendTimeoutError::Timeout(2));
            assert!(rx.is_empty());
        }
    }
}

/// Checks G4: a send that times out hands its item back and leaves none inside.
#[test]
fn a_timed_out_send_is_in_or_out() {
    check("a_timed_out_send_is_in_or_out", 2, expired_sender_meets_room);
    assert_eq!(SEND_EXPIRED.all(), [false, true]);
}

// ---- N4: release -------------------------------------------------------------------------------

/// Whether the receiver was seen to wait.
static SEEN_WAITING: Seen<bool> = Seen::new();

/// Releases only once the receiver can be seen to wait: from then on it must be freed.
fn release_of_a_waiting_receiver() {
    let (tx, rx) = bounded(&[1]);
    let waiting = rx.clone();
    let waiting = spawn(1, move || waiting.recv());
    let seen_waiting = format!("{rx:?}").contains("receivers: waited for: {0}");
    SEEN_WAITING.add(seen_waiting);
    if seen_waiting {
        rx.release();
        assert_eq!(waiting.join().unwrap(), Err(RecvError::Released));
    } else {
        tx.try_send(0, 7).unwrap();
        assert_eq!(waiting.join().unwrap(), Ok(7));
    }
}

/// Checks N4, edge E4: a receiver that announced before a release is freed by it.
#[test]
fn a_release_misses_no_waiting_receiver() {
    check("a_release_misses_no_waiting_receiver", 2, release_of_a_waiting_receiver);
    assert_eq!(SEEN_WAITING.all(), [false, true]);
}

#[test]
fn receiver_reads_the_epoch_too_late() {
    must_fail(
        "receiver_reads_the_epoch_too_late",
        Fault::LateEpoch,
        2,
        release_of_a_waiting_receiver,
    );
}

/// Whether the receiver took the item.
static TOOK: Seen<bool> = Seen::new();

fn release_beside_an_item() {
    let (tx, rx) = bounded(&[1]);
    let waiting = rx.clone();
    let waiting = spawn(1, move || waiting.recv());
    tx.try_send(0, 7).unwrap();
    rx.release();
    let received = waiting.join().unwrap();
    TOOK.add(received.is_ok());
    match received {
        Ok(item) => assert_eq!(item, 7),
        Err(error) => {
            assert_eq!(error, RecvError::Released);
            assert_eq!(rx.try_recv(), Ok(7));
        }
    }
}

/// Checks G4 by N4: an item that comes at the same time as a release stays inside.
#[test]
fn a_released_receiver_takes_nothing_along() {
    check("a_released_receiver_takes_nothing_along", 2, release_beside_an_item);
    assert_eq!(TOOK.all(), [false, true]);
}
