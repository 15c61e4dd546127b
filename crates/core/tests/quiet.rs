//! G5: who waits uses no CPU, and an item costs no allocation. Each with a control that shows
//! that the meter would see it.

mod common;

use common::{join, within};
use overtake_core::{Receiver, Sender, bounded};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Counts per thread, so that the test harness is not counted.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is left to the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: what the caller promises is passed on to `System`.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `System` by `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time: CPU time is the whole process's.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often this thread allocates in `work`.
fn allocations_during(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// Idle threads. Only Linux says in a file what processor time a process has used.
#[cfg(target_os = "linux")]
mod idle {
    use super::alone;
    use super::common::{join, parked, within};
    use overtake_core::{BandSet, Receiver, RecvError, Sender, bounded};
    use std::fs;
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    /// The CPU time of all threads of this process, in clock ticks of 10 ms.
    fn cpu_ticks() -> u64 {
        let stat = fs::read_to_string("/proc/self/stat").expect("procfs");
        let (_, after_name) = stat.rsplit_once(") ").expect("a name in parentheses");
        // Fields 14 and 15, user and system time; the state after the name is field 3.
        after_name
            .split(' ')
            .skip(11)
            .take(2)
            .map(|field| field.parse::<u64>().expect("ticks"))
            .sum()
    }

    /// How many ticks those who wait may use in a second: the threads' own start is in it.
    const QUIET: u64 = 10;

    /// Eight receivers and eight senders, all parked.
    fn sixteen_parked() -> (Sender<u8>, Receiver<u8>, Vec<JoinHandle<bool>>) {
        let (tx, rx) = bounded(&[1, 1]);
        tx.try_send(1, 0).unwrap();
        let mut threads = Vec::new();
        for number in 0..8 {
            let receiver = rx.clone().only(BandSet::only(0));
            threads.push(parked(move || {
                let received = if number % 2 == 0 {
                    receiver.recv()
                } else {
                    receiver.recv_timeout(Duration::MAX).map_err(|_| RecvError::Closed)
                };
                received == Err(RecvError::Closed)
            }));
            let sender = tx.clone();
            threads.push(parked(move || sender.send(1, number).is_err()));
        }
        (tx, rx, threads)
    }

    #[test]
    fn kind_13_who_waits_uses_no_cpu() {
        let _alone = alone();
        within(30, || {
            let (tx, _rx, threads) = sixteen_parked();
            let before = cpu_ticks();
            thread::sleep(Duration::from_secs(1));
            let idle = cpu_ticks() - before;
            tx.close();
            assert!(threads.into_iter().all(join), "all end by closing");
            assert!(idle <= QUIET, "{idle} ticks of CPU while all were parked");

            // The control: whoever polls is seen by the meter, or this never ends.
            let (_tx, rx) = bounded::<u8>(&[1, 1]);
            let before = cpu_ticks();
            while cpu_ticks() - before <= QUIET {
                assert!((0..1_000).all(|_| rx.try_recv().is_err()));
            }
        });
    }
}

fn there_and_back(tx: &Sender<[usize; 4]>, rx: &Receiver<[usize; 4]>, items: usize) {
    for number in 0..items {
        tx.try_send(number % 2, [number; 4]).unwrap();
        tx.send(1 - number % 2, [number; 4]).unwrap();
        assert!(rx.try_recv().is_ok() && rx.recv().is_ok());
        assert!(rx.try_recv().is_err());
    }
}

#[test]
fn an_item_costs_no_allocation() {
    let _alone = alone();
    let (tx, rx) = bounded(&[4, 4]);
    assert_eq!(allocations_during(|| there_and_back(&tx, &rx, 10_000)), 0);
    let control = allocations_during(|| (0..100).for_each(|n| drop(black_box(Box::new(n)))));
    assert!(control >= 100, "the meter saw {control} of 100 allocations");
}

/// Waits allocate only until as many have waited as ever will at once.
#[test]
fn a_wait_costs_no_allocation_in_the_long_run() {
    let _alone = alone();
    within(30, || {
        let (there, from_here) = bounded(&[1]);
        let (back, from_there) = bounded(&[1]);
        let echo = thread::spawn(move || {
            allocations_during(|| {
                from_here.iter().for_each(|item: usize| back.send(0, item).unwrap());
            })
        });
        let here = allocations_during(|| {
            for turn in 0..5_000 {
                there.send(0, turn).unwrap();
                assert_eq!(from_there.recv(), Ok(turn));
            }
        });
        drop(there);
        let allocations = here + join(echo);
        assert!(allocations < 20, "{allocations} allocations in 5,000 turns");
    });
}
