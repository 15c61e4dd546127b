//! Models of the notifier's cells and of what a told waiter owes: rules N3 to N10, mostly with
//! tasks that one thread polls by hand, so that two threads are enough.
//!
//! As in `waiting.rs` a lost wake shows as a deadlock, and handles stay alive to the end. Each ends
//! with nobody waiting and no cell in use.
#![cfg(overtake_loom)]

use overtake_core::internals::{Fault, nobody_waits};
use overtake_core::{BandSet, Receiver, RecvError, Sender, bounded};
use overtake_loom_tests::{
    Alarm, Seen, block_on, block_on_changing, check_plain, must_fail_plain, poll, spawn, when_rung,
};
use std::mem;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// Ends a model.
fn at_rest<T>(tx: &Sender<T>) {
    assert!(nobody_waits(tx), "a cell is in use, or the count is wrong");
}

// ---- N3: one told goes away ----------------------------------------------------------------------

fn told_receive_is_dropped() {
    let (tx, rx) = bounded(&[1]);
    let alarm = Alarm::new();
    let (mut old, mut new) = (rx.recv_async(), rx.recv_async());
    assert!(poll(&mut old, Arc::clone(&alarm)).is_pending());
    assert!(poll(&mut new, Alarm::new()).is_pending());
    let sender = spawn(1, move || {
        tx.try_send(0, 7).unwrap();
        tx
    });
    drop(new);
    assert_eq!(when_rung(&mut old, &alarm), Ok(7));
    at_rest(&sender.join().unwrap());
}

/// Checks G3 by N3, edge E7: a future that is dropped, told or not, leaves no item beside another.
#[test]
fn a_dropped_receive_passes_its_wake_on() {
    check_plain("a_dropped_receive_passes_its_wake_on", 3, told_receive_is_dropped);
}

#[test]
fn dropped_receive_keeps_its_wake() {
    must_fail_plain(
        "dropped_receive_keeps_its_wake",
        Fault::SwallowWake,
        3,
        told_receive_is_dropped,
    );
}

#[test]
fn owner_leaves_by_a_store() {
    must_fail_plain("owner_leaves_by_a_store", Fault::LeaveByStore, 3, told_receive_is_dropped);
}

#[test]
fn borrowers_keep_the_cell_of_one_gone() {
    must_fail_plain(
        "borrowers_keep_the_cell_of_one_gone",
        Fault::KeepGoneCells,
        3,
        told_receive_is_dropped,
    );
}

fn told_send_is_dropped() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 0).unwrap();
    let alarm = Alarm::new();
    let (mut first, mut second) = (tx.send_async(0, 1), tx.send_async(0, 2));
    assert!(poll(&mut first, Alarm::new()).is_pending());
    assert!(poll(&mut second, Arc::clone(&alarm)).is_pending());
    let receiver = spawn(1, move || {
        assert_eq!(rx.try_recv(), Ok(0));
        rx
    });
    drop(first);
    assert_eq!(when_rung(&mut second, &alarm), Ok(()));
    receiver.join().unwrap();
    at_rest(&tx);
}

/// Checks G3 by N3: the same for a send.
#[test]
fn a_dropped_send_passes_its_wake_on() {
    check_plain("a_dropped_send_passes_its_wake_on", 3, told_send_is_dropped);
}

#[test]
fn dropped_send_keeps_its_wake() {
    must_fail_plain("dropped_send_keeps_its_wake", Fault::SwallowWake, 3, told_send_is_dropped);
}

// ---- N5: told first, and by one only -------------------------------------------------------------

fn two_senders_meet_one_waiter() {
    let (tx, rx) = bounded(&[2]);
    let alarm = Alarm::new();
    let mut waiting = rx.recv_async();
    assert!(poll(&mut waiting, Arc::clone(&alarm)).is_pending());
    let other = tx.clone();
    let other = spawn(1, move || other.try_send(0, 1).unwrap());
    tx.try_send(0, 2).unwrap();
    let first = when_rung(&mut waiting, &alarm).unwrap();
    assert_eq!(first + block_on(rx.recv_async()).unwrap(), 3);
    other.join().unwrap();
    at_rest(&tx);
}

/// Checks N5: of two who notify at once one tells, the other helps or goes on.
#[test]
fn one_of_two_senders_tells() {
    check_plain("one_of_two_senders_tells", 2, two_senders_meet_one_waiter);
}

#[test]
fn sender_tells_by_a_store() {
    must_fail_plain("sender_tells_by_a_store", Fault::TellByStore, 3, two_senders_meet_one_waiter);
}

fn parked_receiver_meets_item() {
    let (tx, rx) = bounded(&[1]);
    let receiver = spawn(1, move || (rx.recv(), rx));
    tx.try_send(0, 7).unwrap();
    assert_eq!(receiver.join().unwrap().0, Ok(7));
    at_rest(&tx);
}

#[test]
fn sender_wakes_before_it_tells() {
    must_fail_plain(
        "sender_wakes_before_it_tells",
        Fault::WakeBeforeTell,
        3,
        parked_receiver_meets_item,
    );
}

// ---- N6 and N9: a cell is used again -------------------------------------------------------------

fn two_items_meet_one_receiver() {
    let (tx, rx) = bounded(&[2]);
    let sender = spawn(1, move || {
        tx.try_send(0, 1).unwrap();
        tx.try_send(0, 2).unwrap();
        tx
    });
    assert_eq!((block_on(rx.recv_async()), block_on(rx.recv_async())), (Ok(1), Ok(2)));
    at_rest(&sender.join().unwrap());
}

/// Checks G3 by N6: who has been woken announces again, and is seen.
#[test]
fn a_cell_is_announced_again() {
    check_plain("a_cell_is_announced_again", 2, two_items_meet_one_receiver);
}

#[test]
fn sender_clears_the_bit_after_its_borrow() {
    must_fail_plain(
        "sender_clears_the_bit_after_its_borrow",
        Fault::ClearAfterReturn,
        3,
        two_items_meet_one_receiver,
    );
}

/// One receiver leaves its cell, and sends; the other may have taken the cell by then.
fn cell_goes_from_one_to_another() {
    let (tx, rx) = bounded(&[2]);
    let (hasty, sender) = (rx.clone(), tx.clone());
    let hasty = spawn(1, move || {
        assert!(hasty.recv_timeout(Duration::ZERO).is_err());
        sender.try_send(0, 7).unwrap();
    });
    assert_eq!(rx.recv(), Ok(7));
    hasty.join().unwrap();
    at_rest(&tx);
}

/// Checks G3 by N6 and N9, edge E9: a cell changes hands between two threads.
#[test]
fn a_cell_changes_hands() {
    check_plain("a_cell_changes_hands", 3, cell_goes_from_one_to_another);
}

#[test]
fn owner_clears_the_bit_after_leaving() {
    must_fail_plain(
        "owner_clears_the_bit_after_leaving",
        Fault::ClearAfterLeaving,
        3,
        cell_goes_from_one_to_another,
    );
}

#[test]
fn cell_is_given_back_with_its_sleeper() {
    must_fail_plain(
        "cell_is_given_back_with_its_sleeper",
        Fault::FreeBeforeTaking,
        3,
        cell_goes_from_one_to_another,
    );
}

#[test]
fn cell_is_given_back_without_order() {
    must_fail_plain(
        "cell_is_given_back_without_order",
        Fault::FreeWithoutRelease,
        3,
        cell_goes_from_one_to_another,
    );
}

fn told_cell_is_left_and_taken() {
    let (tx, rx) = bounded(&[1]);
    let mut leaving = rx.recv_async();
    assert!(poll(&mut leaving, Alarm::new()).is_pending());
    let sender = spawn(1, move || {
        tx.try_send(0, 7).unwrap();
        tx
    });
    drop(leaving);
    assert_eq!(block_on(rx.recv_async()), Ok(7));
    at_rest(&sender.join().unwrap());
}

/// Checks N9, edge E9: an owner that finds a borrower takes another cell next time.
#[test]
fn a_borrowed_cell_is_left_to_its_borrower() {
    check_plain("a_borrowed_cell_is_left_to_its_borrower", 3, told_cell_is_left_and_taken);
}

#[test]
fn owner_takes_a_borrowed_cell_along() {
    must_fail_plain(
        "owner_takes_a_borrowed_cell_along",
        Fault::LeaveDespiteBorrowers,
        3,
        told_cell_is_left_and_taken,
    );
}

#[test]
fn borrow_ends_without_order() {
    must_fail_plain(
        "borrow_ends_without_order",
        Fault::EndWithoutRelease,
        3,
        told_cell_is_left_and_taken,
    );
}

fn task_polls_with_another_waker() {
    let (tx, rx) = bounded(&[1]);
    let mut waiting = rx.recv_async();
    assert!(poll(&mut waiting, Alarm::new()).is_pending());
    let sender = spawn(1, move || {
        tx.try_send(0, 7).unwrap();
        tx
    });
    assert_eq!(block_on_changing(waiting), Ok(7));
    at_rest(&sender.join().unwrap());
}

/// Checks G3 by N1 and N9, edge E9: the waker of the last poll is the one that is used.
#[test]
fn the_last_waker_is_used() {
    check_plain("the_last_waker_is_used", 2, task_polls_with_another_waker);
}

#[test]
fn task_keeps_its_first_waker() {
    must_fail_plain(
        "task_keeps_its_first_waker",
        Fault::KeepOldWaker,
        3,
        task_polls_with_another_waker,
    );
}

#[test]
fn cell_is_made_ready_without_order() {
    must_fail_plain(
        "cell_is_made_ready_without_order",
        Fault::ReadyWithoutRelease,
        3,
        task_polls_with_another_waker,
    );
}

#[test]
fn sender_tells_without_order() {
    must_fail_plain(
        "sender_tells_without_order",
        Fault::TellWithoutAcquire,
        3,
        task_polls_with_another_waker,
    );
}

// ---- N7: the count and the bit -------------------------------------------------------------------

/// While one announces, a wake for its band must not hide another one from the next send.
fn count_is_read_while_one_announces() {
    let (tx, rx) = bounded(&[1, 1]);
    let alarm = Alarm::new();
    let upper = rx.clone().only(BandSet::only(0));
    let lower = rx.only(BandSet::only(1));
    let mut waiting = upper.recv_async();
    assert!(poll(&mut waiting, Arc::clone(&alarm)).is_pending());
    let lower = spawn(1, move || (lower.recv(), lower));
    tx.try_send(1, 1).unwrap();
    tx.try_send(0, 0).unwrap();
    assert_eq!(when_rung(&mut waiting, &alarm), Ok(0));
    assert_eq!(lower.join().unwrap().0, Ok(1));
    at_rest(&tx);
}

/// Checks G3 by N7: the count is never too low.
#[test]
fn the_count_covers_every_bit() {
    check_plain("the_count_covers_every_bit", 3, count_is_read_while_one_announces);
}

#[test]
fn receiver_is_counted_after_its_bit() {
    must_fail_plain(
        "receiver_is_counted_after_its_bit",
        Fault::CountAfterBit,
        3,
        count_is_read_while_one_announces,
    );
}

// ---- N8 and N10: who counts as served ------------------------------------------------------------

/// A cell goes from a waiter of band 0 to one of band 1 while a send to band 0 searches.
fn cell_gets_another_set() {
    let (tx, rx) = bounded(&[1, 1]);
    let alarm = Alarm::new();
    let upper = rx.clone().only(BandSet::only(0));
    let mut waiting = upper.recv_async();
    assert!(poll(&mut waiting, Arc::clone(&alarm)).is_pending());
    let other = spawn(1, move || {
        let upper = rx.clone().only(BandSet::only(0));
        let mut leaving = upper.recv_async();
        let left = poll(&mut leaving, Alarm::new());
        drop(leaving);
        let lower = rx.clone().only(BandSet::only(1));
        let mut dormant = lower.recv_async();
        assert!(poll(&mut dormant, Alarm::new()).is_pending());
        // It would pass a wake on if it were dropped.
        mem::forget(dormant);
        left
    });
    tx.try_send(0, 7).unwrap();
    let taken = match other.join().unwrap() {
        Poll::Ready(taken) => taken,
        Poll::Pending => when_rung(&mut waiting, &alarm),
    };
    assert_eq!(taken, Ok(7));
}

/// Checks G3 by N8: a tell of one who does not have the band does not count.
#[test]
fn a_wrong_catch_does_not_count() {
    check_plain("a_wrong_catch_does_not_count", 3, cell_gets_another_set);
}

#[test]
fn sender_trusts_the_first_set() {
    must_fail_plain("sender_trusts_the_first_set", Fault::TrustFirstSet, 3, cell_gets_another_set);
}

fn item_of_a_band_nobody_else_has() {
    let (tx, rx) = bounded(&[1, 1]);
    let (upper, lower) = (rx.clone().only(BandSet::only(0)), rx.only(BandSet::only(1)));
    let (alarm, other) = (Alarm::new(), Alarm::new());
    let (mut waiting, mut newer) = (upper.recv_async(), lower.recv_async());
    assert!(poll(&mut waiting, Arc::clone(&alarm)).is_pending());
    assert!(poll(&mut newer, Arc::clone(&other)).is_pending());
    let sender = spawn(1, move || {
        tx.try_send(0, 7).unwrap();
        tx
    });
    assert_eq!(when_rung(&mut waiting, &alarm), Ok(7));
    assert_eq!(other.rung(), 0, "nothing came for it");
    drop(newer);
    at_rest(&sender.join().unwrap());
}

/// Checks G3 and G5 by N8: a wake goes to one that has the band, and to no other.
#[test]
fn a_wake_finds_one_that_has_the_band() {
    check_plain("a_wake_finds_one_that_has_the_band", 3, item_of_a_band_nobody_else_has);
}

#[test]
fn sender_tells_anybody() {
    must_fail_plain("sender_tells_anybody", Fault::BlindTell, 3, item_of_a_band_nobody_else_has);
}

/// The newest waiter is told and never polled again; the second item is another's.
fn two_items_meet_a_dormant_waiter() {
    let (tx, rx) = bounded(&[2]);
    let alarm = Alarm::new();
    let (mut waiting, mut dormant) = (rx.recv_async(), rx.recv_async());
    assert!(poll(&mut waiting, Arc::clone(&alarm)).is_pending());
    assert!(poll(&mut dormant, Alarm::new()).is_pending());
    let other = tx.clone();
    let other = spawn(1, move || other.try_send(0, 7).unwrap());
    tx.try_send(0, 7).unwrap();
    assert_eq!(when_rung(&mut waiting, &alarm), Ok(7));
    other.join().unwrap();
    drop(dormant);
    at_rest(&tx);
}

/// Checks G3 by N10: one that is told already does not count for the next item.
#[test]
fn a_told_waiter_serves_one_item() {
    check_plain("a_told_waiter_serves_one_item", 2, two_items_meet_a_dormant_waiter);
}

#[test]
fn sender_counts_one_told_by_another() {
    must_fail_plain(
        "sender_counts_one_told_by_another",
        Fault::ToldCountsAsServed,
        3,
        two_items_meet_a_dormant_waiter,
    );
}

/// Two dormant tasks fill the first segment; the receiver needs a second one.
fn receiver_adds_a_segment() {
    let (tx, rx) = bounded(&[1, 1]);
    let (upper, lower) = (rx.clone().only(BandSet::only(0)), rx.only(BandSet::only(1)));
    let (mut one, mut two) = (upper.recv_async(), upper.recv_async());
    assert!(poll(&mut one, Alarm::new()).is_pending());
    assert!(poll(&mut two, Alarm::new()).is_pending());
    let lower = spawn(1, move || (lower.recv(), lower));
    tx.try_send(1, 7).unwrap();
    assert_eq!(lower.join().unwrap().0, Ok(7));
    drop((one, two));
    at_rest(&tx);
}

/// Checks G3, edges E7 and E9: a segment is added while a send searches.
#[test]
fn a_new_segment_is_searched() {
    check_plain("a_new_segment_is_searched", 3, receiver_adds_a_segment);
}

#[test]
fn sender_searches_the_first_segment() {
    must_fail_plain(
        "sender_searches_the_first_segment",
        Fault::FirstSegmentOnly,
        3,
        receiver_adds_a_segment,
    );
}

// ---- N4: release, and close, of tasks ------------------------------------------------------------

/// The receive waits since before the release; an item comes after it.
fn release_and_item_beside_a_poll() {
    let (tx, rx) = bounded(&[1]);
    let alarm = Alarm::new();
    let mut waiting = rx.recv_async();
    assert!(poll(&mut waiting, Arc::clone(&alarm)).is_pending());
    let other = rx.clone();
    let other = spawn(1, move || {
        other.release();
        tx.try_send(0, 7).unwrap();
        tx
    });
    assert_eq!(when_rung(&mut waiting, &alarm), Err(RecvError::Released));
    let tx = other.join().unwrap();
    assert_eq!(rx.try_recv(), Ok(7));
    at_rest(&tx);
}

/// Checks N4, edge E8: a receive that waits is released, and takes no item that comes later.
#[test]
fn a_release_is_exact() {
    check_plain("a_release_is_exact", 3, release_and_item_beside_a_poll);
}

#[test]
fn released_receiver_tries_first() {
    must_fail_plain(
        "released_receiver_tries_first",
        Fault::TakeWhenReleased,
        3,
        release_and_item_beside_a_poll,
    );
}

fn release_beside_a_poll() {
    let (tx, rx) = bounded::<u8>(&[1]);
    let mut waiting = rx.recv_async();
    assert!(poll(&mut waiting, Alarm::new()).is_pending());
    let other = rx.clone();
    let other = spawn(1, move || other.release());
    assert_eq!(block_on_changing(waiting), Err(RecvError::Released));
    other.join().unwrap();
    at_rest(&tx);
}

#[test]
fn receiver_looks_for_no_release() {
    must_fail_plain(
        "receiver_looks_for_no_release",
        Fault::ReleaseAsPulse,
        3,
        release_beside_a_poll,
    );
}

#[test]
fn release_wakes_before_the_epoch() {
    must_fail_plain(
        "release_wakes_before_the_epoch",
        Fault::EpochAfterWaking,
        3,
        release_beside_a_poll,
    );
}

/// Whether the second receive found the channel closed by itself.
static CLOSED_AT_ONCE: Seen<bool> = Seen::new();

fn close_beside_two_tasks() {
    let (tx, rx) = bounded::<u8>(&[1]);
    let alarm = Alarm::new();
    let (mut first, mut second) = (rx.recv_async(), rx.recv_async());
    assert!(poll(&mut first, Arc::clone(&alarm)).is_pending());
    let closer = tx.clone();
    let closer = spawn(1, move || closer.close());
    let at_once = poll(&mut second, Arc::clone(&alarm));
    CLOSED_AT_ONCE.add(at_once.is_ready());
    // The one that did not see the close itself, if there is one, must be woken for it.
    while alarm.rung() == 0 {
        alarm.sleep();
    }
    assert!(closer.join().unwrap());
    assert_eq!(block_on(first), Err(RecvError::Closed));
    if at_once.is_pending() {
        assert_eq!(block_on(second), Err(RecvError::Closed));
    }
    at_rest(&tx);
}

/// Checks G3 by N1: a close wakes tasks.
#[test]
fn a_close_wakes_tasks() {
    check_plain("a_close_wakes_tasks", 3, close_beside_two_tasks);
    assert_eq!(CLOSED_AT_ONCE.all(), [false, true]);
}

fn close_beside_two_waiting_tasks() {
    let (tx, rx) = bounded::<u8>(&[1]);
    let alarms = (Alarm::new(), Alarm::new());
    let (mut first, mut second) = (rx.recv_async(), rx.recv_async());
    assert!(poll(&mut first, Arc::clone(&alarms.0)).is_pending());
    assert!(poll(&mut second, Arc::clone(&alarms.1)).is_pending());
    let closer: Receiver<u8> = rx.clone();
    let closer = spawn(1, move || closer.close());
    while alarms.0.rung() == 0 {
        alarms.0.sleep();
    }
    while alarms.1.rung() == 0 {
        alarms.1.sleep();
    }
    assert!(closer.join().unwrap());
    drop((first, second));
    at_rest(&tx);
}

#[test]
fn close_wakes_one_only() {
    must_fail_plain(
        "close_wakes_one_only",
        Fault::CloseWakesOne,
        3,
        close_beside_two_waiting_tasks,
    );
}
