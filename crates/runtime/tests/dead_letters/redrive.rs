//! Putting dead letters back, whatever keeps them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use overtake_runtime::{
    DeadLetters, FileDeadLetters, Filter, Job, MemoryDeadLetters, Outcome, Redrive, Redriven,
    SyncPolicy,
};

use super::common::{assert_balance, letters, run_all, secs};
use super::{fail_until_dead, keep, letter, small_runtime};

/// Runs a check with letters in memory, and with letters in a file.
fn for_both_keepers(check: impl Fn(Box<dyn Fn() -> Keeper>)) {
    check(Box::new(|| Keeper::Memory(MemoryDeadLetters::default())));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dead.jsonl");
    check(Box::new(move || {
        Keeper::File(FileDeadLetters::open(&path, SyncPolicy::Never).expect("opens"))
    }));
}

#[derive(Debug)]
enum Keeper {
    Memory(MemoryDeadLetters<u32>),
    File(FileDeadLetters<u32>),
}

impl Keeper {
    fn into_runtime(self) -> overtake_runtime::ManualRuntime<u32> {
        match self {
            Self::Memory(letters) => small_runtime(letters),
            Self::File(letters) => small_runtime(letters),
        }
    }

    fn as_dyn(&self) -> &dyn DeadLetters<u32> {
        match self {
            Self::Memory(letters) => letters,
            Self::File(letters) => letters,
        }
    }
}

#[test]
fn kind_28_attempts_start_anew_and_the_generation_counts() {
    for_both_keepers(|open| {
        let runtime = open().into_runtime();
        let job = Job::new("fails", 7).with_priority(1).with_max_retries(2);
        runtime.try_publish(job).expect("room");
        assert_eq!(fail_until_dead(&runtime), 3);

        let all = Filter::default();
        assert_eq!(runtime.redrive(&all).expect("readable").accepted, 1);
        assert!(runtime.dead_letters().is_empty());
        assert_eq!(fail_until_dead(&runtime), 3, "the second stay allows as many runs");
        let dead = &letters(runtime.dead_letters(), &all)[0];
        let job = dead.job().expect("a job");
        assert_eq!((job.generation(), job.priority(), job.attempts_made()), (1, 1, 3));
        let attempts: Vec<_> = job.history().iter().map(|failed| failed.attempt).collect();
        assert_eq!(attempts, [1, 2, 3, 1, 2, 3], "the first failures are still known");

        assert_eq!(runtime.redrive(&all).expect("readable").accepted, 1);
        let delivery = runtime.take().expect("waiting");
        assert_eq!((delivery.job().generation(), delivery.job().attempt()), (2, 1));
        delivery.settle(Outcome::Done);
        let report = runtime.stop();
        assert_balance(&report);
        assert_eq!((report.totals.accepted, report.totals.done), (3, 1));
        assert_eq!((report.totals.dead, report.totals.runs), (2, 7));
    });
}

#[test]
fn kind_28_a_full_priority_and_a_closed_runtime_keep_the_letter_as_it_was() {
    for_both_keepers(|open| {
        let runtime = open().into_runtime();
        runtime.try_publish(Job::new("dead", 1).with_max_retries(0)).expect("room");
        assert_eq!(fail_until_dead(&runtime), 1);
        let before = letters(runtime.dead_letters(), &Filter::default());
        let not_accepted = Redrive { not_accepted: 1, ..Redrive::default() };

        runtime.try_publish(Job::new("holds the place", 2)).expect("room");
        assert_eq!(runtime.redrive(&Filter::default()).expect("readable"), not_accepted);
        assert_eq!(letters(runtime.dead_letters(), &Filter::default()), before);
        let _ = runtime.stop();
        assert_eq!(runtime.redrive(&Filter::default()).expect("readable"), not_accepted);
        assert_eq!(letters(runtime.dead_letters(), &Filter::default()), before);
    });
}

#[test]
fn kind_28_of_two_redrives_of_one_letter_one_wins() {
    for_both_keepers(|open| {
        let keeper = open();
        for round in 0..200 {
            let entry = match &keeper {
                Keeper::Memory(letters) => keep(letters, letter("contended", round)),
                Keeper::File(letters) => keep(letters, letter("contended", round)),
            };
            let start = Barrier::new(2);
            let accepted = AtomicUsize::new(0);
            let redrive = || {
                start.wait();
                let accept = &mut |_| {
                    accepted.fetch_add(1, Ordering::Relaxed);
                    thread::yield_now();
                    Ok(())
                };
                keeper.as_dyn().redrive(entry, accept).expect("readable")
            };
            let (one, two) = thread::scope(|scope| {
                let other = scope.spawn(redrive);
                (redrive(), other.join().expect("no panic"))
            });
            assert_eq!(accepted.load(Ordering::Relaxed), 1);
            assert!(matches!(
                (one, two),
                (Redriven::Accepted, Redriven::Gone) | (Redriven::Gone, Redriven::Accepted)
            ));
        }
        assert!(keeper.as_dyn().is_empty());
    });
}

#[test]
fn kind_28_a_letter_that_is_being_redriven_is_not_removed() {
    for_both_keepers(|open| {
        let keeper = open();
        let entry = match &keeper {
            Keeper::Memory(letters) => keep(letters, letter("claimed", 1)),
            Keeper::File(letters) => keep(letters, letter("claimed", 1)),
        };
        let redriven = keeper.as_dyn().redrive(entry, &mut |job| {
            assert_eq!(keeper.as_dyn().remove(&Filter::default()).expect("writable"), 0);
            Err(job)
        });
        assert_eq!(redriven.expect("readable"), Redriven::NotAccepted);
        assert_eq!(keeper.as_dyn().remove(&Filter::default()).expect("writable"), 1);
        let gone = keeper.as_dyn().redrive(entry, &mut |_| panic!("there is none"));
        assert_eq!(gone.expect("readable"), Redriven::Gone);
    });
}

#[test]
fn a_redrive_that_panics_does_not_keep_the_letter_in_a_file_for_good() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dead.jsonl");
    let keeper = FileDeadLetters::<u32>::open(&path, SyncPolicy::Never).expect("opens");
    let entry = keep(&keeper, letter("unlucky", 1));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        keeper.redrive(entry, &mut |_| panic!("no"))
    }));
    assert!(panicked.is_err());
    assert_eq!(keeper.redrive(entry, &mut |_| Ok(())).expect("readable"), Redriven::Accepted);
}

#[test]
fn only_the_letters_that_match_are_redriven_oldest_first() {
    let keeper = MemoryDeadLetters::default();
    for (name, number) in [("a", 1), ("b", 2), ("a", 3)] {
        keep(&keeper, letter(name, number));
    }
    let runtime = overtake_runtime::Builder::new()
        .priorities(2)
        .dead_letters(keeper)
        .manual()
        .expect("valid");
    let filter = Filter { name: Some("a".to_owned()), ..Filter::default() };
    assert_eq!(runtime.redrive(&filter).expect("in memory").accepted, 2);
    assert_eq!((run_all(&runtime), runtime.dead_letters().len()), (vec![1, 3], 1));
}

#[test]
fn an_expiry_counts_from_the_redrive() {
    let runtime = small_runtime(MemoryDeadLetters::default());
    runtime.try_publish(Job::new("short", 1_u32).with_expiry(secs(5))).expect("room");
    runtime.advance_to(secs(6));
    assert!(runtime.take().is_none(), "expired");
    assert_eq!(runtime.redrive(&Filter::default()).expect("in memory").accepted, 1);
    runtime.take().expect("not expired again").settle(Outcome::Done);
}

#[test]
fn redrives_from_many_threads_lose_nothing() {
    for_both_keepers(|open| {
        let keeper = Arc::new(open());
        for number in 0..100 {
            match &*keeper {
                Keeper::Memory(letters) => keep(letters, letter("one of many", number)),
                Keeper::File(letters) => keep(letters, letter("one of many", number)),
            };
        }
        let entries: Vec<_> =
            letters(keeper.as_dyn(), &Filter::default()).iter().map(|it| it.entry).collect();
        let accepted = AtomicUsize::new(0);
        thread::scope(|scope| {
            for worker in 0..4_u32 {
                let (entries, keeper, accepted) = (&entries, &keeper, &accepted);
                scope.spawn(move || {
                    for &entry in entries {
                        let accept = &mut |job: Job<u32>| {
                            // Each thread refuses a different quarter.
                            if job.payload() % 4 == worker { Err(job) } else { Ok(()) }
                        };
                        let redriven = keeper.as_dyn().redrive(entry, accept).expect("readable");
                        accepted.fetch_add(
                            usize::from(redriven == Redriven::Accepted),
                            Ordering::Relaxed,
                        );
                    }
                });
            }
        });
        let accepted = accepted.load(Ordering::Relaxed);
        assert_eq!(accepted + keeper.as_dyn().len(), 100);
    });
}
