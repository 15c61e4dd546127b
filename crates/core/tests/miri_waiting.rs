//! Waiting as threads and as tasks, small enough for Miri: cells are borrowed while their owners leave
//! them, used again, and added.

use overtake_core::{BandSet, Receiver, RecvError, Sender, bounded};
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;
use std::time::Duration;

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

fn sender(tx: &Sender<u32>, items: u32) -> thread::JoinHandle<()> {
    let tx = tx.clone();
    thread::spawn(move || (0..items).for_each(|item| tx.send(0, item).unwrap()))
}

/// Nothing is lost when futures are dropped, and polled with another waker, beside a sender.
#[test]
fn futures_come_and_go_beside_a_sender() {
    let (tx, rx) = bounded(&[1]);
    let sends = sender(&tx, 6);
    let mut received = 0;
    while received < 6 {
        let (mut one, mut two) = (rx.recv_async(), rx.recv_async());
        for future in [&mut one, &mut two] {
            let flag = Arc::new(Flag);
            received += u32::from(poll(future, &Waker::from(Arc::clone(&flag))).is_ready());
        }
        thread::yield_now();
        drop(two);
        received += u32::from(poll(&mut one, &Waker::from(Arc::new(Flag))).is_ready());
    }
    sends.join().unwrap();
    assert!(rx.is_empty());
}

/// A waker with memory of its own.
struct Flag;

impl Wake for Flag {
    fn wake(self: Arc<Self>) {}
}

/// Both sides sleep in turn, threads and tasks mixed.
#[test]
fn threads_and_tasks_wait_for_each_other() {
    let (tx, rx) = bounded(&[1]);
    let senders = [sender(&tx, 3), sender(&tx, 3)];
    let other = rx.clone();
    let other = thread::spawn(move || (0..3).map(|_| other.recv().unwrap()).sum::<u32>());
    let sum: u32 = (0..3).map(|_| pollster::block_on(rx.recv_async()).unwrap()).sum();
    assert_eq!(sum + other.join().unwrap(), 6);
    for sender in senders {
        sender.join().unwrap();
    }
}

/// Timed receives of two threads share a cell.
#[test]
fn timed_receives_use_cells_again() {
    let (tx, rx) = bounded::<u32>(&[1]);
    let other = rx.clone();
    let tries =
        |rx: &Receiver<u32>| (0..4).filter(|_| rx.recv_timeout(Duration::ZERO).is_ok()).count();
    let there = thread::spawn(move || tries(&other));
    let sent = (0..2).filter(|&item| tx.try_send(0, item).is_ok()).count();
    let here = tries(&rx);
    let rest = there.join().unwrap() + here;
    assert_eq!(rest + rx.len(), sent);
}

/// More wait than one segment holds; one send, a release and a close reach them.
#[test]
fn segments_are_added_beside_a_sender() {
    let (tx, rx) = bounded(&[1, 1]);
    let lower = rx.clone().only(BandSet::only(1));
    let waker = Waker::from(Arc::new(Flag));
    let mut dormant: Vec<_> = (0..65).map(|_| lower.recv_async()).collect();
    let parked = rx.clone().only(BandSet::only(0));
    let parked = thread::spawn(move || parked.recv());
    for future in &mut dormant {
        assert!(poll(future, &waker).is_pending());
    }
    tx.try_send(0, 7).unwrap();
    assert_eq!(parked.join().unwrap(), Ok(7));
    dormant.truncate(2);
    let other = tx.clone();
    let closer = thread::spawn(move || other.close());
    assert!(closer.join().unwrap());
    for future in &mut dormant {
        assert_eq!(poll(future, &waker), Poll::Ready(Err(RecvError::Closed)));
    }
}

/// Panics when the last of its wakers is dropped.
struct Sour;

impl Wake for Sour {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Sour {
    fn drop(&mut self) {
        // Without the hook: this is meant. A payload without memory, because it is leaked on purpose.
        resume_unwind(Box::new(()));
    }
}

/// A waker that panics when it is dropped disturbs neither the drop of its future nor a send.
#[test]
fn a_waker_may_panic_when_it_is_dropped() {
    for _ in 0..4 {
        let (tx, rx) = bounded(&[1]);
        let mut future = rx.recv_async();
        let sour = Waker::from(Arc::new(Sour));
        assert!(poll(&mut future, &sour).is_pending());
        // From now on the cell has the only one.
        drop(sour);
        let sends = sender(&tx, 1);
        drop(future);
        sends.join().expect("the send is not disturbed");
        assert_eq!(rx.try_recv(), Ok(0));
    }
}

/// Each clone has memory of its own, so that no two of them say that they wake the same task.
fn aloof() -> Waker {
    const TABLE: RawWakerVTable = RawWakerVTable::new(|_| make(), free, |_| (), free);
    fn make() -> RawWaker {
        RawWaker::new(Box::into_raw(Box::new(0_u8)).cast_const().cast(), &TABLE)
    }
    fn free(data: *const ()) {
        // SAFETY: `make` has boxed it, and a waker is dropped, or woken by value, once.
        drop(unsafe { Box::from_raw(data.cast_mut().cast::<u8>()) });
    }
    // SAFETY: each waker has a box of its own, which ends with it; a byte may be freed anywhere.
    unsafe { Waker::from_raw(make()) }
}

/// Wakers may deny that they wake the same task. Then each poll announces anew, once.
#[test]
fn wakers_may_deny_their_clones() {
    let (tx, rx) = bounded(&[1]);
    assert!(!aloof().clone().will_wake(&aloof()));
    let waker = aloof();
    let mut receive = rx.recv_async();
    for _ in 0..2 {
        assert!(poll(&mut receive, &waker).is_pending());
    }
    tx.try_send(0, 1).unwrap();
    assert_eq!(poll(&mut receive, &waker), Poll::Ready(Ok(1)));
    tx.try_send(0, 2).unwrap();
    let mut send = tx.send_async(0, 3);
    for _ in 0..2 {
        assert!(poll(&mut send, &waker).is_pending());
    }
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(poll(&mut send, &waker), Poll::Ready(Ok(())));
}
