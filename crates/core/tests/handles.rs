//! Handles that do not count, handles of one band, and threads beside tasks on one channel.

mod common;
mod tasks;

use common::{ROUNDS, Tally, join, parked, within};
use overtake_core::{
    BandSet, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
    WeakReceiver, WeakSender, bounded,
};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};
use tasks::Task;

// ---- weak --------------------------------------------------------------------------------------------

#[test]
fn the_last_sender_closes_despite_weak_ones() {
    let (tx, rx) = bounded(&[2]);
    let weak = tx.downgrade();
    assert_eq!((tx.sender_count(), rx.sender_count()), (1, 1));
    tx.send(0, 1).unwrap();
    let second = weak.clone().upgrade().expect("one is there");
    assert_eq!(tx.sender_count(), 2);
    drop(tx);
    assert!(!rx.is_closed(), "the second keeps it open");
    second.send(0, 2).unwrap();
    drop(second);
    assert!(rx.is_closed() && weak.upgrade().is_none() && weak.clone().upgrade().is_none());
    assert_eq!(rx.sender_count(), 0);
    assert_eq!(rx.iter().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn the_last_receiver_drops_what_is_inside_despite_weak_ones() {
    let tally = Tally::default();
    let (tx, rx) = bounded(&[2]);
    let weak = rx.downgrade();
    assert!(tx.try_send(0, tally.item()).is_ok());
    assert_eq!((rx.receiver_count(), tally.dropped()), (1, 0));
    drop(rx);
    assert_eq!((tally.dropped(), tx.receiver_count()), (1, 0));
    assert!(tx.is_closed() && weak.upgrade().is_none());
    assert!(tx.try_send(0, tally.item()).is_err_and(|refused| refused.is_closed()));
    drop((tx, weak));
    tally.assert_all_dropped_once();
}

#[test]
fn a_weak_receiver_gives_back_one_for_the_same_bands() {
    let (tx, rx) = bounded(&[1, 1, 1]);
    let weak = rx.clone().only(BandSet::only(1)).downgrade();
    (0..3).for_each(|band| tx.send(band, band).unwrap());
    let upgraded = weak.upgrade().expect("one is there");
    assert_eq!(upgraded.bands(), BandSet::only(1));
    assert!(upgraded.same_channel(&rx));
    assert_eq!((upgraded.try_recv(), upgraded.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
}

/// Closed is not gone: handles still upgrade, and stay closed.
#[test]
fn an_upgrade_opens_nothing_that_was_closed() {
    let (tx, rx) = bounded(&[1]);
    tx.send(0, 1).unwrap();
    let (weak_tx, weak_rx) = (tx.downgrade(), rx.downgrade());
    assert!(tx.close());
    let again = weak_tx.upgrade().expect("a sender is there");
    assert_eq!(again.send(0, 2), Err(SendError(2)));
    let again = weak_rx.upgrade().expect("a receiver is there");
    assert_eq!((again.recv(), again.recv()), (Ok(1), Err(RecvError::Closed)));
}

/// A weak handle that is the last of all frees the channel, with the wakers that were forgotten.
#[test]
fn the_memory_stays_until_the_last_weak_handle_goes() {
    let task = Task::new();
    let (tx, rx) = bounded::<u8>(&[1]);
    let (weak_tx, weak_rx) = (tx.downgrade(), rx.downgrade());
    let mut receive = rx.recv_async();
    assert!(task.poll(&mut receive).is_pending());
    std::mem::forget(receive);
    drop((tx, rx));
    assert!(format!("{weak_tx:?} {weak_rx:?}").contains("WeakSender"));
    drop(weak_tx);
    assert_eq!(task.alive(), 1);
    drop(weak_rx);
    assert_eq!(task.alive(), 0);
}

/// Raced with the end of the last: either the upgrade is in time, and the channel stays open for it,
/// or there is none.
#[test]
fn an_upgrade_beside_the_last_drop_is_whole_or_none() {
    within(60, || {
        let mut upgraded = 0;
        for _ in 0..ROUNDS / 4 {
            let (tx, rx) = bounded(&[1]);
            let (weak_tx, weak_rx): (WeakSender<u8>, WeakReceiver<u8>) =
                (tx.downgrade(), rx.downgrade());
            let start = Arc::new(Barrier::new(2));
            let barrier = Arc::clone(&start);
            let thread = thread::spawn(move || {
                barrier.wait();
                drop(tx);
            });
            start.wait();
            if let Some(tx) = weak_tx.upgrade() {
                upgraded += 1;
                assert_eq!((tx.send(0, 1), rx.recv()), (Ok(()), Ok(1)));
            }
            join(thread);
            assert_eq!(rx.recv(), Err(RecvError::Closed));
            assert!(weak_tx.upgrade().is_none() && weak_rx.upgrade().is_some());
        }
        println!("{upgraded} upgrades were in time");
    });
}

#[test]
fn a_parked_receiver_ends_when_only_weak_senders_are_left() {
    within(10, || {
        let (tx, rx) = bounded::<u8>(&[1]);
        let weak = tx.downgrade();
        let task = Task::new();
        let other = rx.clone();
        let mut receive = other.recv_async();
        assert!(task.poll(&mut receive).is_pending());
        let thread = parked(move || rx.recv());
        drop(tx);
        assert_eq!(join(thread), Err(RecvError::Closed));
        assert_eq!(task.wakes(), 1);
        assert_eq!(task.poll(&mut receive), Poll::Ready(Err(RecvError::Closed)));
        assert!(weak.upgrade().is_none());
    });
}

// ---- bound to a band -----------------------------------------------------------------------------------

#[test]
fn a_bound_sender_does_what_a_sender_does_in_its_band() {
    let (tx, rx) = bounded(&[9, 2]);
    let bulk = tx.band(1);
    let shown = format!("{bulk:?}");
    assert!(shown.starts_with("BandSender { band: 1"), "{shown}");
    assert_eq!((bulk.band(), bulk.capacity(), bulk.len(), bulk.is_empty()), (1, 2, 0, true));
    assert!(bulk.sender().same_channel(&tx));
    let past = Instant::now();
    assert_eq!(bulk.send('a'), Ok(()));
    assert_eq!(bulk.clone().send_deadline('b', past), Ok(()));
    assert_eq!((bulk.len(), bulk.is_full(), bulk.is_empty()), (2, true, false));
    assert_eq!(bulk.try_send('c'), Err(TrySendError::Full('c')));
    assert_eq!(bulk.send_timeout('d', Duration::ZERO), Err(SendTimeoutError::Timeout('d')));
    assert_eq!(rx.recv_with_band(), Ok((1, 'a')));
    assert_eq!(pollster::block_on(bulk.send_async('e')), Ok(()));
    assert_eq!(rx.len_of(0), 0);
    tx.close();
    assert_eq!(bulk.send('f'), Err(SendError('f')));
    assert_eq!(rx.try_iter().collect::<String>(), "be");
}

#[test]
fn a_bound_sender_keeps_the_channel_open() {
    let (tx, rx) = bounded::<u8>(&[1, 1]);
    let bound = tx.band(0);
    let second = bound.clone();
    drop((tx, bound));
    assert_eq!((rx.is_closed(), rx.sender_count()), (false, 1));
    drop(second);
    assert!(rx.is_closed());
}

#[test]
#[should_panic(expected = "band 2 of a channel with 2 bands")]
fn a_sender_cannot_be_bound_to_a_band_that_is_not_there() {
    let (tx, _rx) = bounded::<u8>(&[1, 1]);
    let _ = tx.band(2);
}

// ---- threads and tasks ---------------------------------------------------------------------------------

#[test]
fn threads_and_tasks_wait_side_by_side() {
    within(10, || {
        let (tx, rx) = bounded(&[4, 4]);
        let thread = rx.clone();
        let thread = parked(move || thread.recv());
        let task = Task::new();
        let mut receive = rx.recv_async();
        assert!(task.poll(&mut receive).is_pending());
        let timed = rx.clone();
        let timed = parked(move || timed.recv_timeout(Duration::MAX));
        (0..3).for_each(|item| tx.try_send(1, item).unwrap());
        assert_eq!(task.wakes(), 1, "each item wakes one");
        let Poll::Ready(Ok(mine)) = task.poll(&mut receive) else { panic!("an item is there") };
        assert_eq!(mine + join(thread).unwrap() + join(timed).unwrap(), 3);

        let both = [rx.clone(), rx.clone()];
        let [by_thread, by_task] = both;
        let by_thread = parked(move || by_thread.recv_timeout(Duration::MAX));
        let mut by_task = by_task.recv_async();
        assert!(task.poll(&mut by_task).is_pending());
        tx.release();
        assert_eq!(join(by_thread), Err(RecvTimeoutError::Released));
        assert_eq!(task.poll(&mut by_task), Poll::Ready(Err(RecvError::Released)));
    });
}
