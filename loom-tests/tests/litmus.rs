//! Facts about the checker that the models and the code's fences rely on.
//!
//! Where a new version of loom makes one of these fail, it has changed what it sees: read
//! "What loom sees" in the README again before trusting a model.
#![cfg(overtake_loom)]

use loom::sync::atomic::{AtomicUsize, Ordering, fence};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use overtake_loom_tests::{Seen, check};
use std::panic::catch_unwind;
use std::time::Duration;

/// Each of two threads stores to its own location and then loads the other's; says what they saw.
fn store_buffering(order: [Ordering; 2], fenced: bool) -> (usize, usize) {
    let both = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let one_side = move |both: &[AtomicUsize; 2], mine: usize| {
        both[mine].store(1, order[0]);
        if fenced {
            fence(Ordering::SeqCst);
        }
        both[1 - mine].load(order[1])
    };
    let theirs = Arc::clone(&both);
    let other = thread::spawn(move || one_side(&theirs, 1));
    let here = one_side(&both, 0);
    (here, other.join().unwrap())
}

/// E2: with a SeqCst fence between store and load, one of the two sees the other's store.
#[test]
fn fences_exclude_store_buffering() {
    static SEEN: Seen<(usize, usize)> = Seen::new();
    check("fences_exclude_store_buffering", 3, || {
        SEEN.add(store_buffering([Ordering::Relaxed; 2], true));
    });
    assert_eq!(SEEN.all(), [(0, 1), (1, 0), (1, 1)]);
}

/// Without the fences the checker finds the outcome that would lose a wake.
#[test]
fn without_fences_store_buffering_is_found() {
    static SEEN: Seen<(usize, usize)> = Seen::new();
    check("without_fences_store_buffering_is_found", 3, || {
        SEEN.add(store_buffering([Ordering::Relaxed; 2], false));
    });
    assert_eq!(SEEN.all(), [(0, 0), (0, 1), (1, 0), (1, 1)]);
}

/// The checker takes a SeqCst access for acquire and release only: it finds what the language
/// forbids. So whatever needs the single total order needs a fence to pass a model.
#[test]
fn seqcst_accesses_count_as_acquire_release() {
    static SEEN: Seen<(usize, usize)> = Seen::new();
    check("seqcst_accesses_count_as_acquire_release", 3, || {
        SEEN.add(store_buffering([Ordering::SeqCst; 2], false));
    });
    assert!(SEEN.all().contains(&(0, 0)));
}

/// A load that the writer makes before its write hides another thread's load from the search:
/// only one order of the two threads is explored.
#[test]
fn a_load_before_the_write_blinds_the_search() {
    static SEEN: Seen<usize> = Seen::new();
    check("a_load_before_the_write_blinds_the_search", 3, || {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&word);
        let writer = thread::spawn(move || {
            theirs.load(Ordering::SeqCst);
            theirs.store(1, Ordering::SeqCst);
        });
        SEEN.add(word.load(Ordering::SeqCst));
        writer.join().unwrap();
    });
    assert_eq!(SEEN.all(), [0]);
}

/// A compare-exchange in the place of that load does not blind it, even where it fails.
#[test]
fn a_failed_exchange_before_the_write_does_not_blind_it() {
    static SEEN: Seen<usize> = Seen::new();
    check("a_failed_exchange_before_the_write_does_not_blind_it", 3, || {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&word);
        let writer = thread::spawn(move || {
            let guess = theirs.compare_exchange(7, 8, Ordering::SeqCst, Ordering::SeqCst);
            assert_eq!(guess, Err(0));
            theirs.store(1, Ordering::SeqCst);
        });
        SEEN.add(word.load(Ordering::SeqCst));
        writer.join().unwrap();
    });
    assert_eq!(SEEN.all(), [0, 1]);
}

/// Where the reader writes a shadow before it reads, and the writer reads that shadow before it
/// writes, the search sees both orders: this is what the words of the core do.
#[test]
fn a_shadow_ends_the_blindness() {
    static SEEN: Seen<usize> = Seen::new();
    check("a_shadow_ends_the_blindness", 3, || {
        let words = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = Arc::clone(&words);
        let writer = thread::spawn(move || {
            theirs.0.load(Ordering::SeqCst);
            theirs.1.load(Ordering::Relaxed);
            theirs.0.store(1, Ordering::SeqCst);
        });
        words.1.store(0, Ordering::Relaxed);
        SEEN.add(words.0.load(Ordering::SeqCst));
        writer.join().unwrap();
    });
    assert_eq!(SEEN.all(), [0, 1]);
}

/// A timed wait never times out here: models use deadlines that have passed before the wait.
#[test]
fn a_timed_wait_never_times_out() {
    let outcome = catch_unwind(|| {
        check("a_timed_wait_that_nobody_ends", 1, || {
            let (mutex, condvar) = (Mutex::new(()), Condvar::new());
            let guard = mutex.lock().unwrap();
            drop(condvar.wait_timeout(guard, Duration::from_millis(1)).unwrap());
        });
    });
    let said = outcome.expect_err("the wait ended by itself");
    assert!(said.downcast_ref::<String>().is_some_and(|said| said.contains("deadlock")));
}
