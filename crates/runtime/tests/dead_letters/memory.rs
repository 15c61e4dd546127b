//! In memory: limits, and what happens at them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use overtake_runtime::{
    Added, Builder, DeadLetters, EntryId, Filter, Job, MemoryDeadLetters, Outcome, Reason,
    Redriven, RetryPolicy, WhenFull,
};

use super::common::{assert_balance, letters};
use super::letter;

/// Counts the payloads that exist.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Panics in its `Drop`, each of them.
struct Spiteful;

impl Drop for Spiteful {
    fn drop(&mut self) {
        panic!("even this");
    }
}

fn payloads(keeper: &MemoryDeadLetters<usize>) -> Vec<usize> {
    letters(keeper, &Filter::default()).iter().filter_map(|it| Some(*it.job()?.payload())).collect()
}

#[test]
fn kind_27_t9_the_limit_is_exact_and_every_loss_is_counted() {
    for limit in [0, 1, 2, 10] {
        for when_full in [WhenFull::Refuse, WhenFull::DropOldest] {
            let keeper = MemoryDeadLetters::new(limit, when_full);
            for number in 0..limit + 5 {
                let added = keeper.add(letter("dead", number));
                assert!(keeper.len() <= limit);
                match (number < limit, limit, when_full) {
                    (true, ..) => assert!(matches!(added, Added::Kept(_))),
                    (false, 0, _) | (false, _, WhenFull::Refuse) => {
                        assert!(matches!(added, Added::RefusedFull));
                    }
                    (false, _, WhenFull::DropOldest) => {
                        assert!(matches!(added, Added::KeptForOldest(_)));
                    }
                }
            }
            assert_eq!((keeper.len(), keeper.lost()), (limit, 5));
            let kept: Vec<_> = match when_full {
                WhenFull::Refuse => (0..limit).collect(),
                WhenFull::DropOldest if limit == 0 => Vec::new(),
                WhenFull::DropOldest => (5..limit + 5).collect(),
            };
            assert_eq!(payloads(&keeper), kept, "{when_full:?}: a limit of 1 keeps the newest");
        }
    }
}

#[test]
fn kind_27_a_million_dead_jobs_leave_ten() {
    let alive = Arc::new(AtomicUsize::new(0));
    let keeper = MemoryDeadLetters::new(10, WhenFull::DropOldest);
    for _ in 0..200_000 {
        let _ = keeper.add(letter("dead", Counted::new(&alive)));
        assert!(alive.load(Ordering::Relaxed) <= 10);
    }
    assert_eq!(keeper.lost(), 199_990);
    assert_eq!(keeper.remove(&Filter::default()).expect("in memory"), 10);
    assert_eq!((alive.load(Ordering::Relaxed), keeper.len()), (0, 0), "each dropped once");
}

#[test]
fn kind_27_full_dead_letters_do_not_stop_the_jobs() {
    let alive = Arc::new(AtomicUsize::new(0));
    let runtime = Builder::new()
        .capacities(&[1])
        .retry(RetryPolicy::none())
        .dead_letters(MemoryDeadLetters::new(2, WhenFull::Refuse))
        .manual()
        .expect("valid");
    for _ in 0..7 {
        runtime.try_publish(Job::new("dead", Counted::new(&alive))).expect("room again");
        runtime.take().expect("waiting").settle(Outcome::failed("no"));
    }
    let snapshot = runtime.snapshot();
    assert_eq!((snapshot.totals().dead, snapshot.dead_letters), (7, 2));
    assert_eq!((snapshot.dead_letters_lost, alive.load(Ordering::Relaxed)), (5, 2));
    assert_balance(&runtime.stop());
}

#[test]
fn kind_27_a_letter_that_is_being_redriven_keeps_its_place() {
    for when_full in [WhenFull::Refuse, WhenFull::DropOldest] {
        let keeper = MemoryDeadLetters::new(1, when_full);
        let Added::Kept(entry) = keeper.add(letter("first", 1)) else { panic!("room") };
        let redriven = keeper.redrive(entry, &mut |job| {
            assert!(matches!(keeper.add(letter("second", 2)), Added::RefusedFull));
            assert_eq!(keeper.len(), 1);
            Err(job)
        });
        assert_eq!(redriven.expect("in memory"), Redriven::NotAccepted);
        assert_eq!((payloads(&keeper), keeper.lost()), (vec![1], 1), "{when_full:?}");
    }
}

#[test]
fn a_redrive_that_panics_gives_the_place_up() {
    let keeper = MemoryDeadLetters::new(1, WhenFull::Refuse);
    let Added::Kept(entry) = keeper.add(letter("first", 1)) else { panic!("room") };
    let panicked = std::panic::catch_unwind(|| keeper.redrive(entry, &mut |_| panic!("no")));
    assert!(panicked.is_err());
    assert!(matches!(keeper.add(letter("second", 2)), Added::Kept(_)));
}

#[test]
fn removal_by_filter_and_purge() {
    let keeper = MemoryDeadLetters::default();
    for (name, reason) in [
        ("a", Reason::Panicked),
        ("b", Reason::Handler),
        ("a", Reason::Handler),
        ("c", Reason::Expired),
    ] {
        let _ = keeper.add(overtake_runtime::DeadLetter { reason, ..letter(name, 0_usize) });
    }
    let remove = |filter: Filter| keeper.remove(&filter).expect("in memory");
    let handler = Filter { reason: Some(Reason::Handler), ..Filter::default() };
    let both = Filter { name: Some("a".to_owned()), ..handler.clone() };
    assert_eq!(remove(both), 1);
    assert_eq!(letters(&keeper, &handler)[0].name(), "b");
    assert_eq!(remove(Filter { priority: Some(0), ..Filter::default() }), 0);
    assert_eq!(remove(Filter { entry: Some(EntryId(4)), ..Filter::default() }), 1);
    assert_eq!(remove(Filter::default()), 2);
    assert_eq!((keeper.len(), keeper.lost()), (0, 0), "what is removed on demand is not lost");
}

#[test]
fn kind_7_payloads_that_panic_in_their_drop_do_not_end_the_process() {
    let keeper = MemoryDeadLetters::new(3, WhenFull::DropOldest);
    for _ in 0..3 {
        let _ = keeper.add(letter("spiteful", Spiteful));
    }
    assert_eq!(keeper.remove(&Filter { priority: Some(1), ..Filter::default() }).ok(), Some(3));
    for _ in 0..3 {
        let _ = keeper.add(letter("spiteful", Spiteful));
    }
    drop(keeper);
}

#[test]
fn input_that_is_no_job_is_kept_and_not_counted() {
    let runtime = Builder::<u32>::new().priorities(1).manual().expect("valid");
    runtime.refuse("jobs.jsonl:17", "{\"name\":", "it is cut off");
    let refused = &letters(runtime.dead_letters(), &Filter::default())[0];
    assert_eq!((refused.name(), refused.reason), ("jobs.jsonl:17", Reason::Refused));
    assert!(refused.job().is_none());
    let redrive = runtime.redrive(&Filter::default()).expect("in memory");
    assert_eq!((redrive.without_job, redrive.accepted), (1, 0));
    assert_eq!(runtime.dead_letters().len(), 1);
    assert_eq!(runtime.stop().totals.accepted, 0);
}

#[test]
fn g6_a_job_may_be_published_straight_into_the_dead_letters() {
    let runtime = Builder::new().capacities(&[1]).manual().expect("valid");
    runtime.try_publish(Job::new("holds the place", 0_u32)).expect("room");
    runtime.publish_dead(Job::new("dead", 1), Reason::NoRoute, "no rule fits").expect("open");
    let dead = &letters(runtime.dead_letters(), &Filter::default())[0];
    assert_eq!((dead.reason, &*dead.error), (Reason::NoRoute, "no rule fits"));
    let no_such = runtime.publish_dead(Job::new("dead", 2).with_priority(1), Reason::NoRoute, "");
    assert!(no_such.is_err());
    let report = runtime.stop();
    assert_balance(&report);
    assert_eq!((report.totals.accepted, report.totals.dead, report.totals.runs), (2, 1, 0));
    let late = runtime.publish_dead(Job::new("late", 3), Reason::NoRoute, "");
    assert!(late.expect_err("closed").is_closed());
}
