//! G5 for tasks: a wait allocates nothing in the long run, and polling or giving up for ever does not
//! make memory grow. With controls that show that the meter would see it.

mod tasks;

use overtake_core::{Receiver, Sender, bounded};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use tasks::Task;

/// Counts per thread, so that the test harness is not counted.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Bytes allocated and not freed by this thread.
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: everything is left to the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        BYTES.set(BYTES.get() + layout.size() as isize);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: what the caller promises is passed on to `System`.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size() as isize);
        // SAFETY: `pointer` came from `System` by `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread allocates in `work`, and how many bytes it keeps.
fn cost_of(work: impl FnOnce()) -> (usize, isize) {
    let before = (ALLOCATIONS.get(), BYTES.get());
    work();
    (ALLOCATIONS.get() - before.0, BYTES.get() - before.1)
}

/// In debug builds some ten seconds for ten million; the count must not matter anyway.
const TIMES: usize = if cfg!(miri) { 100 } else { 100_000 };

fn channel() -> (Sender<usize>, Receiver<usize>) {
    let (tx, rx) = bounded(&[1, 1]);
    // The first wait of each kind makes room for as many waiters as there will be.
    tx.try_send(1, 0).unwrap();
    let task = Task::new();
    let urgent = rx.clone().only(overtake_core::BandSet::only(0));
    let mut receive = urgent.recv_async();
    let mut send = tx.send_async(1, 1);
    assert!(task.poll(&mut receive).is_pending() && task.poll(&mut send).is_pending());
    drop((receive, send));
    assert_eq!(rx.try_recv(), Ok(0));
    (tx, rx)
}

#[test]
fn the_meter_sees_what_is_allocated_and_kept() {
    let mut kept = Vec::with_capacity(100);
    let cost = cost_of(|| (0..100_u64).for_each(|number| kept.push(black_box(Box::new(number)))));
    assert_eq!(cost, (100, 800));
    assert_eq!(cost_of(|| drop(kept)).0, 0);
}

#[test]
fn kind_19_a_pending_receive_is_polled_for_ever_at_no_cost() {
    let (_tx, rx) = channel();
    let tasks = [Task::new(), Task::new()];
    let mut receive = rx.recv_async();
    let cost = cost_of(|| {
        for _ in 0..TIMES {
            assert!(tasks[0].poll(&mut receive).is_pending());
        }
    });
    assert_eq!((cost, tasks[0].clones()), ((0, 0), 1));
    let cost = cost_of(|| {
        for turn in 0..TIMES {
            assert!(tasks[turn % 2].poll(&mut receive).is_pending());
        }
    });
    assert_eq!((cost, tasks[0].alive() + tasks[1].alive()), ((0, 0), 1));
    drop(receive);
    assert_eq!(tasks[0].alive() + tasks[1].alive(), 0);
}

#[test]
fn kind_19_a_pending_send_is_polled_for_ever_at_no_cost() {
    let (tx, _rx) = channel();
    tx.try_send(1, 0).unwrap();
    let tasks = [Task::new(), Task::new()];
    let mut send = tx.send_async(1, 1);
    let cost = cost_of(|| {
        for turn in 0..TIMES {
            assert!(tasks[turn / 2 % 2].poll(&mut send).is_pending());
        }
    });
    assert_eq!((cost, tasks[0].alive() + tasks[1].alive()), ((0, 0), 1));
    drop(send);
    assert_eq!(tasks[0].alive() + tasks[1].alive(), 0);
}

#[cfg(feature = "stream")]
#[test]
fn kind_19_a_pending_stream_is_polled_for_ever_at_no_cost() {
    use futures_util::Stream;
    use std::pin::Pin;
    let (tx, rx) = channel();
    let tasks = [Task::new(), Task::new()];
    let mut stream = rx.into_stream();
    let cost = cost_of(|| {
        for turn in 0..TIMES {
            let task = &tasks[turn / 2 % 2];
            assert!(task.run(|context| Pin::new(&mut stream).poll_next(context)).is_pending());
        }
    });
    assert_eq!((cost, tasks[0].alive() + tasks[1].alive()), ((0, 0), 1));
    drop((stream, tx));
    assert_eq!(tasks[0].alive() + tasks[1].alive(), 0);
}

#[test]
fn kind_19_futures_are_made_polled_and_dropped_for_ever_at_no_cost() {
    let (tx, rx) = channel();
    let task = Task::new();
    let urgent = rx.clone().only(overtake_core::BandSet::only(0));
    tx.try_send(1, 0).unwrap();
    let cost = cost_of(|| {
        for _ in 0..TIMES {
            assert!(task.poll(&mut urgent.recv_async()).is_pending());
            assert!(task.poll(&mut tx.send_async(1, 1)).is_pending());
        }
    });
    assert_eq!((cost, task.clones(), task.alive()), ((0, 0), 2 * TIMES, 0));
}

/// One is told of every item, and the other always has it first.
#[test]
fn kind_19_a_receive_whose_item_is_always_stolen_costs_nothing() {
    let (tx, rx) = channel();
    let task = Task::new();
    let mut receive = rx.recv_async();
    assert!(task.poll(&mut receive).is_pending());
    let cost = cost_of(|| {
        for item in 0..TIMES {
            tx.try_send(item % 2, item).unwrap();
            assert_eq!(rx.try_recv(), Ok(item));
            assert!(task.poll(&mut receive).is_pending());
        }
    });
    assert_eq!((cost, task.wakes(), task.alive()), ((0, 0), TIMES, 1));
}

/// Turns of waiting, being told, and taking, on both sides and with several who wait.
#[test]
fn waits_that_end_well_cost_no_allocation() {
    let (tx, rx) = channel();
    let task = Task::new();
    let cost = cost_of(|| {
        for turn in 0..TIMES / 10 {
            let (mut one, mut two) = (rx.recv_async(), rx.recv_async());
            assert!(task.poll(&mut one).is_pending() && task.poll(&mut two).is_pending());
            tx.try_send(1, turn).unwrap();
            let (mut three, mut four) = (tx.send_async(1, turn), tx.send_async(1, turn));
            assert!(task.poll(&mut three).is_pending() && task.poll(&mut four).is_pending());
            assert!(task.poll(&mut one).is_ready() && task.poll(&mut three).is_ready());
            assert!(task.poll(&mut two).is_ready() && task.poll(&mut four).is_ready());
            assert!(rx.try_recv().is_ok() && rx.is_empty());
        }
    });
    assert_eq!((cost, task.alive()), ((0, 0), 0));
}

/// Only as many cells are made as have ever waited at once.
#[test]
fn memory_is_kept_for_the_most_that_ever_waited_at_once() {
    const WAITERS: usize = 1_000;
    let (_tx, rx) = channel();
    let task = Task::new();
    let mut waits = Vec::with_capacity(WAITERS);
    let mut crowd = || {
        cost_of(|| {
            waits.extend((0..WAITERS).map(|_| rx.recv_async()));
            assert!(waits.iter_mut().all(|wait| task.poll(wait).is_pending()));
            waits.clear();
        })
    };
    let (allocations, bytes) = crowd();
    assert!((1..=6).contains(&allocations), "{allocations} allocations for {WAITERS} waiters");
    assert!(bytes < 300 * WAITERS as isize, "{bytes} bytes for {WAITERS} waiters");
    assert_eq!(crowd(), (0, 0));
}
