//! What a blocked thread does instead of parking changes nothing about what its call returns.

mod common;
mod tasks;

use common::{join, within};
use overtake_core::{
    BandSet, Builder, Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Sender,
    WaitStrategy,
};
use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};
use tasks::Task;

const STRATEGIES: [WaitStrategy; 6] = [
    WaitStrategy::Park,
    WaitStrategy::SpinThenPark { spins: 20, yields: 5 },
    WaitStrategy::SpinThenPark { spins: 0, yields: u32::MAX },
    WaitStrategy::Spin,
    WaitStrategy::Poll(Duration::from_micros(50)),
    WaitStrategy::Poll(Duration::ZERO),
];

fn channel<T>(strategy: WaitStrategy) -> (Sender<T>, Receiver<T>) {
    Builder::new().bands(&[1, 1]).wait(strategy).build().expect("two bands")
}

fn with_each_strategy(check: impl Fn(WaitStrategy) + Send + 'static) {
    within(60, move || {
        for strategy in STRATEGIES {
            println!("{strategy:?}");
            check(strategy);
        }
    });
}

/// Begins a blocking call in a thread, and goes on when it is about to block. Whether it blocks
/// already is unknown: what is asserted holds either way.
fn begun<R: Send + 'static>(call: impl FnOnce() -> R + Send + 'static) -> thread::JoinHandle<R> {
    let (started, start) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        started.send(()).expect("the starter waits");
        call()
    });
    start.recv().expect("the thread runs");
    thread
}

type Recv = fn(&Receiver<u32>) -> Result<u32, RecvTimeoutError>;

/// Every call that waits for an item without an end.
const RECEIVES: [Recv; 7] = [
    |rx| rx.recv().map_err(RecvTimeoutError::from),
    |rx| rx.recv_with_band().map(|(_, item)| item).map_err(RecvTimeoutError::from),
    |rx| rx.recv_timeout(Duration::MAX),
    |rx| rx.recv_timeout_with_band(Duration::MAX).map(|(_, item)| item),
    |rx| rx.recv_deadline(far()),
    |rx| rx.recv_deadline_with_band(far()).map(|(_, item)| item),
    |rx| rx.iter().next().ok_or(ended(rx)),
];

/// An iterator does not say why it ended.
fn ended(rx: &Receiver<u32>) -> RecvTimeoutError {
    if rx.is_closed() { RecvTimeoutError::Closed } else { RecvTimeoutError::Released }
}

fn far() -> Instant {
    Instant::now() + Duration::from_secs(86_400)
}

type Send_ = fn(&Sender<u32>, u32) -> Result<(), SendTimeoutError<u32>>;

/// Every call that waits for room without an end.
const SENDS: [Send_; 6] = [
    |tx, item| tx.send(1, item).map_err(SendTimeoutError::from),
    |tx, item| tx.send_timeout(1, item, Duration::MAX),
    |tx, item| tx.send_deadline(1, item, far()),
    |tx, item| tx.band(1).send(item).map_err(SendTimeoutError::from),
    |tx, item| tx.band(1).send_timeout(item, Duration::MAX),
    |tx, item| tx.band(1).send_deadline(item, far()),
];

#[test]
fn every_receive_gets_its_item() {
    with_each_strategy(|strategy| {
        for receive in RECEIVES {
            let (tx, rx) = channel(strategy);
            let waiting = begun(move || receive(&rx));
            tx.send(1, 7).unwrap();
            assert_eq!(join(waiting), Ok(7));
        }
    });
}

#[test]
fn every_send_gets_its_room() {
    with_each_strategy(|strategy| {
        for send in SENDS {
            let (tx, rx) = channel(strategy);
            tx.send(1, 1).unwrap();
            let waiting = begun(move || send(&tx, 2));
            assert_eq!(rx.recv(), Ok(1));
            assert_eq!(join(waiting), Ok(()));
            assert_eq!((rx.recv(), rx.recv()), (Ok(2), Err(RecvError::Closed)));
        }
    });
}

#[test]
fn every_receive_and_every_send_ends_by_closing() {
    with_each_strategy(|strategy| {
        for receive in RECEIVES {
            let (tx, rx) = channel(strategy);
            let waiting = begun(move || receive(&rx));
            drop(tx);
            assert_eq!(join(waiting), Err(RecvTimeoutError::Closed));
        }
        for send in SENDS {
            let (tx, rx) = channel(strategy);
            tx.send(1, 1).unwrap();
            let waiting = begun(move || send(&tx, 2));
            drop(rx);
            assert_eq!(join(waiting), Err(SendTimeoutError::Closed(2)));
        }
    });
}

/// Released again and again, because it may not have begun to wait.
#[test]
fn every_receive_ends_by_a_release() {
    with_each_strategy(|strategy| {
        for receive in RECEIVES {
            let (tx, rx) = channel(strategy);
            let waiting = begun(move || (receive(&rx), rx));
            while !waiting.is_finished() {
                tx.release();
                thread::yield_now();
            }
            let (end, rx) = join(waiting);
            assert_eq!((end, rx.is_closed()), (Err(RecvTimeoutError::Released), false));
        }
    });
}

#[test]
fn no_send_ends_by_a_release() {
    with_each_strategy(|strategy| {
        let (tx, rx) = channel(strategy);
        tx.send(1, 1).unwrap();
        let waiting = begun(move || tx.send(1, 2));
        (0..100).for_each(|_| rx.release());
        assert!(!waiting.is_finished());
        assert_eq!(rx.recv(), Ok(1));
        assert_eq!(join(waiting), Ok(()));
    });
}

#[test]
fn a_wait_is_as_long_as_asked_and_no_item_or_room_is_lost_to_it() {
    with_each_strategy(|strategy| {
        let wait = Duration::from_millis(5);
        let (tx, rx) = channel(strategy);
        let start = Instant::now();
        assert_eq!(rx.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
        assert_eq!(rx.recv_deadline(start), Err(RecvTimeoutError::Timeout));
        tx.send(1, 1).unwrap();
        assert_eq!(tx.send_timeout(1, 2, wait), Err(SendTimeoutError::Timeout(2)));
        assert_eq!(tx.send_deadline(1, 3, start), Err(SendTimeoutError::Timeout(3)));
        assert!(start.elapsed() >= 2 * wait);
        assert_eq!(rx.recv_deadline(start), Ok(1));
        assert_eq!(tx.send_deadline(1, 4, start), Ok(()));
        assert_eq!(rx.recv_timeout(Duration::ZERO), Ok(4));
    });
}

/// A poll longer than the wait ends with the wait.
#[test]
fn a_long_poll_does_not_outlast_the_deadline() {
    within(10, || {
        let (tx, rx) = channel(WaitStrategy::Poll(Duration::from_secs(3_600)));
        let wait = Duration::from_millis(1);
        assert_eq!(rx.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
        tx.send(0, 'x').unwrap();
        assert_eq!(tx.send_timeout(0, 'y', wait), Err(SendTimeoutError::Timeout('y')));
    });
}

#[test]
fn many_threads_and_every_item_once() {
    const EACH: u32 = 300;
    with_each_strategy(|strategy| {
        let (tx, rx) = channel(strategy);
        let senders: Vec<_> = (0..2)
            .map(|band| {
                let tx = tx.clone();
                thread::spawn(move || (0..EACH).try_for_each(|item| tx.send(band, item)))
            })
            .collect();
        drop(tx);
        let lower = rx.clone().only(BandSet::only(1));
        let receivers = [rx, lower].map(|rx| thread::spawn(move || rx.iter().sum::<u32>()));
        assert!(senders.into_iter().all(|sender| join(sender) == Ok(())));
        assert_eq!(receivers.into_iter().map(join).sum::<u32>(), EACH * (EACH - 1));
    });
}

/// A task parks whatever the strategy of threads: it is told at once.
#[test]
fn tasks_are_woken_whatever_the_strategy() {
    with_each_strategy(|strategy| {
        let (tx, rx) = channel(strategy);
        let task = Task::new();
        let mut receive = rx.recv_async();
        assert!(task.poll(&mut receive).is_pending());
        tx.send(0, 1).unwrap();
        assert_eq!((task.wakes(), task.poll(&mut receive).is_ready()), (1, true));
        tx.send(0, 2).unwrap();
        let mut send = tx.send_async(0, 3);
        assert!(task.poll(&mut send).is_pending());
        assert_eq!(rx.recv(), Ok(2));
        assert_eq!((task.wakes(), task.poll(&mut send).is_ready()), (2, true));
    });
}

/// Sets of bands with nothing in them, closed: every strategy sees the end.
#[test]
fn a_receiver_of_no_band_ends_by_closing() {
    with_each_strategy(|strategy| {
        let (tx, rx) = channel(strategy);
        let none = rx.only(BandSet::EMPTY);
        let waiting = begun(move || none.recv());
        tx.send(0, 1).unwrap();
        assert!(tx.close());
        assert_eq!(join(waiting), Err(RecvError::Closed));
        assert_eq!(tx.send(0, 2), Err(SendError(2)));
    });
}

// ---- nobody is woken where nobody parks --------------------------------------------------------------

/// Whether some receiver is announced, so that a sender would have to wake it.
fn is_announced(tx: &Sender<u32>) -> bool {
    !format!("{tx:?}").contains("waited for: {}")
}

/// Who polls or spins never stands in the list that a send looks at, so no send wakes it; who parks
/// does, which shows that it would be seen.
#[test]
fn a_receiver_that_polls_or_spins_is_never_there_to_be_woken() {
    with_each_strategy(|strategy| {
        let (tx, rx) = channel(strategy);
        let waiting = begun(move || rx.recv());
        match strategy {
            WaitStrategy::Poll(_) | WaitStrategy::Spin => {
                assert!((0..2_000).all(|_| !is_announced(&tx)));
            }
            WaitStrategy::Park => {
                while !is_announced(&tx) {
                    thread::yield_now();
                }
            }
            _ => {}
        }
        tx.send(1, 1).unwrap();
        assert_eq!(join(waiting), Ok(1));
        assert!(!is_announced(&tx));
    });
}

// ---- thread-locals -------------------------------------------------------------------------------------

thread_local! {
    static AT_EXIT: Cell<Option<Waiting>> = const { Cell::new(None) };
}

/// Sends and receives, blocking, while the locals of its thread are destroyed.
struct Waiting(Sender<u32>, Receiver<u32>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let item = self.1.recv().expect("an item comes");
        (0..3).for_each(|more| self.0.send(1, item + more).expect("somebody takes it"));
    }
}

#[test]
fn kind_20_every_strategy_waits_in_a_destructor_of_a_thread_local() {
    with_each_strategy(|strategy| {
        let (to, from_here) = channel(strategy);
        let (back, from_there) = channel(strategy);
        let thread = thread::spawn(move || AT_EXIT.set(Some(Waiting(back, from_here))));
        to.send(1, 7).unwrap();
        assert_eq!(from_there.iter().collect::<Vec<_>>(), [7, 8, 9]);
        join(thread);
    });
}
