//! What users of other bounded channels take for granted, asked of this one in three ways. Here:
//! one thread, and what a call answers when there is no room, no item, or nobody else.
//!
//! Left out of the suites that this follows, because it does not exist here: select and ready sets,
//! capacity 0 and rendezvous, unbounded channels, timers as channels, forced sends that push out
//! the oldest item, permits and reservations. Futures have tests of their own. Destructors that
//! panic are in `drops`, thread-locals that use a channel at their end in `reentrancy`, the order
//! across bands in `priority_order`.

mod common;
mod ways;

use overtake_core::{
    Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
use std::time::Duration;
use ways::{Tx, Way, in_every_way};

in_every_way! {
    an_item_comes_out_once,
    a_capacity_is_as_asked,
    sizes_follow_every_step,
    sizes_hold_for_many_laps,
    a_receive_that_may_not_wait_says_empty_then_closed,
    a_send_that_may_not_wait_says_full_then_closed,
    a_timed_receive_ends_by_its_timeout_or_by_closing,
    a_timed_send_ends_by_its_timeout_or_by_closing,
    what_is_there_beats_a_timeout_of_zero,
    a_send_after_the_receivers_are_gone_gives_the_item_back,
    a_receive_after_the_senders_are_gone_gets_the_rest,
    items_without_size_are_items,
    large_items_arrive_whole,
    #[cfg_attr(debug_assertions, ignore = "without optimisation each new place is moved over the stack")]
    room_for_large_items_needs_no_large_stack,
    channels_are_items,
    clones_are_the_same_channel,
    items_come_out_in_order_for_many_laps,
    a_full_channel_can_be_dropped,
}

const ZERO: Duration = Duration::ZERO;
const SHORT: Duration = Duration::from_millis(1);

fn an_item_comes_out_once(way: Way) {
    let (tx, rx) = way.channel(1);
    tx.send(7).unwrap();
    assert_eq!(rx.try_recv(), Ok(7));
    tx.try_send(8).unwrap();
    assert_eq!(rx.recv(), Ok(8));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
}

fn a_capacity_is_as_asked(way: Way) {
    for capacity in 1..10 {
        let (tx, rx) = way.channel::<u8>(capacity);
        assert!((0..tx.band_count()).all(|band| tx.capacity_of(band) == capacity));
        assert_eq!(rx.capacity_of(way.band(0)), capacity);
        for _ in 0..way.room(capacity) {
            tx.try_send(0).unwrap();
        }
        assert!(tx.try_send(0).is_err_and(|error| error.is_full()));
    }
}

/// Fails unless both sides see so many items in a channel with room for `capacity` in a band.
#[track_caller]
fn assert_holds(tx: &Tx<usize>, rx: &Receiver<usize>, items: usize) {
    assert_eq!((tx.len(), rx.len()), (items, items));
    assert_eq!((tx.is_empty(), rx.is_empty()), (items == 0, items == 0));
    let by_band: usize = (0..tx.band_count()).map(|band| rx.len_of(band)).sum();
    assert_eq!(by_band, items);
}

fn sizes_follow_every_step(way: Way) {
    let (tx, rx) = way.channel(2);
    let room = way.room(2);
    for number in 0..room {
        assert_holds(&tx, &rx, number);
        assert!(!tx.is_full());
        tx.try_send(number).unwrap();
    }
    assert_holds(&tx, &rx, room);
    assert!(tx.is_full() && rx.is_full(tx.band()));
    rx.recv().unwrap();
    assert_holds(&tx, &rx, room - 1);
    assert!(!tx.is_full());
    assert_eq!(rx.try_iter().count(), room - 1);
    assert_holds(&tx, &rx, 0);
}

fn sizes_hold_for_many_laps(way: Way) {
    let (tx, rx) = way.channel(5);
    for lap in 0..200 {
        for number in 0..=lap % 5 {
            tx.send(number).unwrap();
        }
        assert_holds(&tx, &rx, lap % 5 + 1);
        for left in (0..=lap % 5).rev() {
            rx.recv().unwrap();
            assert_holds(&tx, &rx, left);
        }
    }
}

fn a_receive_that_may_not_wait_says_empty_then_closed(way: Way) {
    let (tx, rx) = way.channel(2);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    tx.send(1).unwrap();
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    tx.send(2).unwrap();
    drop(tx);
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!([rx.try_recv(), rx.try_recv()], [Err(TryRecvError::Closed); 2]);
}

fn a_send_that_may_not_wait_says_full_then_closed(way: Way) {
    let (tx, rx) = way.channel(2);
    for _ in 0..way.room(2) {
        assert_eq!(tx.try_send(1), Ok(()));
    }
    assert!(tx.try_send(2) == Err(TrySendError::Full(2)));
    assert!(tx.try_send(3) == Err(TrySendError::Full(3)));
    rx.recv().unwrap();
    assert!(tx.try_send(4) == Ok(()));
    drop(rx);
    assert!(tx.try_send(5) == Err(TrySendError::Closed(5)));
}

fn a_timed_receive_ends_by_its_timeout_or_by_closing(way: Way) {
    let (tx, rx) = way.channel(1);
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    tx.send(1).unwrap();
    assert_eq!(rx.recv_timeout(Duration::MAX), Ok(1));
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    drop(tx);
    assert_eq!(rx.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
}

fn a_timed_send_ends_by_its_timeout_or_by_closing(way: Way) {
    let (tx, rx) = way.channel(1);
    for _ in 0..way.room(1) {
        assert_eq!(tx.send_timeout(1, Duration::MAX), Ok(()));
    }
    assert!(tx.send_timeout(2, SHORT) == Err(SendTimeoutError::Timeout(2)));
    rx.recv().unwrap();
    assert_eq!(tx.send_timeout(3, SHORT), Ok(()));
    drop(rx);
    assert!(tx.send_timeout(4, Duration::MAX) == Err(SendTimeoutError::Closed(4)));
}

fn what_is_there_beats_a_timeout_of_zero(way: Way) {
    let (tx, rx) = way.channel(1);
    for turn in 0..100 {
        assert_eq!(tx.send_timeout(turn, ZERO), Ok(()));
        assert_eq!(rx.recv_timeout(ZERO), Ok(turn));
        assert_eq!(rx.recv_timeout(ZERO), Err(RecvTimeoutError::Timeout));
    }
}

fn a_send_after_the_receivers_are_gone_gives_the_item_back(way: Way) {
    let (tx, rx) = way.channel(2);
    tx.send(Box::new(1)).unwrap();
    let other = rx.clone();
    drop(rx);
    assert!(tx.send(Box::new(2)).is_ok());
    drop(other);
    assert_eq!(tx.send(Box::new(3)), Err(SendError(Box::new(3))));
    assert_eq!(*tx.clone().try_send(Box::new(4)).unwrap_err().into_inner(), 4);
    assert!(tx.send_timeout(Box::new(5), ZERO).is_err_and(|error| error.is_closed()));
    assert!(tx.is_empty());
}

fn a_receive_after_the_senders_are_gone_gets_the_rest(way: Way) {
    let (tx, rx) = way.channel(4);
    let other = tx.clone();
    tx.send(0).unwrap();
    drop(tx);
    other.send(1).unwrap();
    drop(other);
    let received = [rx.recv(), rx.try_recv().map_err(|_| RecvError::Closed)];
    assert!(received == [Ok(0), Ok(1)] || (way == Way::Spread && received == [Ok(1), Ok(0)]));
    assert_eq!([rx.recv(), rx.recv()], [Err(RecvError::Closed); 2]);
}

fn items_without_size_are_items(way: Way) {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Nothing;
    let (tx, rx) = way.channel(3);
    for _ in 0..way.room(3) {
        tx.try_send((Nothing, [0_u64; 0])).unwrap();
    }
    assert!(tx.is_full());
    assert!(rx.try_iter().all(|item| item == (Nothing, [])));
    let (tx, rx) = way.channel(1);
    tx.send(()).unwrap();
    assert_eq!((rx.recv(), rx.try_recv()), (Ok(()), Err(TryRecvError::Empty)));
}

fn large_items_arrive_whole(way: Way) {
    let (tx, rx) = way.channel(2);
    let item: [usize; 1 << 12] = std::array::from_fn(|at| at);
    for _ in 0..3 {
        tx.send(item).unwrap();
        assert!(rx.recv() == Ok(item));
    }
}

/// Places are made where they stay: none of these items of a mebibyte lies on the stack.
fn room_for_large_items_needs_no_large_stack(way: Way) {
    let (tx, rx) = way.channel::<[u8; 1 << 20]>(4);
    assert_eq!((tx.len(), rx.capacity_of(0)), (0, 4));
}

fn channels_are_items(way: Way) {
    let (tx, rx) = way.channel(1);
    let mut inner = way.channel::<Box<dyn std::any::Any + Send>>(1);
    for depth in 0..50_u32 {
        tx.send(inner).unwrap();
        let (inner_tx, inner_rx) = rx.recv().unwrap();
        inner_tx.send(Box::new(depth)).unwrap();
        let item = inner_rx.recv().unwrap();
        assert_eq!(item.downcast_ref::<u32>(), Some(&depth));
        inner = (inner_tx, inner_rx);
        // The old one goes into a new one.
        let outer = way.channel::<Box<dyn std::any::Any + Send>>(1);
        outer.0.send(Box::new(inner)).unwrap();
        inner = outer;
        assert!(inner.1.recv().is_ok());
    }
}

fn clones_are_the_same_channel(way: Way) {
    let (tx, rx) = way.channel::<u8>(1);
    let (other_tx, other_rx) = way.channel::<u8>(1);
    assert!(tx.same_channel(&tx.clone()) && rx.same_channel(&rx.clone().clone()));
    assert!(!tx.same_channel(&other_tx) && !rx.same_channel(&other_rx));
}

fn items_come_out_in_order_for_many_laps(way: Way) {
    for capacity in [1, 2, 3, 7] {
        let (tx, rx) = way.channel(capacity);
        let mut received = Vec::new();
        for number in 0..1_000 {
            if tx.is_full() {
                received.push(rx.recv().unwrap());
            }
            if let Err(refused) = tx.try_send(number) {
                // Spread: the next band may be the fuller one, until all above it are empty.
                received.extend(rx.try_iter());
                tx.try_send(refused.into_inner()).unwrap();
            }
        }
        received.extend(rx.try_iter());
        way.assert_all_in_order(&received, 1_000);
    }
}

fn a_full_channel_can_be_dropped(way: Way) {
    for sender_first in [true, false] {
        let (tx, rx) = way.channel(3);
        let other = tx.clone();
        (0..way.room(3)).for_each(|_| tx.try_send(Box::new(1)).unwrap());
        if sender_first {
            drop((tx, other, rx));
        } else {
            drop((rx, other, tx));
        }
    }
}
