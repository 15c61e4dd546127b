//! Wakers that misbehave: they panic, use the channel that wakes them, or drop what they wake. They
//! harm nobody else.

mod common;
mod tasks;

use common::{Tally, join, parked, within};
use overtake_core::{Receiver, RecvError, RecvFuture, SendFuture, Sender, bounded};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tasks::{Event, Task};

/// Ends what runs, without the words of a panic on the screen.
fn burst() {
    resume_unwind(Box::new("as planned"));
}

/// A task whose wakers burst at every event of one kind.
fn bursting_at(when: Event) -> Task {
    Task::with(move |event| {
        if event == when {
            burst();
        }
    })
}

/// Polls once with a waker that is never dropped, for those that burst when they are.
fn poll_and_keep<F: Future + Unpin>(task: &Task, future: &mut F) -> Poll<F::Output> {
    let waker = std::mem::ManuallyDrop::new(task.waker());
    Pin::new(future).poll(&mut Context::from_waker(&waker))
}

// ---- they look different -------------------------------------------------------------------------

/// `Waker::will_wake` may say no to a clone. A wait that believes it announces for ever.
#[test]
fn a_waker_whose_clones_look_different_waits_all_the_same() {
    within(10, || {
        let (tx, rx) = bounded(&[1]);
        let task = Task::new();
        let waker = task.waker_in_disguise();
        let mut context = Context::from_waker(&waker);
        let mut receive = rx.recv_async();
        assert!(Pin::new(&mut receive).poll(&mut context).is_pending());
        assert!(Pin::new(&mut receive).poll(&mut context).is_pending());
        tx.try_send(0, 1).unwrap();
        assert_eq!(task.wakes(), 1);
        assert_eq!(Pin::new(&mut receive).poll(&mut context), Poll::Ready(Ok(1)));

        tx.try_send(0, 2).unwrap();
        let mut send = tx.send_async(0, 3);
        assert!(Pin::new(&mut send).poll(&mut context).is_pending());
        assert!(Pin::new(&mut send).poll(&mut context).is_pending());
        assert_eq!(rx.try_recv(), Ok(2));
        assert_eq!(task.wakes(), 2);
        assert_eq!(Pin::new(&mut send).poll(&mut context), Poll::Ready(Ok(())));
        assert_eq!(task.alive(), 1);
    });
}

// ---- they panic ----------------------------------------------------------------------------------

#[test]
fn a_waker_that_panics_when_woken_does_not_use_up_the_wake() {
    within(10, || {
        let (tx, rx) = bounded(&[1]);
        let (good, bad) = (Task::new(), bursting_at(Event::Wake));
        let (mut first, mut second) = (rx.recv_async(), rx.recv_async());
        assert!(good.poll(&mut first).is_pending());
        assert!(bad.poll(&mut second).is_pending());
        tx.try_send(0, 1).unwrap();
        assert_eq!((good.wakes(), bad.wakes()), (1, 1));
        assert_eq!(good.poll(&mut first), Poll::Ready(Ok(1)));
        drop(second);
        assert_eq!((good.alive(), bad.alive()), (0, 0));
    });
}

#[test]
fn a_close_wakes_everyone_behind_a_waker_that_panics() {
    for event in [Event::Wake, Event::Drop] {
        within(10, move || {
            let (tx, rx) = bounded::<u8>(&[1]);
            let (good, bad) = (Task::new(), bursting_at(event));
            let mut waits: Vec<_> = (0..6).map(|_| rx.recv_async()).collect();
            for (number, wait) in waits.iter_mut().enumerate() {
                let task = if number % 2 == 0 { &bad } else { &good };
                assert!(poll_and_keep(task, wait).is_pending());
            }
            let other = rx.clone();
            let thread = parked(move || other.recv());
            assert!(tx.close());
            assert_eq!((good.wakes(), bad.wakes()), (3, 3));
            assert_eq!(join(thread), Err(RecvError::Closed));
            for wait in &mut waits {
                assert_eq!(good.poll(wait), Poll::Ready(Err(RecvError::Closed)));
            }
            assert_eq!((bad.alive(), good.alive()), (3, 3), "only those kept by the test");
        });
    }
}

/// Who leaves drops its waker. If that bursts, the wake must still go to the next.
#[test]
fn a_waker_that_panics_when_dropped_does_not_swallow_the_wake() {
    within(10, || {
        let (tx, rx) = bounded(&[1]);
        let (good, bad) = (Task::new(), bursting_at(Event::Drop));
        let (mut first, mut second) = (rx.recv_async(), rx.recv_async());
        assert!(good.poll(&mut first).is_pending());
        assert!(poll_and_keep(&bad, &mut second).is_pending());
        tx.try_send(0, 1).unwrap();
        assert_eq!((good.wakes(), bad.wakes()), (0, 1));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(second))).is_ok());
        assert_eq!(good.wakes(), 1);
        assert_eq!(good.poll(&mut first), Poll::Ready(Ok(1)));
    });
}

/// The owner leaves inside its wake, so that the notifier is the one to drop the waker: in a send
/// of somebody else, which must not notice.
#[test]
fn a_waker_that_panics_when_dropped_late_does_not_reach_the_sender() {
    within(10, || {
        let (tx, rx) = leaked_channel();
        let slot: Arc<Mutex<Option<RecvFuture<'static, u8>>>> = Arc::default();
        let inside = Arc::clone(&slot);
        let task = Task::with(move |event| match event {
            Event::Clone => {}
            Event::Wake => drop(inside.lock().unwrap().take()),
            Event::Drop => burst(),
        });
        let mut receive = rx.recv_async();
        assert!(poll_and_keep(&task, &mut receive).is_pending());
        *slot.lock().unwrap() = Some(receive);
        assert_eq!(tx.try_send(0, 1), Ok(()));
        assert_eq!((task.wakes(), task.alive()), (1, 1), "the one kept by the test");
        assert!(slot.lock().unwrap().is_none());
        assert_eq!(rx.try_recv(), Ok(1));
    });
}

/// The panic is the poller's own, and what was there before it is there after it.
#[test]
fn a_waker_that_panics_when_cloned_harms_only_its_own_poll() {
    within(10, || {
        let (tx, rx) = bounded(&[1]);
        let (good, bad) = (Task::new(), bursting_at(Event::Clone));
        let (mut first, mut second) = (rx.recv_async(), rx.recv_async());
        assert!(good.poll(&mut first).is_pending());
        assert!(catch_unwind(AssertUnwindSafe(|| bad.poll(&mut second))).is_err());
        // Told, and then moved to a bad waker: the wake is not lost with the panic.
        tx.try_send(0, 1).unwrap();
        assert_eq!((good.wakes(), bad.wakes()), (1, 0));
        assert_eq!(
            bad.poll(&mut first),
            Poll::Ready(Ok(1)),
            "no clone where nothing is waited for"
        );

        tx.try_send(0, 2).unwrap();
        let tally = Tally::default();
        let (counted, _rx) = bounded(&[1]);
        counted.try_send(0, tally.item()).unwrap();
        let mut send = counted.send_async(0, tally.item());
        assert!(catch_unwind(AssertUnwindSafe(|| bad.poll(&mut send))).is_err());
        assert!(send.into_item().is_some_and(|item| item.id == 1));
        assert_eq!((bad.alive(), rx.try_recv()), (0, Ok(2)));
    });
}

// ---- they use the channel ------------------------------------------------------------------------

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs one deeper, and keeps the deepest.
fn deeper(deepest: &AtomicUsize, run: impl FnOnce()) {
    let depth = DEPTH.get() + 1;
    DEPTH.set(depth);
    deepest.fetch_max(depth, Ordering::SeqCst);
    run();
    DEPTH.set(depth - 1);
}

#[test]
fn kind_18_ten_thousand_wakers_that_send_nest_five_deep_at_most() {
    const WAITERS: usize = 10_000;
    within(60, || {
        let (tx, rx) = bounded(&[4 * WAITERS]);
        let deepest = Arc::new(AtomicUsize::new(0));
        let task = {
            let (tx, deepest) = (tx.clone(), Arc::clone(&deepest));
            Task::with(move |event| {
                if event == Event::Wake {
                    deeper(&deepest, || tx.try_send(0, 1).unwrap());
                }
            })
        };
        let mut waits: Vec<_> = (0..WAITERS).map(|_| rx.recv_async()).collect();
        waits.iter_mut().for_each(|wait| assert!(task.poll(wait).is_pending()));
        tx.try_send(0, 1).unwrap();
        assert!(task.wakes() >= WAITERS, "{} wakes", task.wakes());
        let deepest = deepest.load(Ordering::SeqCst);
        assert!((2..=5).contains(&deepest), "{deepest} deep");
        assert!(waits.iter_mut().all(|wait| task.poll(wait) == Poll::Ready(Ok(1))));
        drop(waits);
        assert_eq!((task.alive(), rx.try_iter().count()), (0, task.wakes() + 1 - WAITERS));
    });
}

/// Senders' wakers that receive, beside receivers' wakers that send.
#[test]
fn kind_18_wakers_of_both_sides_feed_each_other() {
    const WAITERS: usize = 300;
    within(60, || {
        let (tx, rx) = bounded(&[1, 1]);
        tx.try_send(1, 0).unwrap();
        let deepest = Arc::new(AtomicUsize::new(0));
        let (sending, receiving) = (tx.clone(), rx.clone());
        let deep = Arc::clone(&deepest);
        let both = Task::with(move |event| {
            if event == Event::Wake {
                deeper(&deep, || {
                    let _ = sending.try_send(0, 1);
                    let _ = receiving.try_recv();
                });
            }
        });
        let mut sends: Vec<_> = (0..WAITERS).map(|_| tx.send_async(1, 2)).collect();
        sends.iter_mut().for_each(|send| assert!(both.poll(send).is_pending()));
        let urgent = rx.clone().only(overtake_core::BandSet::only(0));
        let mut waits: Vec<_> = (0..WAITERS).map(|_| urgent.recv_async()).collect();
        waits.iter_mut().for_each(|wait| assert!(both.poll(wait).is_pending()));
        tx.try_send(0, 1).unwrap();
        assert!(rx.try_recv().is_ok());
        let deepest = deepest.load(Ordering::SeqCst);
        assert!((2..=10).contains(&deepest), "{deepest} deep");
        tx.close();
        while rx.try_recv().is_ok() {}
        assert!(sends.iter_mut().all(|send| both.poll(send).is_ready()));
        assert!(waits.iter_mut().all(|wait| both.poll(wait).is_ready()));
        drop((sends, waits));
        assert_eq!(both.alive(), 0);
    });
}

type Deed = fn(&Sender<usize>, &Receiver<usize>);

/// What a waker may do to the channel, in any of its events.
const DEEDS: [Deed; 6] = [
    |tx, _| _ = tx.try_send(0, 7),
    |_, rx| _ = rx.try_recv(),
    |tx, _| _ = tx.close(),
    |tx, _| tx.release(),
    |tx, rx| drop((tx.clone(), rx.clone(), tx.downgrade().upgrade())),
    |tx, rx| assert!(tx.len() <= 4 && !format!("{tx:?} {rx:?}").is_empty()),
];

#[test]
fn kind_18_a_waker_uses_its_channel_while_it_is_woken_cloned_or_dropped() {
    for when in [Event::Clone, Event::Wake, Event::Drop] {
        for deed in DEEDS {
            within(10, move || {
                let (tx, rx) = bounded(&[2, 2]);
                let hands = (tx.clone(), rx.clone());
                let task = Task::with(move |event| {
                    if event == when {
                        deed(&hands.0, &hands.1);
                    }
                });
                let other = Task::new();
                let mut wait = rx.recv_async();
                let _ = task.poll(&mut wait);
                let _ = other.poll(&mut wait);
                let _ = task.poll(&mut wait);
                let _ = tx.try_send(1, 1);
                let _ = task.poll(&mut wait);
                drop(wait);
                while tx.try_send(1, 2).is_ok() {}
                let mut send = tx.send_async(1, 3);
                let _ = task.poll(&mut send);
                let _ = rx.try_recv();
                let _ = task.poll(&mut send);
                drop(send);
                assert_eq!((task.alive(), other.alive()), (0, 0));
                tx.close();
                assert!(rx.try_iter().count() <= 4);
            });
        }
    }
}

// ---- they drop what they wake --------------------------------------------------------------------

/// A channel that lives as long as the process: a future that borrows it can be put anywhere.
fn leaked_channel() -> (&'static Sender<u8>, &'static Receiver<u8>) {
    let (tx, rx) = Box::leak(Box::new(bounded(&[1])));
    (tx, rx)
}

#[test]
fn a_waker_may_drop_its_own_receive_while_it_is_woken() {
    within(10, || {
        let (tx, rx) = leaked_channel();
        let slot: Arc<Mutex<Option<RecvFuture<'static, u8>>>> = Arc::default();
        let inside = Arc::clone(&slot);
        let task = Task::with(move |event| {
            if event == Event::Wake {
                drop(inside.lock().unwrap().take());
            }
        });
        let other = Task::new();
        let mut next = rx.recv_async();
        assert!(other.poll(&mut next).is_pending());
        let mut receive = rx.recv_async();
        assert!(task.poll(&mut receive).is_pending());
        *slot.lock().unwrap() = Some(receive);
        tx.try_send(0, 1).unwrap();
        assert_eq!((task.wakes(), task.alive(), other.wakes()), (1, 0, 1));
        assert_eq!(other.poll(&mut next), Poll::Ready(Ok(1)));
    });
}

#[test]
fn a_waker_may_drop_its_own_send_while_it_is_woken() {
    within(10, || {
        let (tx, rx) = leaked_channel();
        let slot: Arc<Mutex<Option<SendFuture<'static, u8>>>> = Arc::default();
        let inside = Arc::clone(&slot);
        let task = Task::with(move |event| {
            if event == Event::Wake {
                drop(inside.lock().unwrap().take());
            }
        });
        let other = Task::new();
        tx.try_send(0, 1).unwrap();
        let mut send = tx.send_async(0, 2);
        assert!(task.poll(&mut send).is_pending());
        let mut next = tx.send_async(0, 3);
        assert!(other.poll(&mut next).is_pending());
        *slot.lock().unwrap() = Some(send);
        assert_eq!(rx.try_recv(), Ok(1));
        assert_eq!((task.wakes(), task.alive(), other.wakes()), (1, 0, 1));
        assert_eq!(other.poll(&mut next), Poll::Ready(Ok(())));
        assert_eq!(rx.try_recv(), Ok(3));
    });
}

/// An executor that polls inside the wake.
#[test]
fn a_waker_may_poll_its_own_future_while_it_is_woken() {
    within(10, || {
        let (tx, rx) = leaked_channel();
        let slot: Arc<Mutex<Option<RecvFuture<'static, u8>>>> = Arc::default();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (inside, list) = (Arc::clone(&slot), Arc::clone(&received));
        let later = Task::new();
        let polling = later.clone();
        let task = Task::with(move |event| {
            if let (Event::Wake, Some(receive)) = (event, &mut *inside.lock().unwrap()) {
                while let Poll::Ready(item) = polling.poll(receive) {
                    list.lock().unwrap().push(item);
                }
            }
        });
        let mut receive = rx.recv_async();
        assert!(task.poll(&mut receive).is_pending());
        *slot.lock().unwrap() = Some(receive);
        tx.try_send(0, 1).unwrap();
        assert_eq!(*received.lock().unwrap(), [Ok(1)]);
        assert_eq!((task.alive(), later.alive()), (0, 1));
        tx.try_send(0, 2).unwrap();
        assert_eq!((later.wakes(), task.wakes()), (1, 1));
        slot.lock().unwrap().take();
        assert_eq!((later.alive(), rx.try_recv()), (0, Ok(2)));
    });
}

/// Forgotten futures keep their wakers until the channel goes; then those are dropped as well.
#[test]
fn a_waker_may_outlive_everything_but_its_channel() {
    let task = Task::new();
    let (tx, rx) = bounded::<u8>(&[1]);
    let mut receive = rx.recv_async();
    assert!(task.poll(&mut receive).is_pending());
    std::mem::forget(receive);
    drop(rx);
    assert_eq!((task.alive(), task.wakes()), (1, 1), "closed by the last receiver");
    drop(tx);
    assert_eq!(task.alive(), 0);
}

/// In the middle of a release one more begins to wait, whom the release does not concern, and an item
/// comes whose search takes the oldest: one that is about to be released. It returns `Released`, and
/// its wake must reach the late one, who would sleep beside the item.
#[test]
fn one_that_is_told_during_a_release_passes_its_wake_on() {
    within(10, || {
        let (tx, rx) = leaked_channel();
        let warm_up = Task::new();
        // Every sixteenth search takes the oldest; these are fifteen.
        for _ in 0..15 {
            let mut receive = rx.recv_async();
            assert!(warm_up.poll(&mut receive).is_pending());
            tx.try_send(0, 0).unwrap();
            assert!(warm_up.poll(&mut receive).is_ready());
        }
        let late = Arc::new((Task::new(), Mutex::new(rx.recv_async())));
        let begins = Arc::clone(&late);
        let first = Task::with(move |event| {
            if event == Event::Wake {
                assert!(begins.0.poll(&mut *begins.1.lock().unwrap()).is_pending());
                tx.try_send(0, 1).unwrap();
            }
        });
        let told = Task::new();
        let (mut one, mut two) = (rx.recv_async(), rx.recv_async());
        assert!(first.poll(&mut one).is_pending());
        assert!(told.poll(&mut two).is_pending());
        rx.release();
        assert_eq!((first.wakes(), told.wakes() > 0, late.0.wakes()), (1, true, 0));
        assert_eq!(told.poll(&mut two), Poll::Ready(Err(RecvError::Released)));
        assert_eq!(late.0.wakes(), 1);
        assert_eq!(late.0.poll(&mut *late.1.lock().unwrap()), Poll::Ready(Ok(1)));
        assert_eq!(first.poll(&mut one), Poll::Ready(Err(RecvError::Released)));
    });
}
