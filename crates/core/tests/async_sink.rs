//! A sender as a sink: it holds one item at most, and lets go of the channel when it is closed.
#![cfg(feature = "sink")]

mod common;
mod tasks;

use common::Tally;
use futures_util::Sink;
use overtake_core::{SendError, SendSink, bounded};
use std::pin::Pin;
use std::task::{Context, Poll};
use tasks::Task;

type Outcome<T> = Poll<Result<(), SendError<T>>>;

fn poll<T>(
    task: &Task,
    sink: &mut SendSink<T>,
    with: fn(Pin<&mut SendSink<T>>, &mut Context<'_>) -> Outcome<T>,
) -> Outcome<T> {
    task.run(|context| with(Pin::new(sink), context))
}

#[test]
fn a_sink_holds_one_item_beyond_the_bands_capacity() {
    let task = Task::new();
    let (tx, rx) = bounded(&[1]);
    let mut sink = tx.band(0).into_sink();
    for item in [1, 2] {
        assert_eq!(poll(&task, &mut sink, Sink::poll_ready), Poll::Ready(Ok(())));
        assert_eq!(Pin::new(&mut sink).start_send(item), Ok(()));
    }
    assert_eq!(rx.len(), 1);
    assert!(poll(&task, &mut sink, Sink::poll_ready).is_pending());
    assert!(poll(&task, &mut sink, Sink::poll_flush).is_pending());
    assert_eq!(task.clones(), 1);
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(task.wakes(), 1);
    assert_eq!(poll(&task, &mut sink, Sink::poll_flush), Poll::Ready(Ok(())));
    assert_eq!((rx.try_recv(), task.alive()), (Ok(2), 0));
}

#[test]
#[should_panic(expected = "`start_send` without `poll_ready`")]
fn an_item_for_a_sink_that_is_not_ready_is_a_mistake() {
    let (tx, _rx) = bounded(&[1]);
    let mut sink = tx.band(0).into_sink();
    for item in 0..3 {
        let _ = Pin::new(&mut sink).start_send(item);
    }
}

#[test]
fn a_closed_sink_has_let_go_of_the_channel() {
    let task = Task::new();
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    let mut sink = tx.band(0).into_sink();
    drop(tx);
    assert_eq!(Pin::new(&mut sink).start_send(2), Ok(()));
    assert!(poll(&task, &mut sink, Sink::poll_close).is_pending());
    assert!(!rx.is_closed(), "an item is still to come");
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(poll(&task, &mut sink, Sink::poll_close), Poll::Ready(Ok(())));
    assert!(rx.is_closed());
    assert_eq!(poll(&task, &mut sink, Sink::poll_close), Poll::Ready(Ok(())));
    assert_eq!(Pin::new(&mut sink).start_send(3), Err(SendError(3)));
    assert_eq!((rx.try_recv(), rx.sender_count()), (Ok(2), 0));
    assert_eq!((sink.into_item(), task.alive()), (None, 0));
}

#[test]
fn a_sink_of_a_closed_channel_gives_each_item_back() {
    let (task, tally) = (Task::new(), Tally::default());
    let (tx, rx) = bounded(&[1]);
    let mut sink = tx.band(0).into_sink();
    for _ in 0..2 {
        assert!(Pin::new(&mut sink).start_send(tally.item()).is_ok());
    }
    assert!(poll(&task, &mut sink, Sink::poll_ready).is_pending());
    drop(rx);
    assert_eq!((task.wakes(), tally.dropped()), (1, 1));
    let Poll::Ready(Err(SendError(held))) = poll(&task, &mut sink, Sink::poll_ready) else {
        panic!("open");
    };
    assert_eq!(held.id, 1);
    let refused = Pin::new(&mut sink).start_send(tally.item());
    assert!(refused.is_err_and(|SendError(item)| item.id == 2));
    assert!(matches!(poll(&task, &mut sink, Sink::poll_close), Poll::Ready(Ok(()))));
    drop((held, sink, tx));
    tally.assert_all_dropped_once();
}

#[test]
fn a_sink_that_is_ended_gives_back_what_it_holds_and_passes_its_wake_on() {
    let (mine, others) = (Task::new(), Task::new());
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 1).unwrap();
    let mut sink = tx.band(0).into_sink();
    assert_eq!(Pin::new(&mut sink).start_send(2), Ok(()));
    assert!(poll(&mine, &mut sink, Sink::poll_flush).is_pending());
    let mut next = tx.send_async(0, 3);
    assert!(others.poll(&mut next).is_pending());
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!((mine.wakes(), others.wakes()), (1, 0));
    assert_eq!(sink.into_item(), Some(2));
    assert_eq!((mine.alive(), others.wakes()), (0, 1));
}
