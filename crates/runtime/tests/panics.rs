//! kind_24: whatever panics, the worker lives on and the job is accounted for.

mod common;

use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{LONG, Recorder, assert_balance, letters, until, within};
use overtake_runtime::{
    Builder, Context, EventKind, Filter, Job, MemoryDeadLetters, Outcome, Reason, RetryPolicy,
    Runtime, WhenFull,
};

/// Panics in its `Drop`, each of them.
struct Spiteful;

impl Drop for Spiteful {
    fn drop(&mut self) {
        panic!("even this");
    }
}

fn panic_in_turn(number: usize) {
    match number % 5 {
        0 => panic!("plain text"),
        1 => panic!("number {number}"),
        2 => panic_any(number),
        3 => panic_any(Spiteful),
        _ => {}
    }
}

#[test]
fn kind_24_every_kind_of_panic_is_a_failed_attempt() {
    within(LONG, || {
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .priorities(1)
            .capacity(200)
            .workers(4)
            .retry(RetryPolicy::fixed(Duration::ZERO).with_max_retries(2))
            .observer(seen.observe())
            .start(|job: &Job<usize>, _: &Context<'_, usize>| panic_in_turn(*job.payload()))
            .expect("started");
        for number in 0..200 {
            runtime.publish(Job::new("job", number)).expect("open");
        }
        until("all have ended", || runtime.snapshot().totals().balance());
        assert_eq!(runtime.snapshot().running, 0, "every slot is free");

        let dead = letters(runtime.dead_letters(), &Filter::default());
        assert_eq!(dead.len(), 160);
        for letter in &dead {
            let job = letter.job().expect("a job");
            assert_eq!(letter.reason, Reason::Panicked);
            assert_eq!((job.attempts_made(), job.history().len()), (3, 3));
            let message = match job.payload() % 5 {
                0 => "plain text".to_owned(),
                1 => format!("number {}", job.payload()),
                _ => "a payload that is no text".to_owned(),
            };
            let error = &letter.error;
            assert!(error.starts_with("panicked at crates/runtime/tests/panics.rs:"), "{error}");
            assert!(error.ends_with(&format!(": {message}")), "{error}");
        }

        // All four workers are still there: they meet.
        let report = runtime.drain(LONG);
        assert_balance(&report);
        assert_eq!((report.totals.done, report.totals.runs), (40, 40 + 3 * 160));
    });
}

#[test]
fn kind_24_all_workers_live_on() {
    within(LONG, || {
        let meeting = Arc::new(std::sync::Barrier::new(4));
        let met = Arc::clone(&meeting);
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(4)
            .retry(RetryPolicy::none())
            .start(move |job: &Job<bool>, _: &Context<'_, bool>| {
                assert!(!job.payload(), "a bad one");
                met.wait();
            })
            .expect("started");
        for _ in 0..40 {
            runtime.publish(Job::new("bad", true)).expect("open");
        }
        until("all are dead", || runtime.snapshot().totals().dead == 40);
        for _ in 0..4 {
            runtime.publish(Job::new("meets the others", false)).expect("open");
        }
        let report = runtime.drain(LONG);
        assert_balance(&report);
        assert_eq!(report.totals.done, 4, "one on each worker");
    });
}

/// A payload whose `Drop` panics, and is counted.
struct Grenade {
    dropped: Arc<AtomicUsize>,
    outcome: Outcome,
}

impl Drop for Grenade {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        panic!("in the Drop of a payload");
    }
}

fn outcomes() -> [Outcome; 5] {
    [
        Outcome::Done,
        Outcome::Discard,
        Outcome::DeadLetter { reason: "no".to_owned() },
        Outcome::failed("no"),
        Outcome::Snooze { after: Duration::from_secs(3600) },
    ]
}

#[test]
fn g6_t5_payloads_that_panic_in_their_drop() {
    for when_full in [WhenFull::Refuse, WhenFull::DropOldest] {
        within(LONG, move || {
            let dropped = Arc::new(AtomicUsize::new(0));
            let runtime = Runtime::builder()
                .priorities(1)
                .workers(2)
                .retry(RetryPolicy::fixed(Duration::ZERO))
                .dead_letters(MemoryDeadLetters::new(3, when_full))
                .start(|job: &Job<Grenade>, _: &Context<'_, Grenade>| job.payload().outcome.clone())
                .expect("started");
            for number in 0..50 {
                let outcome = outcomes()[number % 5].clone();
                let grenade = Grenade { dropped: Arc::clone(&dropped), outcome };
                runtime.publish(Job::new("grenade", grenade)).unwrap_or_else(|_| panic!("open"));
            }
            until("all are where they belong", || runtime.snapshot().totals().ended() == 40);
            let totals = runtime.snapshot().totals();
            assert_eq!((totals.done, totals.discarded, totals.dead), (10, 10, 20));
            // Ten snoozing, three dead letters; all of them together end no process.
            until("the others are dropped", || dropped.load(Ordering::Relaxed) == 37);
            drop(runtime);
            assert_eq!(dropped.load(Ordering::Relaxed), 50, "each once");
        });
    }
}

#[test]
fn kind_7_d_a_runtime_dropped_with_such_payloads_everywhere() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let runtime = Builder::new().priorities(1).manual().expect("valid");
    let publish = |outcome| {
        let grenade = Grenade { dropped: Arc::clone(&dropped), outcome };
        runtime.try_publish(Job::new("grenade", grenade)).unwrap_or_else(|_| panic!("room"));
    };
    for _ in 0..3 {
        publish(Outcome::Snooze { after: Duration::from_secs(1) });
        let delivery = runtime.take().expect("waiting");
        delivery.settle(Outcome::Snooze { after: Duration::from_secs(1) });
    }
    for _ in 0..3 {
        publish(Outcome::Done);
    }
    drop(runtime);
    assert_eq!(dropped.load(Ordering::Relaxed), 6, "waiting and snoozing, each once");
}

#[test]
fn g6_an_observer_that_panics_changes_nothing() {
    within(LONG, || {
        let seen = Recorder::default();
        let record = seen.observe();
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(2)
            .retry(RetryPolicy::fixed(Duration::ZERO).with_max_retries(1))
            .observer(move |event| {
                record(event);
                panic!("of every event");
            })
            .start(
                |job: &Job<u32>, _: &Context<'_, u32>| {
                    if job.payload().is_multiple_of(2) { Ok(()) } else { Err("odd") }
                },
            )
            .expect("started");
        for number in 0..100 {
            runtime.publish(Job::new("job", number)).expect("open");
        }
        let report = runtime.drain(LONG);
        assert_balance(&report);
        assert_eq!((report.totals.done, report.totals.dead, report.totals.failed), (50, 50, 100));
        assert_eq!(seen.count(EventKind::Submitted), 100);
    });
}

#[test]
fn a_panic_says_which_error_conversion_it_came_from() {
    /// An error that panics when it is asked what it is.
    #[derive(Debug)]
    struct Shy;
    impl std::fmt::Display for Shy {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("ask somebody else")
        }
    }
    impl std::error::Error for Shy {}

    within(LONG, || {
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(1)
            .retry(RetryPolicy::none())
            .start(|_: &Job<()>, _: &Context<'_, ()>| Err::<(), _>(Shy))
            .expect("started");
        runtime.publish(Job::new("shy", ())).expect("open");
        let report = runtime.drain(LONG);
        assert_balance(&report);
        let dead = letters(runtime.dead_letters(), &Filter::default());
        assert!(dead[0].error.ends_with("ask somebody else"), "{}", dead[0].error);
    });
}

#[test]
fn dropping_everything_while_a_test_panics_does_not_end_the_process() {
    let panicked = std::panic::catch_unwind(|| {
        let keeper = MemoryDeadLetters::<()>::default();
        let runtime = Builder::new().priorities(1).dead_letters(keeper).manual().expect("valid");
        runtime.try_publish(Job::new("job", ())).expect("room");
        let _delivery = runtime.take();
        let _held = Runtime::builder()
            .priorities(1)
            .hold(|_: &Job<()>, _: &Context<'_, ()>| {})
            .expect("valid");
        assert!(runtime.dead_letters().len() > 1, "the panic meant here");
    });
    assert!(panicked.is_err());
}
