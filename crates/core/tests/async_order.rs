//! Who is woken first, and who is not woken at all. Wakes are counted, nothing is timed.

mod common;
mod tasks;

use common::{join, parked, within};
use overtake_core::{BandSet, Receiver, RecvFuture, Sender, bounded};
use std::task::Poll;
use tasks::Task;

/// So many receives that wait, each its own task, the first the oldest.
fn receives<T>(rx: &Receiver<T>, count: usize) -> Vec<(Task, RecvFuture<'_, T>)> {
    let begin = |_| {
        let (task, mut receive) = (Task::new(), rx.recv_async());
        assert!(task.poll(&mut receive).is_pending());
        (task, receive)
    };
    (0..count).map(begin).collect()
}

/// Who was woken since the last question.
fn woken<F>(waits: &[(Task, F)], seen: &mut [usize]) -> Vec<usize> {
    let changed = |(number, (task, _)): (usize, &(Task, F))| {
        let now = task.wakes();
        (std::mem::replace(&mut seen[number], now) != now).then_some(number)
    };
    waits.iter().enumerate().filter_map(changed).collect()
}

/// Fifteen searches take the newest, the sixteenth the oldest.
#[test]
fn receivers_are_woken_newest_first_and_every_sixteenth_time_the_oldest() {
    const WAITERS: usize = 40;
    let (tx, rx) = bounded(&[WAITERS]);
    let waits = receives(&rx, WAITERS);
    let mut seen = vec![0; WAITERS];
    let order: Vec<_> = (0..WAITERS)
        .flat_map(|item| {
            tx.try_send(0, item).unwrap();
            woken(&waits, &mut seen)
        })
        .collect();
    let newest = (25..40).rev().chain([0]).chain((10..25).rev()).chain([1]);
    assert!(order.iter().copied().eq(newest.chain((2..10).rev())), "{order:?}");
}

/// The oldest waits while others come and go in front of it all the time.
#[test]
fn no_receiver_starves_behind_newer_ones() {
    let (tx, rx) = bounded(&[1]);
    let mut waits = receives(&rx, 3);
    let mut items_of = [0; 3];
    let mut seen = [0; 3];
    for item in 0..160 {
        tx.try_send(0, item).unwrap();
        let woken = woken(&waits, &mut seen);
        let [number] = woken[..] else { panic!("one wake for one item, not {woken:?}") };
        let (task, receive) = &mut waits[number];
        assert_eq!(task.poll(receive), Poll::Ready(Ok(item)));
        items_of[number] += 1;
        // The newest again.
        assert!(task.poll(receive).is_pending());
    }
    assert!(items_of.iter().all(|&items| items > 0), "{items_of:?}");
    assert_eq!(items_of.iter().sum::<usize>(), 160);
}

/// The searches are counted for each band, or those of one could take every turn of the other.
#[test]
fn no_receiver_starves_where_two_bands_take_turns() {
    let (tx, rx) = bounded(&[1, 1]);
    let mut waits = receives(&rx, 2);
    let mut seen = [0; 2];
    let mut turns_of_oldest = 0;
    for item in 0..64 {
        let oldest = usize::from(turns_of_oldest % 2 == 1);
        tx.try_send(item % 2, item).unwrap();
        let woken = woken(&waits, &mut seen);
        let [number] = woken[..] else { panic!("one wake for one item, not {woken:?}") };
        turns_of_oldest += usize::from(number == oldest);
        let (task, receive) = &mut waits[number];
        assert_eq!(task.poll(receive), Poll::Ready(Ok(item)));
        assert!(task.poll(receive).is_pending());
    }
    assert!(turns_of_oldest >= 4, "{turns_of_oldest} of 64 turns");
}

#[test]
fn tasks_are_given_room_in_the_order_of_waiting() {
    const WAITERS: usize = 64;
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, WAITERS).unwrap();
    let mut waits: Vec<_> =
        (0..WAITERS).map(|item| (Task::new(), tx.send_async(0, item))).collect();
    waits.iter_mut().for_each(|(task, send)| assert!(task.poll(send).is_pending()));
    let mut seen = [0; WAITERS];
    for number in 0..WAITERS {
        assert!(rx.try_recv().is_ok());
        assert_eq!(woken(&waits, &mut seen), [number]);
        let (task, send) = &mut waits[number];
        assert_eq!(task.poll(send), Poll::Ready(Ok(())));
    }
}

#[test]
fn threads_and_tasks_are_given_room_in_one_order() {
    within(60, || {
        for _ in 0..20 {
            let (tx, rx) = bounded(&[1]);
            tx.try_send(0, 0).unwrap();
            let mut threads = Vec::new();
            let mut tasks = Vec::new();
            for number in 1..=6 {
                if number % 2 == 0 {
                    let tx = tx.clone();
                    threads.push(parked(move || tx.send(0, number)));
                } else {
                    let (task, mut send) = (Task::new(), tx.send_async(0, number));
                    assert!(task.poll(&mut send).is_pending());
                    tasks.push((task, send));
                }
            }
            let mut tasks = tasks.into_iter();
            for number in 0..=6 {
                assert_eq!(rx.recv(), Ok(number));
                if number % 2 == 0 && number < 6 {
                    let (task, mut send) = tasks.next().expect("three tasks");
                    assert_eq!(task.wakes(), 1, "number {number} made room for the next");
                    assert_eq!(task.poll(&mut send), Poll::Ready(Ok(())));
                }
            }
            assert!(threads.into_iter().all(|thread| join(thread).is_ok()));
        }
    });
}

#[test]
fn a_receiver_is_told_of_its_own_bands_only() {
    let (tx, rx) = bounded(&[8, 8, 8]);
    let sets = [BandSet::only(0), BandSet::only(1), BandSet::only(2), BandSet::EMPTY];
    let receivers = sets.map(|set| rx.clone().only(set));
    let mut waits: Vec<_> = receivers.iter().flat_map(|rx| receives(rx, 1)).collect();
    let wakes = |waits: &[(Task, _)]| -> Vec<_> {
        waits.iter().map(|(task, _): &(Task, RecvFuture<'_, i32>)| task.wakes()).collect()
    };
    for item in 0..8 {
        tx.try_send(0, item).unwrap();
    }
    assert_eq!(wakes(&waits), [1, 0, 0, 0]);
    tx.try_send(2, 9).unwrap();
    assert_eq!(wakes(&waits), [1, 0, 1, 0]);
    // Also what it passes on stays in its band.
    drop(waits.remove(0));
    assert_eq!(wakes(&waits), [0, 1, 0]);
    tx.close();
    assert_eq!(wakes(&waits), [1, 1, 1]);
}

#[test]
fn a_sender_is_told_of_its_own_band_only() {
    let (tx, rx) = bounded(&[1, 1, 1]);
    (0..3).for_each(|band| tx.try_send(band, band).unwrap());
    let begin = |band| (Task::new(), tx.send_async(band, band));
    let mut waits: Vec<_> = [0, 1, 2].map(begin).into();
    waits.iter_mut().for_each(|(task, send)| assert!(task.poll(send).is_pending()));
    let mut seen = [0; 3];
    for band in [1, 0, 2] {
        let only = rx.clone().only(BandSet::only(band));
        assert_eq!(only.try_recv(), Ok(band));
        assert_eq!(woken(&waits, &mut seen), [band]);
    }
}

/// Told of a lower band, it takes the urgent item that came meanwhile; the lower item's wake goes on.
#[test]
fn a_task_that_takes_from_another_band_passes_its_wake_on() {
    let (tx, rx) = bounded(&[1, 1]);
    let lower = rx.clone().only(BandSet::only(1));
    let mut lower = receives(&lower, 1);
    let mut both = receives(&rx, 1);
    tx.try_send(1, "bulk").unwrap();
    assert_eq!((both[0].0.wakes(), lower[0].0.wakes()), (1, 0));
    tx.try_send(0, "urgent").unwrap();
    let (task, receive) = &mut both[0];
    assert_eq!(task.poll(receive), Poll::Ready(Ok("urgent")));
    let (task, receive) = &mut lower[0];
    assert_eq!((task.wakes(), task.poll(receive)), (1, Poll::Ready(Ok("bulk"))));
}

/// More than one segment of waiters: every one is told in the end, and once.
#[test]
fn hundreds_of_waiters_are_each_woken_once() {
    const WAITERS: usize = 500;
    fn all_once<F>(waits: &[(Task, F)]) -> bool {
        waits.iter().all(|(task, _)| task.wakes() == 1)
    }
    let (tx, rx): (Sender<usize>, _) = bounded(&[WAITERS]);
    let waits = receives(&rx, WAITERS);
    (0..WAITERS).for_each(|item| tx.try_send(0, item).unwrap());
    assert!(all_once(&waits));
    drop(waits);
    let mut waits: Vec<_> =
        (0..WAITERS).map(|item| (Task::new(), tx.send_async(0, item))).collect();
    waits.iter_mut().for_each(|(task, send)| assert!(task.poll(send).is_pending()));
    (0..WAITERS).for_each(|item| assert_eq!(rx.try_recv(), Ok(item)));
    assert!(all_once(&waits));
}
