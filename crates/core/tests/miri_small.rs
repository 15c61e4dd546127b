//! All operations with few threads and few items: small enough for Miri, which looks for undefined
//! behaviour and lost memory, and runs the threads in another order for each seed.

use overtake_core::{BandSet, Receiver, Sender, TryRecvError, TrySendError, bounded};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

type Boxed = Box<(u64, String)>;

fn item(number: u64) -> Boxed {
    Box::new((number, format!("item {number}")))
}

fn sum(items: impl IntoIterator<Item = Boxed>) -> u64 {
    items.into_iter().map(|item| item.0).sum()
}

/// Tries until it is in, or closed.
fn push(tx: &Sender<Boxed>, band: usize, mut item: Boxed) -> bool {
    loop {
        match tx.try_send(band, item) {
            Ok(()) => return true,
            Err(TrySendError::Closed(_)) => return false,
            Err(TrySendError::Full(back)) => item = back,
        }
        thread::yield_now();
    }
}

fn take(rx: &Receiver<Boxed>, most: usize) -> u64 {
    let mut all = 0;
    for _ in 0..most {
        all += sum(rx.try_recv());
        thread::yield_now();
    }
    all
}

/// Senders and receivers pass each other in a ring of one or two places: slots are voided, passed
/// and freed late.
#[test]
fn four_threads_in_a_small_ring() {
    for capacity in [1, 2] {
        let (tx, rx) = bounded(&[capacity]);
        let senders: Vec<_> = (0..2)
            .map(|sender| {
                let tx = tx.clone();
                thread::spawn(move || (1..=4).all(|n| push(&tx, 0, item(10 * sender + n))))
            })
            .collect();
        let other = rx.clone();
        let other = thread::spawn(move || take(&other, 6));
        let mut all = take(&rx, 6);
        drop(tx);
        while let Ok(item) = rx.recv() {
            all += item.0;
        }
        all += other.join().unwrap();
        assert!(senders.into_iter().all(|sender| sender.join().unwrap()));
        assert_eq!(all, 2 * (1 + 2 + 3 + 4) + 40);
    }
}

/// Runs are claimed, voided in the middle, passed while they are read, and freed late.
#[test]
fn batches_in_a_small_ring() {
    for capacity in [1, 4] {
        let (tx, rx) = bounded(&[capacity]);
        let senders: Vec<_> = (0..2)
            .map(|sender| {
                let tx = tx.clone();
                thread::spawn(move || {
                    let mut items = VecDeque::from_iter((1..=4).map(|n| item(10 * sender + n)));
                    while !items.is_empty() {
                        let _ = tx.try_send_many(0, &mut items);
                        thread::yield_now();
                    }
                })
            })
            .collect();
        let other = rx.clone();
        let other = thread::spawn(move || {
            let mut items = Vec::new();
            for _ in 0..4 {
                let _ = other.try_recv_many(&mut items, 3);
                thread::yield_now();
            }
            sum(items)
        });
        drop(tx);
        let mut items = Vec::new();
        while rx.try_recv_many(&mut items, 3) != Err(TryRecvError::Closed) {
            thread::yield_now();
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        assert_eq!(sum(items) + other.join().unwrap(), 2 * (1 + 2 + 3 + 4) + 40);
    }
}

#[test]
fn blocked_calls_meet_in_two_bands() {
    let (tx, rx) = bounded(&[1, 1]);
    let sender = thread::spawn(move || {
        for number in 0..6 {
            tx.send(number as usize % 2, item(number)).unwrap();
        }
    });
    let lower = rx.clone().only(BandSet::only(1));
    let lower =
        thread::spawn(move || lower.recv_timeout(Duration::from_millis(1)).map_or(0, |i| i.0));
    let here = sum(rx.iter());
    sender.join().unwrap();
    assert_eq!(here + lower.join().unwrap(), 15);
}

#[test]
fn a_close_beside_sends_and_receives() {
    let (tx, rx) = bounded(&[2, 1]);
    let sender = {
        let tx = tx.clone();
        thread::spawn(move || {
            (1..=4).filter(|&n| push(&tx, n as usize % 2, item(1))).count() as u64
        })
    };
    let receiver = {
        let rx = rx.clone();
        thread::spawn(move || take(&rx, 3))
    };
    thread::yield_now();
    let closed = tx.close();
    assert!(closed && !rx.close());
    let mut all = 0;
    loop {
        match rx.try_recv() {
            Ok(item) => all += item.0,
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Closed) => break,
        }
    }
    assert_eq!(all + receiver.join().unwrap(), sender.join().unwrap());
}

#[test]
fn the_last_receiver_goes_beside_sends() {
    let (tx, rx) = bounded(&[2, 2]);
    let senders: Vec<_> = (0..2)
        .map(|band| {
            let tx = tx.clone();
            thread::spawn(move || while push(&tx, band, item(1)) {})
        })
        .collect();
    take(&rx, 2);
    drop(rx);
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    assert!(tx.is_closed() && tx.is_empty());
}

#[test]
fn items_inside_go_with_the_channel() {
    let (tx, rx) = bounded(&[3, 3]);
    for number in 0..5 {
        tx.try_send(number as usize % 2, item(number)).unwrap();
    }
    assert_eq!(rx.try_recv().unwrap().0, 0);
    assert_eq!((tx.len(), tx.len_of(0), tx.is_full(1)), (4, 2, false));
    drop(tx);
    drop(rx);
}

#[test]
fn a_panicking_drop_loses_no_other_item() {
    struct Counted(Arc<AtomicUsize>, bool);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            assert!(!self.1, "as planned");
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = bounded(&[4]);
    for number in 0..4 {
        assert!(tx.try_send(0, Counted(Arc::clone(&dropped), number == 1)).is_ok());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(rx))).is_err());
    assert_eq!(dropped.load(Ordering::Relaxed), 4);
}

#[test]
fn items_of_no_size_and_of_much_alignment() {
    #[repr(align(128))]
    struct Wide([u8; 3]);
    let (tx, rx) = bounded(&[2]);
    let sender = thread::spawn(move || (0..4).for_each(|n| tx.send(0, Wide([n; 3])).unwrap()));
    let all: Vec<_> = rx.iter().map(|wide| wide.0[2]).collect();
    sender.join().unwrap();
    assert_eq!(all, [0, 1, 2, 3]);
    let (tx, rx) = bounded(&[2]);
    let sender = thread::spawn(move || (0..4).for_each(|_| tx.send(0, ()).unwrap()));
    assert_eq!(rx.iter().count(), 4);
    sender.join().unwrap();
}

#[test]
fn a_release_frees_who_waits() {
    let (tx, rx) = bounded::<Boxed>(&[1]);
    let waiting = rx.clone();
    let waiting = thread::spawn(move || waiting.recv().is_err());
    while !waiting.is_finished() {
        rx.release();
        thread::yield_now();
    }
    assert!(waiting.join().unwrap());
    drop(tx);
}
