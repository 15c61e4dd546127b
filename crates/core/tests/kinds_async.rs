//! Failure kinds of channels under executors: many tasks, races of futures, close beside sends. Two
//! executors of several threads and three of one show that any will do.

mod common;
mod tasks;

use common::{Dice, ROUNDS, Tally, join, within};
use futures_executor::{LocalPool, ThreadPool};
use futures_util::future::{Either, join_all, select};
use futures_util::task::SpawnExt;
use overtake_core::{Receiver, RecvError, Sender, TryRecvError, bounded};
use std::future::{Future, ready};
use std::pin::{Pin, pin};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::thread;
use tasks::Task;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs tasks side by side until all have ended.
type Executor = fn(Vec<Boxed>);

const EXECUTORS: [(&str, Executor); 5] = [
    ("tokio, two threads", |tasks| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        run_in_tokio(&builder.worker_threads(2).build().expect("a runtime"), tasks);
    }),
    ("tokio, one thread", |tasks| {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        run_in_tokio(&builder.build().expect("a runtime"), tasks);
    }),
    ("futures, two threads", |tasks| {
        let pool = ThreadPool::builder().pool_size(2).create().expect("a pool");
        let (done, ended) = std::sync::mpsc::channel();
        let count = tasks.len();
        for task in tasks {
            let done = done.clone();
            pool.spawn_ok(async move {
                task.await;
                done.send(()).expect("somebody waits for the end");
            });
        }
        drop(done);
        assert_eq!(ended.iter().count(), count, "no task panics");
    }),
    ("futures, one thread", |tasks| {
        let mut pool = LocalPool::new();
        let spawner = pool.spawner();
        tasks.into_iter().for_each(|task| spawner.spawn(task).expect("a pool"));
        pool.run();
    }),
    ("pollster, all in one task", |tasks| _ = pollster::block_on(join_all(tasks))),
];

fn run_in_tokio(runtime: &tokio::runtime::Runtime, tasks: Vec<Boxed>) {
    let handles: Vec<_> = tasks.into_iter().map(|task| runtime.spawn(task)).collect();
    for handle in handles {
        runtime.block_on(handle).expect("no task panics");
    }
}

fn with_every_executor(seconds: u64, check: impl Fn(Executor) + Send + Sync + 'static) {
    within(seconds, move || {
        for (name, run) in EXECUTORS {
            println!("{name}");
            check(run);
        }
    });
}

// ---- kind 01: the first waiter ever --------------------------------------------------------------

/// Each with a channel that never had a waiter, met from a barrier.
fn first_ever(rounds: usize, ours: fn(Receiver<usize>), theirs: fn(Sender<usize>), filled: usize) {
    within(120, move || {
        for _ in 0..rounds {
            let (tx, rx) = bounded(&[1, 4]);
            (0..filled).for_each(|item| tx.try_send(1, item).unwrap());
            let start = Arc::new(Barrier::new(2));
            let barrier = Arc::clone(&start);
            let thread = thread::spawn(move || {
                barrier.wait();
                theirs(tx);
            });
            start.wait();
            ours(rx);
            join(thread);
        }
    });
}

fn send_four(tx: Sender<usize>) {
    (0..4).for_each(|item| tx.try_send(1, item).unwrap());
}

#[test]
fn kind_01_the_first_receiving_task_ever_is_woken() {
    let receive = |rx: Receiver<usize>| assert_eq!(pollster::block_on(rx.recv_async()), Ok(7));
    first_ever(ROUNDS / 2, receive, |tx| tx.try_send(0, 7).unwrap(), 0);
}

#[test]
fn kind_01_four_first_receiving_tasks_are_woken() {
    let receive = |rx: Receiver<usize>| {
        let all = join_all((0..4).map(|_| rx.recv_async()));
        let sum: usize = pollster::block_on(all).into_iter().map(Result::unwrap).sum();
        assert_eq!(sum, 6);
    };
    first_ever(ROUNDS / 4, receive, send_four, 0);
}

#[test]
fn kind_01_a_first_thread_and_a_first_task_are_woken() {
    let receive = |rx: Receiver<usize>| {
        let other = rx.clone();
        let thread = thread::spawn(move || other.recv().unwrap() + other.recv().unwrap());
        let here = async { rx.recv_async().await.unwrap() + rx.recv_async().await.unwrap() };
        assert_eq!(pollster::block_on(here) + join(thread), 6);
    };
    first_ever(ROUNDS / 10, receive, send_four, 0);
}

#[test]
fn kind_01_the_first_sending_task_ever_is_woken() {
    let receive = |rx: Receiver<usize>| {
        assert_eq!(rx.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    };
    let send = |tx: Sender<usize>| {
        let all = async {
            for item in 4..7 {
                tx.send_async(1, item).await.unwrap()
            }
        };
        pollster::block_on(all);
    };
    first_ever(ROUNDS / 4, receive, send, 4);
}

// ---- kind 02: many tasks on a small channel --------------------------------------------------------

#[test]
fn kind_02_many_sending_tasks_and_ten_receiving_ones_on_one_place() {
    const SENDERS: usize = 100;
    const ITEMS: usize = if cfg!(miri) { 3 } else { 100 };
    with_every_executor(120, |run| {
        let (tx, rx) = bounded(&[1]);
        let (sum, total) = bounded(&[10]);
        let mut tasks: Vec<Boxed> = Vec::new();
        for sender in 0..SENDERS {
            let tx = tx.clone();
            tasks.push(Box::pin(async move {
                for item in 0..ITEMS {
                    tx.send_async(0, sender * ITEMS + item).await.unwrap();
                }
            }));
        }
        for _ in 0..10 {
            let (rx, sum) = (rx.clone(), sum.clone());
            tasks.push(Box::pin(async move {
                let mut all = Vec::new();
                while let Ok(item) = rx.recv_async().await {
                    all.push(item);
                }
                sum.send_async(0, all).await.unwrap();
            }));
        }
        drop((tx, rx, sum));
        run(tasks);
        let mut all: Vec<_> = total.iter().flatten().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..SENDERS * ITEMS), "every item once");
    });
}

/// The same with threads among the tasks, on both sides.
#[test]
fn kind_02_threads_and_tasks_on_one_place() {
    const EACH: usize = 500;
    with_every_executor(120, |run| {
        let (tx, rx) = bounded(&[1]);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (tx, rx) = (tx.clone(), rx.clone());
                let sending = thread::spawn(move || (0..EACH).for_each(|_| tx.send(0, 1).unwrap()));
                (sending, thread::spawn(move || rx.iter().sum::<usize>()))
            })
            .collect();
        let (sum, total) = bounded(&[2]);
        let mut tasks: Vec<Boxed> = Vec::new();
        for _ in 0..2 {
            let (tx, rx, sum) = (tx.clone(), rx.clone(), sum.clone());
            tasks.push(Box::pin(async move {
                for _ in 0..EACH {
                    tx.send_async(0, 1).await.unwrap();
                }
            }));
            tasks.push(Box::pin(async move {
                let mut all = 0;
                while let Ok(item) = rx.recv_async().await {
                    all += item;
                }
                sum.send_async(0, all).await.unwrap();
            }));
        }
        drop((tx, rx, sum));
        run(tasks);
        let by_threads: usize = threads
            .into_iter()
            .map(|(sending, receiving)| {
                join(sending);
                join(receiving)
            })
            .sum();
        assert_eq!(total.iter().sum::<usize>() + by_threads, 4 * EACH);
    });
}

/// The entry's own steps.
#[test]
fn kind_02_a_sender_that_gives_up_leaves_its_wake_to_the_next() {
    let (first, second) = (Task::new(), Task::new());
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 0).unwrap();
    let (mut one, mut two) = (tx.send_async(0, 1), tx.send_async(0, 2));
    assert!(first.poll(&mut one).is_pending());
    assert!(second.poll(&mut two).is_pending());
    assert_eq!(rx.try_recv(), Ok(0));
    tx.try_send(0, 3).unwrap();
    assert!(first.poll(&mut one).is_pending());
    drop(one);
    assert_eq!(rx.try_recv(), Ok(3));
    assert_eq!(second.wakes(), 1);
    assert_eq!(second.poll(&mut two), Poll::Ready(Ok(())));
}

// ---- kind 03: the loser of a race ------------------------------------------------------------------

/// A task that races its receive against something that wins again and again must not keep the
/// wakes of the other.
#[test]
fn kind_03_a_receive_that_loses_its_races_takes_no_wake_with_it() {
    const ITEMS: usize = 300;
    with_every_executor(120, |run| {
        let (tx, rx) = bounded(&[1]);
        let (ticks, ticking) = bounded(&[1]);
        let (racing, other) = (rx.clone(), rx);
        let (sum, total) = bounded(&[2]);
        let sum_of_other = sum.clone();
        let tasks: Vec<Boxed> = vec![
            Box::pin(async move {
                let mut taken = 0;
                loop {
                    let raced = select(ticking.recv_async(), racing.recv_async()).await;
                    match raced {
                        Either::Left((Ok(()), _)) => {}
                        Either::Right((Ok(()), _)) => taken += 1,
                        Either::Left((Err(_), _)) | Either::Right((Err(_), _)) => break,
                    }
                }
                sum.send_async(0, taken).await.unwrap();
            }),
            Box::pin(async move {
                let mut taken = 0;
                while other.recv_async().await.is_ok() {
                    taken += 1;
                }
                sum_of_other.send_async(0, taken).await.unwrap();
            }),
            Box::pin(async move {
                for _ in 0..ITEMS {
                    tx.send_async(0, ()).await.unwrap();
                    // Closed once the racing task has seen the end of the items.
                    let _ = ticks.send_async(0, ()).await;
                }
                // Whoever closes first must not cost the other an item.
                while !tx.is_empty() {
                    let _ = ticks.send_async(0, ()).await;
                }
            }),
        ];
        run(tasks);
        assert_eq!(total.iter().sum::<usize>(), ITEMS);
    });
}

// ---- kind 04: a future that is dropped ---------------------------------------------------------------

#[test]
fn kind_04_of_two_raced_receives_the_loser_takes_nothing() {
    within(120, || {
        let (tally, mut won) = (Tally::default(), [0, 0]);
        let (left_tx, left) = bounded(&[1, 1]);
        let (right_tx, right) = bounded(&[1, 1]);
        for round in 0..ROUNDS / 2 {
            let (a, b) = (tally.item(), tally.item());
            let (to_left, to_right) = (left_tx.clone(), right_tx.clone());
            let race = async {
                let both = select(left.recv_async(), right.recv_async());
                match both.await {
                    Either::Left((item, _)) => (0, item.unwrap()),
                    Either::Right((item, _)) => (1, item.unwrap()),
                }
            };
            // In turn: both are there before, or each is sent by a poll between.
            let mut race = pin!(race);
            let task = Task::new();
            if round % 2 == 1 {
                assert!(task.run(|context| race.as_mut().poll(context)).is_pending());
            }
            let sends = [|(tx, item)| assert!(Sender::try_send(tx, 1, item).is_ok()); 2];
            if round % 4 < 2 {
                sends[0]((&to_left, a));
                sends[1]((&to_right, b));
            } else {
                sends[1]((&to_right, b));
                assert_eq!(task.wakes(), round % 2);
                drop(a);
            }
            let (side, item) = pollster::block_on(race);
            won[side] += 1;
            let rest = usize::from(left.try_recv().is_ok()) + usize::from(right.try_recv().is_ok());
            assert_eq!(rest, usize::from(round % 4 < 2));
            drop(item);
        }
        assert!(won.iter().all(|&rounds| rounds > 0), "each side won: {won:?}");
        drop((left_tx, left, right_tx, right));
        tally.assert_all_dropped_once();
    });
}

/// Raced against what is ready at once, or one poll later, while another thread sends or receives.
#[test]
fn kind_04_a_cancelled_send_is_delivered_once_or_dropped_once() {
    within(120, || {
        let tally = Tally::default();
        let (tx, rx) = bounded(&[1]);
        let receiving = thread::spawn(move || {
            let mut received = 0;
            while let Ok(item) = rx.recv() {
                received += 1;
                drop(item);
                if received % 3 == 0 {
                    thread::yield_now();
                }
            }
            received
        });
        let (mut sent, mut cancelled) = (0, 0);
        for round in 0..ROUNDS / 2 {
            let polls = std::cell::Cell::new(round % 3);
            let timer = futures_util::future::poll_fn(|context| {
                context.waker().wake_by_ref();
                let left = polls.get();
                polls.set(left.saturating_sub(1));
                if left == 0 { Poll::Ready(()) } else { Poll::Pending }
            });
            match pollster::block_on(select(tx.send_async(0, tally.item()), timer)) {
                Either::Left((outcome, _)) => {
                    assert!(outcome.is_ok());
                    sent += 1;
                }
                Either::Right(((), send)) if round % 2 == 0 => {
                    cancelled += 1;
                    assert!(send.into_item().is_some());
                }
                Either::Right(((), _send)) => cancelled += 1,
            }
        }
        drop(tx);
        assert_eq!(join(receiving), sent);
        assert!(sent > 0 && cancelled > 0, "{sent} sent, {cancelled} cancelled");
        tally.assert_all_dropped_once();
    });
}

#[test]
fn kind_04_a_cancelled_receive_loses_no_item() {
    within(120, || {
        let tally = Tally::default();
        let (tx, rx) = bounded(&[1]);
        let items: Vec<_> = (0..ROUNDS / 2).map(|_| tally.item()).collect();
        let sending = thread::spawn(move || items.into_iter().all(|item| tx.send(0, item).is_ok()));
        let (mut next, mut cancelled) = (0, 0);
        loop {
            match pollster::block_on(select(rx.recv_async(), ready(()))) {
                Either::Left((Ok(item), _)) => {
                    assert_eq!(item.id, next);
                    next += 1;
                }
                Either::Left((Err(error), _)) => {
                    assert_eq!(error, RecvError::Closed);
                    break;
                }
                Either::Right(_) => cancelled += 1,
            }
        }
        assert!(join(sending));
        assert_eq!((next, cancelled > 0), (ROUNDS / 2, true));
        tally.assert_all_dropped_once();
    });
}

// ---- kind 05: the last item and the close ------------------------------------------------------------

/// Reads to the end in some way; how many items came.
type Drain = fn(&Receiver<usize>) -> usize;

const DRAINS: &[(&str, Drain)] = &[
    ("recv_async", |rx| {
        let counting = async {
            let mut count = 0;
            while rx.recv_async().await.is_ok() {
                count += 1;
            }
            count
        };
        pollster::block_on(counting)
    }),
    #[cfg(feature = "stream")]
    ("stream", |rx| pollster::block_on(futures_util::StreamExt::count(rx.clone().into_stream()))),
    ("polled with a waker that does nothing", |rx| {
        let mut count = 0;
        loop {
            let mut receive = rx.recv_async_with_band();
            match Task::new().poll(&mut receive) {
                Poll::Pending => thread::yield_now(),
                Poll::Ready(Ok(_)) => count += 1,
                Poll::Ready(Err(error)) => {
                    assert!(
                        error == RecvError::Closed && rx.try_recv() == Err(TryRecvError::Closed)
                    );
                    return count;
                }
            }
        }
    }),
];

fn drained_by(receivers: usize) {
    within(120, move || {
        let mut dice = Dice::new(5);
        for (name, drain) in DRAINS {
            println!("{name}");
            for _ in 0..ROUNDS / (10 * receivers) {
                let (tx, rx) = bounded(&[2, 2, 2]);
                let threads: Vec<_> = (0..receivers)
                    .map(|_| {
                        let rx = rx.clone();
                        thread::spawn(move || drain(&rx))
                    })
                    .collect();
                drop(rx);
                let items = 1 + dice.below(5);
                for item in 1..items {
                    tx.send(dice.below(3), item).unwrap();
                }
                tx.send(0, 0).unwrap();
                drop(tx);
                assert_eq!(threads.into_iter().map(join).sum::<usize>(), items);
            }
        }
    });
}

#[test]
fn kind_05_a_task_sees_every_item_before_the_close() {
    drained_by(1);
}

#[test]
fn kind_05_four_tasks_see_every_item_before_the_close() {
    drained_by(4);
}

// ---- streams and sinks under executors -----------------------------------------------------------------

#[cfg(all(feature = "stream", feature = "sink"))]
#[test]
fn a_stream_forwards_into_a_sink_under_every_executor() {
    use futures_util::{StreamExt, stream};
    const ITEMS: usize = 500;
    with_every_executor(60, |run| {
        let (tx, rx) = bounded(&[1, 3]);
        let (onward, end) = bounded(&[2]);
        let (result, received) = bounded(&[1]);
        let tasks: Vec<Boxed> = vec![
            Box::pin(async move {
                let numbers = stream::iter(0..ITEMS).map(Ok);
                numbers.forward(tx.band(1).into_sink()).await.unwrap();
            }),
            Box::pin(async move {
                rx.into_stream().map(Ok).forward(onward.band(0).into_sink()).await.unwrap();
            }),
            Box::pin(async move {
                let all: Vec<_> = end.into_stream().collect().await;
                result.send_async(0, all).await.unwrap();
            }),
        ];
        run(tasks);
        assert!(received.recv().unwrap().into_iter().eq(0..ITEMS));
    });
}
