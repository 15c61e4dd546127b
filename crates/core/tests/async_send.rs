//! Every way to send in a task, polled by hand: dropped, forgotten, moved, closed. No item is lost
//! or doubled, and no wake stops at a task that is not there any more.

mod common;
mod tasks;

use common::{Counted, Tally, join, parked, within};
use overtake_core::{Receiver, SendError, Sender, bounded};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tasks::Task;

/// A send under way.
type Send<'a> = Box<dyn FnMut(&mut Context<'_>) -> Poll<Result<(), SendError<Counted>>> + 'a>;
type Begin = fn(&Sender<Counted>, Counted) -> Send<'_>;

/// Ways to begin one. All of them find the band full and hold the item.
const METHODS: &[(&str, Begin)] = &[
    ("send_async", |tx, item| {
        let mut send = tx.send_async(1, item);
        Box::new(move |context| Pin::new(&mut send).poll(context))
    }),
    #[cfg(feature = "sink")]
    ("sink, ready", |tx, item| sink(tx, item, futures_util::Sink::poll_ready)),
    #[cfg(feature = "sink")]
    ("sink, flush", |tx, item| sink(tx, item, futures_util::Sink::poll_flush)),
    #[cfg(feature = "sink")]
    ("sink, close", |tx, item| sink(tx, item, futures_util::Sink::poll_close)),
];

#[cfg(feature = "sink")]
type PollSink = fn(
    Pin<&mut overtake_core::SendSink<Counted>>,
    &mut Context<'_>,
) -> Poll<Result<(), SendError<Counted>>>;

#[cfg(feature = "sink")]
fn sink(tx: &Sender<Counted>, item: Counted, poll: PollSink) -> Send<'_> {
    let mut sink = tx.band(1).into_sink();
    futures_util::Sink::start_send(Pin::new(&mut sink), item).expect("open");
    Box::new(move |context| poll(Pin::new(&mut sink), context))
}

/// Runs for each method with a channel of two bands, of which band 1 is full with item 0; all items
/// must be dropped once afterwards.
fn for_each_method(
    check: impl Fn(Begin, &Sender<Counted>, &Receiver<Counted>, &Tally) + std::marker::Send + 'static,
) {
    within(10, move || {
        for (name, begin) in METHODS {
            println!("{name}");
            let tally = Tally::default();
            let (tx, rx) = bounded(&[1, 1]);
            assert!(tx.try_send(1, tally.item()).is_ok());
            check(*begin, &tx, &rx, &tally);
            drop((tx, rx));
            tally.assert_all_dropped_once();
        }
    });
}

#[track_caller]
fn take(rx: &Receiver<Counted>) -> usize {
    rx.try_recv().expect("an item").id
}

#[test]
fn kind_03_told_and_dropped_unpolled_the_next_task_gets_the_room() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut send = begin(tx, tally.item());
        let mut other = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        assert!(others.run(&mut other).is_pending());
        assert_eq!(take(rx), 0);
        assert_eq!((mine.wakes(), others.wakes()), (1, 0));
        drop(send);
        assert_eq!((mine.wakes(), mine.alive(), others.wakes()), (1, 0, 1));
        assert_eq!((tally.drops_of(1), tally.drops_of(2)), (1, 0));
        assert!(matches!(others.run(&mut other), Poll::Ready(Ok(()))));
        assert_eq!((take(rx), others.alive()), (2, 0));
    });
}

#[test]
fn kind_03_told_and_dropped_unpolled_the_next_thread_gets_the_room() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut send = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        let (other, item) = (tx.clone(), tally.item());
        let thread = parked(move || other.send(1, item).is_ok());
        assert_eq!(take(rx), 0);
        assert_eq!(mine.wakes(), 1);
        drop(send);
        assert!(join(thread));
        assert_eq!(take(rx), 2);
    });
}

/// A satisfied sender that stays in the queue would be told of the second room.
#[test]
fn kind_02_told_of_room_that_is_gone_and_dropped_it_leaves_no_trace() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut send = begin(tx, tally.item());
        let mut other = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        assert!(others.run(&mut other).is_pending());
        assert_eq!(take(rx), 0);
        assert!(tx.try_send(1, tally.item()).is_ok());
        assert!(mine.run(&mut send).is_pending());
        assert_eq!((mine.wakes(), others.wakes()), (1, 0));
        drop(send);
        assert_eq!((mine.alive(), others.wakes()), (0, 0));
        assert_eq!(take(rx), 3);
        assert_eq!(others.wakes(), 1);
        assert!(matches!(others.run(&mut other), Poll::Ready(Ok(()))));
    });
}

/// It keeps its place: told again before those who came later.
#[test]
fn told_of_room_that_is_gone_it_waits_on_in_its_place() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut send = begin(tx, tally.item());
        let mut other = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        assert!(others.run(&mut other).is_pending());
        for round in 1..=5 {
            take(rx);
            assert!(tx.try_send(1, tally.item()).is_ok());
            assert!(mine.run(&mut send).is_pending());
            assert_eq!((mine.wakes(), mine.alive(), others.wakes()), (round, 1, 0));
        }
        take(rx);
        assert!(matches!(mine.run(&mut send), Poll::Ready(Ok(()))));
        assert_eq!(others.wakes(), 0);
    });
}

#[test]
fn dropped_untold_it_is_forgotten_by_all() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut send = begin(tx, tally.item());
        let mut other = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        assert!(others.run(&mut other).is_pending());
        drop(send);
        assert_eq!((mine.alive(), tally.drops_of(1)), (0, 1));
        assert_eq!(take(rx), 0);
        assert_eq!((mine.wakes(), others.wakes()), (0, 1));
        assert!(matches!(others.run(&mut other), Poll::Ready(Ok(()))));
        assert_eq!(take(rx), 2);
    });
}

#[test]
fn polled_with_another_waker_only_that_one_is_woken() {
    for_each_method(|begin, tx, rx, tally| {
        let (first, second) = (Task::new(), Task::new());
        let mut send = begin(tx, tally.item());
        assert!(first.run(&mut send).is_pending());
        assert!(second.run(&mut send).is_pending());
        assert_eq!((first.alive(), second.alive()), (0, 1));
        assert_eq!(take(rx), 0);
        assert_eq!((first.wakes(), second.wakes()), (0, 1));
        assert!(matches!(first.run(&mut send), Poll::Ready(Ok(()))));
        assert_eq!((first.alive(), second.alive(), take(rx)), (0, 0, 1));
    });
}

#[test]
fn polled_for_nothing_it_keeps_its_one_waker() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut send = begin(tx, tally.item());
        assert!((0..100).all(|_| mine.run(&mut send).is_pending()));
        assert_eq!((mine.clones(), mine.alive()), (1, 1));
        assert_eq!(take(rx), 0);
        assert_eq!(mine.wakes(), 1);
        assert!(matches!(mine.run(&mut send), Poll::Ready(Ok(()))));
        assert_eq!((take(rx), mine.wakes(), mine.alive()), (1, 1, 0));
    });
}

/// Room that is there although nobody told of it: a task that is polled for another reason takes
/// it, and the one that was told waits on.
#[test]
fn polled_beside_room_it_takes_it() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut send = begin(tx, tally.item());
        let mut other = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        assert!(others.run(&mut other).is_pending());
        assert_eq!(take(rx), 0);
        assert!(matches!(others.run(&mut other), Poll::Ready(Ok(()))));
        assert!(mine.run(&mut send).is_pending());
        assert_eq!((mine.wakes(), others.wakes()), (1, 0));
        assert_eq!(take(rx), 2);
        assert_eq!(mine.wakes(), 2);
        assert!(matches!(mine.run(&mut send), Poll::Ready(Ok(()))));
    });
}

#[test]
fn released_it_waits_on() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut send = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        rx.release();
        assert_eq!(mine.wakes(), 0);
        assert!(mine.run(&mut send).is_pending());
        assert_eq!(take(rx), 0);
        assert!(matches!(mine.run(&mut send), Poll::Ready(Ok(()))));
    });
}

#[test]
fn closed_while_it_waits_the_item_comes_back() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut send = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        rx.close();
        assert_eq!(mine.wakes(), 1);
        let Poll::Ready(Err(SendError(item))) = mine.run(&mut send) else { panic!("not closed") };
        assert_eq!((item.id, tally.drops_of(1), mine.alive()), (1, 0, 0));
    });
}

/// The room came first, but the send did not get to it.
#[test]
fn closed_once_it_was_told_the_item_comes_back_as_well() {
    for_each_method(|begin, tx, rx, tally| {
        let (mine, others) = (Task::new(), Task::new());
        let mut send = begin(tx, tally.item());
        let mut other = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        assert!(others.run(&mut other).is_pending());
        assert_eq!(take(rx), 0);
        tx.close();
        assert_eq!((mine.wakes(), others.wakes()), (1, 1));
        drop(send);
        let Poll::Ready(Err(SendError(item))) = others.run(&mut other) else { panic!("open") };
        assert_eq!((item.id, rx.len(), others.wakes()), (2, 0, 1));
    });
}

/// It absorbs the one wake that reaches it. Its item is forgotten with it.
#[test]
fn forgotten_it_delays_one_room_at_most() {
    within(10, || {
        for (name, begin) in METHODS {
            println!("{name}");
            let tally = Tally::default();
            let (tx, rx) = bounded(&[1, 2]);
            assert!((0..2).all(|_| tx.try_send(1, tally.item()).is_ok()));
            let (mine, others) = (Task::new(), Task::new());
            let mut send = begin(&tx, tally.item());
            let mut other = begin(&tx, tally.item());
            assert!(mine.run(&mut send).is_pending());
            assert!(others.run(&mut other).is_pending());
            std::mem::forget(send);
            assert_eq!(take(&rx), 0);
            assert_eq!((mine.wakes(), others.wakes()), (1, 0));
            assert_eq!(take(&rx), 1);
            assert_eq!((mine.wakes(), others.wakes()), (1, 1));
            assert!(matches!(others.run(&mut other), Poll::Ready(Ok(()))));
            assert_eq!((take(&rx), others.alive()), (3, 0));
            assert_eq!(tally.drops_of(2), 0);
        }
    });
}

#[test]
fn polled_after_it_was_ready_it_sends_nothing_more() {
    for_each_method(|begin, tx, rx, tally| {
        let mine = Task::new();
        let mut send = begin(tx, tally.item());
        assert!(mine.run(&mut send).is_pending());
        assert_eq!(take(rx), 0);
        for _ in 0..3 {
            assert!(matches!(mine.run(&mut send), Poll::Ready(Ok(()))));
            assert_eq!((mine.alive(), rx.len()), (0, 1));
        }
        drop(send);
        assert_eq!((take(rx), mine.wakes()), (1, 1));
    });
}

#[test]
fn an_attempt_that_is_ended_gives_its_item_back() {
    let (mine, others) = (Task::new(), Task::new());
    let (tx, rx) = bounded(&[1, 1]);
    tx.try_send(1, 'a').unwrap();
    assert_eq!(tx.send_async(1, 'b').into_item(), Some('b'));
    let (mut told, mut untold) = (tx.send_async(1, 'c'), tx.send_async(1, 'd'));
    assert!(mine.poll(&mut told).is_pending());
    assert!(others.poll(&mut untold).is_pending());
    assert_eq!(rx.try_recv(), Ok('a'));
    assert_eq!(told.into_item(), Some('c'));
    assert_eq!((mine.alive(), others.wakes()), (0, 1), "its wake went to the next");
    assert_eq!(others.poll(&mut untold), Poll::Ready(Ok(())));
    assert_eq!(untold.into_item(), None, "it was sent");
    assert_eq!(rx.try_recv(), Ok('d'));
    let band = tx.band(0);
    let mut bound = band.send_async('e');
    assert_eq!(mine.poll(&mut bound), Poll::Ready(Ok(())));
    assert_eq!(rx.try_recv_with_band(), Ok((0, 'e')));
}

#[test]
#[should_panic(expected = "band 2 of a channel with 2 bands")]
fn a_band_that_is_not_there_is_noticed_at_once() {
    let (tx, _rx) = bounded(&[1, 1]);
    let _never_polled = tx.send_async(2, ());
}
