//! Every way to receive in a task, polled by hand: dropped, forgotten, moved, released, closed.
//! Nothing is lost and no wake stops at a task that is not there any more.

mod common;
mod tasks;

use common::{Counted, Tally, join, parked, within};
use overtake_core::{Receiver, Sender, bounded};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tasks::Task;

/// A receive under way; `None` where it ended without an item.
type Receive<'a> = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Counted>> + 'a>;

type Begin = fn(&Receiver<Counted>) -> Receive<'_>;

/// Ways to begin one.
const METHODS: &[(&str, Begin)] = &[
    ("recv_async", |rx| {
        let mut receive = rx.recv_async();
        Box::new(move |context| Pin::new(&mut receive).poll(context).map(Result::ok))
    }),
    ("recv_async_with_band", |rx| {
        let mut receive = rx.recv_async_with_band();
        Box::new(move |context| {
            let taken = Pin::new(&mut receive).poll(context);
            taken.map(|taken| taken.ok().map(|(band, item)| (band == 1).then_some(item).unwrap()))
        })
    }),
    #[cfg(feature = "stream")]
    ("stream", |rx| {
        let mut stream = rx.clone().into_stream();
        Box::new(move |context| futures_util::Stream::poll_next(Pin::new(&mut stream), context))
    }),
];

fn id(taken: Poll<Option<Counted>>) -> Poll<Option<usize>> {
    taken.map(|taken| taken.map(|item| item.id))
}

/// Runs for each method with a channel of two bands; all items must be dropped once afterwards.
fn for_each_method(
    check: impl Fn(Begin, &Sender<Counted>, &Receiver<Counted>, &Tally) + Send + 'static,
) {
    within(10, move || {
        for (name, begin) in METHODS {
            println!("{name}");
            let tally = Tally::default();
            let (tx, rx) = bounded(&[4, 4]);
            check(*begin, &tx, &rx, &tally);
            drop((tx, rx));
            tally.assert_all_dropped_once();
        }
    });
}

#[track_caller]
fn send(tx: &Sender<Counted>, tally: &Tally) {
    assert!(tx.try_send(1, tally.item()).is_ok());
}

#[test]
fn kind_03_told_and_dropped_unpolled_the_next_task_gets_the_item() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut other = begin(rx);
        let mut receive = begin(rx);
        assert!(others.run(&mut other).is_pending());
        assert!(mine.run(&mut receive).is_pending());
        send(tx, tally);
        assert_eq!((mine.wakes(), others.wakes()), (1, 0));
        drop(receive);
        assert_eq!((mine.wakes(), others.wakes(), mine.alive()), (1, 1, 0));
        assert_eq!(id(others.run(&mut other)), Poll::Ready(Some(0)));
        drop(other);
        assert_eq!(others.alive(), 0);
    });
}

#[test]
fn kind_03_told_and_dropped_unpolled_the_next_thread_gets_the_item() {
    for_each_method(|begin, tx, rx, tally| {
        let other = rx.clone();
        let thread = parked(move || other.recv().map(|item| item.id));
        let mine = Task::new();
        let mut receive = begin(rx);
        assert!(mine.run(&mut receive).is_pending());
        send(tx, tally);
        assert_eq!(mine.wakes(), 1);
        drop(receive);
        assert_eq!(join(thread), Ok(0));
    });
}

/// Told by an item that somebody else takes first: then there is nothing to pass on.
#[test]
fn told_of_an_item_that_is_gone_and_dropped_wakes_nobody() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut other = begin(rx);
        let mut receive = begin(rx);
        assert!(others.run(&mut other).is_pending());
        assert!(mine.run(&mut receive).is_pending());
        send(tx, tally);
        assert!(rx.try_recv().is_ok());
        drop(receive);
        assert_eq!((mine.wakes(), others.wakes()), (1, 0));
        send(tx, tally);
        assert_eq!(others.wakes(), 1);
    });
}

#[test]
fn told_of_an_item_that_is_gone_it_waits_on() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut receive = begin(rx);
        assert!(mine.run(&mut receive).is_pending());
        for round in 1..=5 {
            send(tx, tally);
            assert!(rx.try_recv().is_ok());
            assert!(mine.run(&mut receive).is_pending());
            assert_eq!((mine.wakes(), mine.alive()), (round, 1));
        }
        send(tx, tally);
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(Some(5)));
    });
}

#[test]
fn dropped_untold_it_is_forgotten_by_all() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut other = begin(rx);
        let mut receive = begin(rx);
        assert!(others.run(&mut other).is_pending());
        assert!(mine.run(&mut receive).is_pending());
        drop(receive);
        send(tx, tally);
        assert_eq!((mine.wakes(), mine.alive(), others.wakes()), (0, 0, 1));
        assert_eq!(id(others.run(&mut other)), Poll::Ready(Some(0)));
    });
}

#[test]
fn never_polled_it_was_never_there() {
    for_each_method(|begin, tx, rx, tally| {
        let receive = begin(rx);
        rx.release();
        send(tx, tally);
        drop(receive);
        let mut receive = begin(rx);
        rx.release();
        assert_eq!(id(Task::new().run(&mut receive)), Poll::Ready(Some(0)));
    });
}

#[test]
fn polled_with_another_waker_only_that_one_is_woken() {
    for_each_method(|begin, tx, rx, tally| {
        let (first, second) = (Task::new(), Task::new());
        let mut receive = begin(rx);
        assert!(first.run(&mut receive).is_pending());
        assert!(second.run(&mut receive).is_pending());
        assert_eq!((first.alive(), second.alive()), (0, 1));
        send(tx, tally);
        assert_eq!((first.wakes(), second.wakes()), (0, 1));
        // Told, and polled with the first again.
        assert_eq!(id(first.run(&mut receive)), Poll::Ready(Some(0)));
        assert_eq!((first.alive(), second.alive()), (0, 0));
    });
}

#[test]
fn polled_for_nothing_it_keeps_its_one_waker() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut receive = begin(rx);
        assert!((0..100).all(|_| mine.run(&mut receive).is_pending()));
        assert_eq!((mine.clones(), mine.alive()), (1, 1));
        send(tx, tally);
        assert_eq!(mine.wakes(), 1);
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(Some(0)));
        send(tx, tally);
        assert_eq!((mine.wakes(), mine.alive()), (1, 0), "no wake of who does not wait");
    });
}

/// It absorbs the one wake that reaches it; the next one sets that right.
#[test]
fn forgotten_it_delays_one_item_at_most() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut other = begin(rx);
        let mut third = begin(rx);
        assert!(others.run(&mut other).is_pending());
        assert!(others.run(&mut third).is_pending());
        let mut receive = begin(rx);
        assert!(mine.run(&mut receive).is_pending());
        std::mem::forget(receive);
        send(tx, tally);
        assert_eq!((mine.wakes(), others.wakes()), (1, 0));
        send(tx, tally);
        assert_eq!(others.wakes(), 1);
        // Whoever was told takes the first item, and tells the other of the second.
        assert_eq!(id(others.run(&mut third)), Poll::Ready(Some(0)));
        assert_eq!(others.wakes(), 2);
        assert_eq!(id(others.run(&mut other)), Poll::Ready(Some(1)));
        drop((other, third));
        assert_eq!((mine.wakes(), others.alive()), (1, 0));
        tx.close();
    });
}

#[test]
fn released_while_it_waits_it_ends_and_may_begin_again() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut receive = begin(rx);
        assert!(mine.run(&mut receive).is_pending());
        rx.release();
        assert_eq!(mine.wakes(), 1);
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(None));
        assert_eq!((mine.alive(), rx.is_closed()), (0, false));
        assert!(mine.run(&mut receive).is_pending());
        send(tx, tally);
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(Some(0)));
    });
}

/// Released beats an item, also one that came before: it stays inside, and its wake goes on.
#[test]
fn released_once_it_was_told_it_leaves_the_item_to_others() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut receive = begin(rx);
        assert!(mine.run(&mut receive).is_pending());
        send(tx, tally);
        rx.release();
        let mut other = begin(rx);
        let mut later = begin(rx);
        assert_eq!(id(others.run(&mut other)), Poll::Ready(Some(0)));
        send(tx, tally);
        assert!(rx.try_recv().is_ok());
        assert!(others.run(&mut later).is_pending());
        send(tx, tally);
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(None));
        assert_eq!((mine.wakes(), others.wakes()), (1, 1));
        assert_eq!(id(others.run(&mut later)), Poll::Ready(Some(2)));
    });
}

#[test]
fn a_release_does_not_stop_at_one_that_is_dropped() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut other = begin(rx);
        let mut receive = begin(rx);
        assert!(others.run(&mut other).is_pending());
        assert!(mine.run(&mut receive).is_pending());
        tx.release();
        assert_eq!((mine.wakes(), others.wakes()), (1, 1));
        drop(receive);
        send(tx, tally);
        assert_eq!(id(others.run(&mut other)), Poll::Ready(None));
        assert_eq!((mine.alive(), others.wakes(), others.alive()), (0, 1, 0));
    });
}

#[test]
fn closed_while_it_waits_it_ends_for_good() {
    for_each_method(|begin, tx, rx, _| {
        let mine = Task::new();
        let mut receive = begin(rx);
        assert!(mine.run(&mut receive).is_pending());
        tx.close();
        assert_eq!(mine.wakes(), 1);
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(None));
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(None));
        assert_eq!((mine.wakes(), mine.alive()), (1, 0));
    });
}

#[test]
fn closed_once_it_was_told_the_item_still_comes_out() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut receive = begin(rx);
        assert!(mine.run(&mut receive).is_pending());
        send(tx, tally);
        send(tx, tally);
        tx.close();
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(Some(0)));
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(Some(1)));
        assert_eq!(id(mine.run(&mut receive)), Poll::Ready(None));
        assert_eq!(mine.wakes(), 1);
    });
}

/// The dropped one was the last thing outstanding: its wake is not kept for ever.
#[test]
fn kind_03_told_dropped_and_then_closed_nobody_waits_on() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut other = begin(rx);
        let mut receive = begin(rx);
        assert!(others.run(&mut other).is_pending());
        assert!(mine.run(&mut receive).is_pending());
        send(tx, tally);
        tx.close();
        drop(receive);
        assert!(others.wakes() >= 1);
        assert_eq!(id(others.run(&mut other)), Poll::Ready(Some(0)));
        assert_eq!(id(others.run(&mut other)), Poll::Ready(None));
    });
}

#[test]
fn polled_after_it_was_ready_it_waits_for_the_next_item() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut receive = begin(rx);
        for round in 0..3 {
            assert!(mine.run(&mut receive).is_pending());
            send(tx, tally);
            assert_eq!(id(mine.run(&mut receive)), Poll::Ready(Some(round)));
            assert_eq!((mine.wakes(), mine.alive()), (round + 1, 0));
        }
        drop(receive);
        send(tx, tally);
        assert_eq!(mine.wakes(), 3);
    });
}

/// The last receiver goes while its stream waits.
#[cfg(feature = "stream")]
#[test]
fn a_stream_that_is_dropped_is_the_last_receiver() {
    use futures_util::stream::{FusedStream, Stream};
    let (tally, mine) = (Tally::default(), Task::new());
    let (tx, rx) = bounded(&[2]);
    let mut stream = rx.into_stream();
    assert!(mine.run(|context| Pin::new(&mut stream).poll_next(context)).is_pending());
    assert_eq!((stream.size_hint(), stream.is_terminated()), ((0, None), false));
    assert!(stream.receiver().is_empty());
    assert!(tx.try_send(0, tally.item()).is_ok());
    drop(stream);
    assert!(tx.is_closed() && tx.try_send(0, tally.item()).is_err());
    assert_eq!((tx.receiver_count(), mine.alive(), tally.dropped()), (0, 0, 2));
    tally.assert_all_dropped_once();
}

#[cfg(feature = "stream")]
#[test]
fn a_stream_says_when_it_is_over() {
    use futures_util::stream::{FusedStream, Stream};
    let mine = Task::new();
    let (tx, rx) = bounded(&[2]);
    let mut stream = rx.into_stream();
    let mut next = || mine.run(|context| Pin::new(&mut stream).poll_next(context));
    assert!(next().is_pending());
    tx.release();
    assert_eq!(next(), Poll::Ready(None));
    assert!(!stream.is_terminated(), "released, not closed");
    tx.try_send(0, 1).unwrap();
    tx.close();
    assert_eq!((stream.size_hint(), stream.is_terminated()), ((0, Some(1)), false));
    let mut next = || mine.run(|context| Pin::new(&mut stream).poll_next(context));
    assert_eq!(
        (next(), next(), next()),
        (Poll::Ready(Some(1)), Poll::Ready(None), Poll::Ready(None))
    );
    assert!(stream.is_terminated());
}
