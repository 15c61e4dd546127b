//! G4: every item is dropped exactly once, wherever it ends; and items of awkward types.

mod common;

use common::{Counted, Dice, ROUNDS, Tally, join, parked, within};
use overtake_core::{SendError, TrySendError, bounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

#[test]
fn items_inside_go_with_the_last_receiver() {
    let tally = Tally::default();
    let (tx, rx) = bounded(&[4, 4]);
    for band in [0, 1, 1] {
        tx.try_send(band, tally.item()).unwrap();
    }
    drop(rx);
    assert_eq!(tally.dropped(), 3);
    drop(tx.try_send(0, tally.item()));
    tally.assert_all_dropped_once();
}

#[test]
fn items_inside_outlive_the_last_sender() {
    let tally = Tally::default();
    let (tx, rx) = bounded(&[4, 4]);
    for band in [0, 1, 1] {
        tx.try_send(band, tally.item()).unwrap();
    }
    drop(tx);
    drop(rx.recv());
    assert_eq!(tally.dropped(), 1);
    drop(rx);
    tally.assert_all_dropped_once();
}

#[test]
fn a_refused_item_is_the_callers() {
    let tally = Tally::default();
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, tally.item()).unwrap();
    let refused = tx.try_send(0, tally.item()).unwrap_err();
    assert!(refused.is_full());
    assert_eq!(tally.dropped(), 0);
    assert_eq!(refused.into_inner().id, 1);
    assert_eq!(tally.dropped(), 1);
    drop((tx, rx));
    tally.assert_all_dropped_once();
}

#[test]
fn kind_06_items_sent_while_the_last_receiver_goes_are_dropped_once() {
    within(120, || {
        let mut dice = Dice::new(6);
        for _ in 0..ROUNDS / 20 {
            let tally = Tally::default();
            let (tx, rx) = bounded(&[2, 3]);
            let barrier = Arc::new(Barrier::new(5));
            let senders: Vec<_> = (0..4)
                .map(|sender| {
                    let (tx, tally, start) = (tx.clone(), tally.clone(), Arc::clone(&barrier));
                    thread::spawn(move || {
                        start.wait();
                        while tx.send(sender % 2, Box::new(tally.item())).is_ok() {}
                    })
                })
                .collect();
            barrier.wait();
            let taken = rx.iter().take(dice.below(8)).count();
            let (first, second): (Box<dyn Send>, Box<dyn Send>) = if taken % 2 == 0 {
                (Box::new(rx), Box::new(tx))
            } else {
                (Box::new(tx), Box::new(rx))
            };
            let elsewhere = thread::spawn(move || drop(first));
            drop(second);
            join(elsewhere);
            senders.into_iter().for_each(join);
            tally.assert_all_dropped_once();
        }
    });
}

#[test]
fn no_item_stays_inside_while_senders_live_on() {
    within(120, || {
        for _ in 0..ROUNDS / 4 {
            let item = Arc::new(());
            let (tx, rx) = bounded(&[1]);
            let sent = Arc::clone(&item);
            let sender = thread::spawn(move || {
                // Whether it gets in or comes back, it must be gone afterwards.
                let _ = tx.try_send(0, sent);
                tx
            });
            drop(rx);
            let _tx = join(sender);
            assert_eq!(Arc::strong_count(&item), 1);
        }
    });
}

#[test]
fn many_threads_drop_each_item_once() {
    within(120, || {
        let tally = Tally::default();
        let (tx, rx) = bounded(&[3, 5]);
        let senders: Vec<_> = (0..4)
            .map(|sender| {
                let (tx, tally) = (tx.clone(), tally.clone());
                thread::spawn(move || {
                    for _ in 0..2_000 {
                        tx.send(sender % 2, tally.item()).unwrap();
                    }
                })
            })
            .collect();
        drop(tx);
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let rx = rx.clone();
                thread::spawn(move || rx.iter().count())
            })
            .collect();
        drop(rx);
        senders.into_iter().for_each(join);
        assert_eq!(receivers.into_iter().map(join).sum::<usize>(), 8_000);
        tally.assert_all_dropped_once();
    });
}

// ---- kind 07: an item whose `Drop` panics ------------------------------------------------------

/// Panics in `Drop` where it is marked so, after having been counted.
struct Fragile {
    counted: Counted,
    panics: bool,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(!self.panics, "item {} is fragile", self.counted.id);
    }
}

/// Sends eight items, of which those in `panicking` panic.
fn eight(tally: &Tally, panicking: &[usize], mut send: impl FnMut(usize, Fragile)) {
    for number in 0..8 {
        let panics = panicking.contains(&number);
        send(number % 2, Fragile { counted: tally.item(), panics });
    }
}

#[test]
fn kind_07_a_panicking_item_in_a_dropped_channel_is_dropped_once() {
    let tally = Tally::default();
    let (tx, rx) = bounded(&[4, 4]);
    eight(&tally, &[3], |band, item| drop(tx.try_send(band, item)));
    drop(tx);
    let panic = catch_unwind(AssertUnwindSafe(|| drop(rx))).expect_err("the item's panic");
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "item 3 is fragile");
    tally.assert_all_dropped_once();
}

#[test]
fn kind_07_a_panicking_item_leaves_senders_a_closed_channel() {
    within(10, || {
        let tally = Tally::default();
        let (tx, rx) = bounded(&[4, 4]);
        eight(&tally, &[0, 5], |band, item| drop(tx.try_send(band, item)));
        let (blocked, last) = (tx.clone(), tally.item());
        let blocked = parked(move || {
            let SendError(back) =
                blocked.send(1, Fragile { counted: last, panics: false }).unwrap_err();
            back.counted.id
        });
        let panic = catch_unwind(AssertUnwindSafe(|| drop(rx))).expect_err("the item's panic");
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "item 0 is fragile");
        assert_eq!(join(blocked), 8);
        assert!(tx.is_closed() && tx.is_empty());
        let late = tx.try_send(0, Fragile { counted: tally.item(), panics: false });
        assert!(late.is_err_and(|error| error.is_closed()));
        drop(tx);
        tally.assert_all_dropped_once();
    });
}

#[test]
fn kind_07_items_that_panic_during_a_panic_abort_nothing() {
    let tally = Tally::default();
    let (tx, rx) = bounded(&[4, 4]);
    eight(&tally, &[1, 2], |band, item| drop(tx.try_send(band, item)));
    let panic = catch_unwind(AssertUnwindSafe(move || {
        let _goes_while_unwinding = rx;
        panic!("the first panic");
    }));
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"the first panic"));
    tally.assert_all_dropped_once();
}

// ---- awkward types -----------------------------------------------------------------------------

#[test]
fn items_without_size_are_counted() {
    static DROPPED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    struct Nothing;
    impl Drop for Nothing {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (tx, rx) = bounded(&[3]);
    for _ in 0..3 {
        assert!(tx.try_send(0, Nothing).is_ok());
    }
    assert!(tx.try_send(0, Nothing).is_err_and(|error| error.is_full()));
    assert_eq!((DROPPED.load(Ordering::SeqCst), rx.len()), (1, 3));
    assert_eq!(rx.try_iter().count(), 3);
    assert_eq!((DROPPED.load(Ordering::SeqCst), rx.len()), (4, 0));
}

#[test]
fn an_over_aligned_item_keeps_its_alignment() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(256))]
    struct Wide(u8);
    let (tx, rx) = bounded(&[3, 3]);
    for number in 0..6 {
        tx.try_send(usize::from(number) % 2, Wide(number)).unwrap();
    }
    let received: Vec<_> = rx.iter().take(6).collect();
    assert!(received.iter().all(|item| std::ptr::from_ref(item).addr() % 256 == 0));
    assert_eq!(received, [0, 2, 4, 1, 3, 5].map(Wide));
}

#[test]
fn a_large_item_arrives_whole() {
    let (tx, rx) = bounded(&[2]);
    let item: [u64; 4_096] = std::array::from_fn(|at| at as u64);
    let receiver = thread::spawn(move || rx.recv().map(Box::new));
    tx.send(0, item).unwrap();
    assert!(*join(receiver).unwrap() == item);
}

#[test]
fn channels_pass_through_channels() {
    let (tx, rx) = bounded(&[1]);
    let (inner_tx, inner_rx) = bounded(&[1]);
    tx.send(0, inner_tx).unwrap();
    rx.recv().unwrap().send(0, 'x').unwrap();
    assert_eq!(inner_rx.recv(), Ok('x'));
    assert!(inner_rx.is_closed());
}

#[test]
fn an_error_without_its_handle_still_holds_the_item() {
    static GONE: AtomicBool = AtomicBool::new(false);
    struct Item;
    impl Drop for Item {
        fn drop(&mut self) {
            GONE.store(true, Ordering::SeqCst);
        }
    }
    let (tx, rx) = bounded(&[1]);
    drop(rx);
    let error = tx.try_send(0, Item);
    drop(tx);
    assert!(!GONE.load(Ordering::SeqCst));
    assert!(matches!(error, Err(TrySendError::Closed(Item))));
    drop(error);
    assert!(GONE.load(Ordering::SeqCst));
}
