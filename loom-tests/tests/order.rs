//! Models of the order of what comes out, and of `Empty`: G1 by S1, S2 and W1.
#![cfg(overtake_loom)]

use overtake_core::internals::Fault;
use overtake_core::{BandSet, TryRecvError, bounded};
use overtake_loom_tests::{Seen, check, check_plain, must_fail, spawn};

// ---- S1: strict ----------------------------------------------------------------------------------

/// What was received first.
static FIRST: Seen<Option<&str>> = Seen::new();

/// The lower band's bit is set, the upper one's is not: the evidence is the bit.
fn urgent_before_bulk() {
    let (tx, rx) = bounded(&[1, 1]);
    tx.try_send(1, "before").unwrap();
    rx.try_recv().unwrap();
    let sender = spawn(1, move || {
        tx.try_send(0, "urgent").unwrap();
        tx.try_send(1, "bulk").unwrap();
        tx
    });
    let first = rx.try_recv().ok();
    FIRST.add(first);
    assert_ne!(first, Some("bulk"), "the urgent item was inside before");
    let _open = sender.join().unwrap();
}

/// Checks G1 by S1: whatever a receiver looked at before, it takes no item past one that was sent
/// earlier to a band above.
#[test]
fn no_item_is_taken_past_an_earlier_urgent_one() {
    check("no_item_is_taken_past_an_earlier_urgent_one", 3, urgent_before_bulk);
    assert_eq!(FIRST.all(), [None, Some("urgent")]);
}

#[test]
fn receiver_sweeps_once() {
    must_fail("receiver_sweeps_once", Fault::PlainSweep, 3, urgent_before_bulk);
}

/// As above with both bits set beforehand: the evidence is the ring.
fn urgent_before_bulk_in_used_bands() {
    let (tx, rx) = bounded(&[1, 1]);
    for band in [1, 0] {
        tx.try_send(band, "before").unwrap();
        rx.try_recv().unwrap();
    }
    let sender = spawn(1, move || {
        tx.try_send(0, "urgent").unwrap();
        tx.try_send(1, "bulk").unwrap();
        tx
    });
    assert_ne!(rx.try_recv(), Ok("bulk"), "the urgent item was inside before");
    let _open = sender.join().unwrap();
}

/// Checks G1 by S1 and W1, beside a clear.
#[test]
fn used_bands_are_as_strict() {
    check("used_bands_are_as_strict", 2, urgent_before_bulk_in_used_bands);
}

#[test]
fn receiver_sweeps_used_bands_once() {
    must_fail(
        "receiver_sweeps_used_bands_once",
        Fault::PlainSweep,
        2,
        urgent_before_bulk_in_used_bands,
    );
}

/// What was received first, and with it.
static RUN: Seen<Vec<&str>> = Seen::new();

/// A capacity of 4 gives runs of 2.
fn urgent_before_the_second_of_a_run() {
    let (tx, rx) = bounded(&[1, 4]);
    tx.try_send(1, "first").unwrap();
    let sender = spawn(1, move || {
        tx.try_send(0, "urgent").unwrap();
        tx.try_send(1, "second").unwrap();
        tx
    });
    let mut items = Vec::new();
    rx.try_recv_many(&mut items, 2).unwrap();
    RUN.add(items.clone());
    assert_ne!(items, ["first", "second"], "the urgent item was inside before the second");
    let _open = sender.join().unwrap();
}

/// Checks G1 by S1 and R10: all of a run is looked at before the bands above are looked at again.
#[test]
fn no_run_passes_an_earlier_urgent_item() {
    check("no_run_passes_an_earlier_urgent_item", 2, urgent_before_the_second_of_a_run);
    assert_eq!(RUN.all(), [vec!["first"], vec!["first", "urgent"], vec!["urgent", "first"]]);
}

#[test]
fn receiver_takes_more_than_it_looked_at() {
    must_fail(
        "receiver_takes_more_than_it_looked_at",
        Fault::LateRun,
        2,
        urgent_before_the_second_of_a_run,
    );
}

// ---- S2: exact `Empty` -----------------------------------------------------------------------------

/// What the receiver of all bands got, and the one of the lower band.
static BOTH: Seen<(Option<&str>, Option<&str>)> = Seen::new();

fn never_empty() {
    let (tx, rx) = bounded(&[1, 1]);
    tx.try_send(1, "bulk").unwrap();
    let lower = rx.clone().only(BandSet::only(1));
    let other = spawn(1, move || {
        tx.try_send(0, "urgent").unwrap();
        (lower.try_recv().ok(), tx)
    });
    let here = rx.try_recv();
    let (there, _tx) = other.join().unwrap();
    BOTH.add((here.ok(), there));
    assert_ne!(here, Err(TryRecvError::Empty), "one item was always inside");
}

/// Checks G1 by S2, with a restricted receiver: `Empty` only where all bands were empty at once.
#[test]
fn empty_is_exact() {
    check("empty_is_exact", 3, never_empty);
    let all = [(Some("bulk"), None), (Some("urgent"), Some("bulk"))];
    assert_eq!(BOTH.all(), all);
}

#[test]
fn receiver_answers_empty_at_once() {
    must_fail("receiver_answers_empty_at_once", Fault::EmptyAtOnce, 3, never_empty);
}

/// Each side sends to its own band and then looks at the other's. The bands' bits are in two
/// words, and clear.
fn each_sends_then_looks() {
    let (tx, rx) = bounded(&[1; 17]);
    let side = |own: usize, other: usize| {
        let (tx, rx) = (tx.clone(), rx.clone().only(BandSet::only(other)));
        move || {
            tx.try_send(own, own).unwrap();
            rx.try_recv().is_err()
        }
    };
    let there = spawn(1, side(16, 0));
    let here = side(0, 16)();
    let there = there.join().unwrap();
    assert!(!(here && there), "one of the two sends was first");
}

/// Checks G1, edges E2 and E3: two senders cannot both be before the other.
#[test]
fn one_of_two_sends_is_first() {
    check("one_of_two_sends_is_first", 3, each_sends_then_looks);
}

#[test]
fn no_order_after_a_send() {
    must_fail("no_order_after_a_send", Fault::TellWithoutFence, 3, each_sends_then_looks);
}

// ---- W1: a clear beside a send -----------------------------------------------------------------------

/// Whether the receiver that cleared got the item.
static CLEARED: Seen<bool> = Seen::new();

/// The band's bit is set, the band is empty: the receive that finds this clears the bit.
fn clear_beside_a_send() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    rx.try_recv().unwrap();
    let sender = spawn(1, move || (tx.try_send(0, 2).unwrap(), tx));
    let here = rx.try_recv();
    CLEARED.add(here.is_err());
    let _open = sender.join().unwrap();
    if here.is_err() {
        assert_eq!(rx.try_recv(), Ok(2), "a finished send's item is seen");
    }
}

/// Checks W1, edge E3: a finished send's item is found, whoever cleared the bit meanwhile.
#[test]
fn a_clear_hides_no_item() {
    check("a_clear_hides_no_item", 3, clear_beside_a_send);
    assert_eq!(CLEARED.all(), [false, true]);
}

#[test]
fn sender_looks_at_the_bit_too_early() {
    must_fail(
        "sender_looks_at_the_bit_too_early",
        Fault::EnsureWithoutFence,
        3,
        clear_beside_a_send,
    );
}

#[test]
fn clear_looks_at_the_band_too_early() {
    must_fail(
        "clear_looks_at_the_band_too_early",
        Fault::ClearWithoutFence,
        3,
        clear_beside_a_send,
    );
}

fn two_clears_beside_a_send() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    rx.try_recv().unwrap();
    let other = rx.clone();
    let other = spawn(1, move || other.try_recv().is_ok());
    let sender = spawn(2, move || (tx.try_send(0, 2).unwrap(), tx));
    let here = rx.try_recv().is_ok();
    let there = other.join().unwrap();
    let _open = sender.join().unwrap();
    assert_eq!(rx.try_recv().is_ok(), !(here || there), "received once");
}

/// Checks W1 and W4: two clears of one band, and the version between them.
#[test]
fn two_clears_hide_no_item() {
    check_plain("two_clears_hide_no_item", 2, two_clears_beside_a_send);
}
