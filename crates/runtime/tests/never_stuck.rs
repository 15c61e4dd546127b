//! G7: a retry can always re-enter, and no thread of a runtime waits for room in it.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use common::{LONG, Recorder, assert_balance, millis, until, within};
use overtake_runtime::{
    Context, EventKind, Job, MemoryDeadLetters, Outcome, Publisher, Report, RetryPolicy, Runtime,
    WhenFull,
};

const PUBLISHERS: u64 = 3;

/// Publishers keep a small priority full while each job fails so many times before it succeeds.
fn flood(
    capacity: usize,
    jobs: u64,
    failures: u32,
    max_retries: u32,
    delay: Duration,
) -> Report<u64> {
    within(LONG, move || {
        let runtime = Runtime::builder()
            .capacities(&[capacity])
            .workers(4)
            .retry(RetryPolicy::fixed(delay).with_max_retries(max_retries))
            .dead_letters(MemoryDeadLetters::new(4, WhenFull::DropOldest))
            .start(
                move |job: &Job<u64>, _: &Context<'_, u64>| {
                    if job.attempt() <= failures { Err("not yet") } else { Ok(()) }
                },
            )
            .expect("started");
        thread::scope(|scope| {
            for publisher in 0..PUBLISHERS {
                let runtime = &runtime;
                scope.spawn(move || {
                    for number in 0..jobs / PUBLISHERS {
                        runtime.publish(Job::new("job", publisher * jobs + number)).expect("open");
                    }
                });
            }
        });
        let report = runtime.drain(LONG);
        assert_balance(&report);
        assert_eq!(report.totals.accepted, jobs / PUBLISHERS * PUBLISHERS);
        assert_eq!(report.totals.returned, 0, "all came to their end");
        report
    })
}

#[test]
fn kind_21_g7_every_job_fails_once() {
    for (capacity, jobs, delay) in [(8, 6_000, 0), (1, 3_000, 0), (8, 900, 1), (1, 150, 1)] {
        let totals = flood(capacity, jobs, 1, 1, millis(delay)).totals;
        assert_eq!((totals.done, totals.runs, totals.retried), (jobs, 2 * jobs, jobs));
    }
}

#[test]
fn kind_21_g7_every_job_fails_twice() {
    for (capacity, jobs, delay) in [(8, 6_000, 0), (1, 3_000, 0), (8, 900, 1), (1, 150, 1)] {
        let totals = flood(capacity, jobs, 2, 2, millis(delay)).totals;
        assert_eq!((totals.done, totals.runs), (jobs, 3 * jobs));
    }
}

#[test]
fn kind_21_g7_every_job_fails_forever_into_a_few_dead_letters() {
    for (capacity, jobs, delay) in [(8, 6_000, 0), (1, 3_000, 0), (8, 900, 1), (1, 150, 1)] {
        let totals = flood(capacity, jobs, u32::MAX, 1, millis(delay)).totals;
        assert_eq!((totals.dead, totals.runs), (jobs, 2 * jobs));
    }
}

#[test]
fn g7_t2_all_priorities_full_and_all_handlers_failing() {
    let totals = within(LONG, || {
        let runtime = Runtime::builder()
            .capacities(&[1, 2, 4])
            .workers(4)
            .retry(RetryPolicy::fixed(Duration::ZERO))
            .start(|_: &Job<()>, _: &Context<'_, ()>| Err::<(), _>("no"))
            .expect("started");
        thread::scope(|scope| {
            for priority in 0..3 {
                let runtime = &runtime;
                scope.spawn(move || {
                    for _ in 0..1_000 {
                        runtime.publish(Job::new("job", ()).with_priority(priority)).expect("open");
                    }
                });
            }
        });
        runtime.drain(LONG).totals
    });
    assert_eq!((totals.dead, totals.runs), (3_000, 12_000));
}

#[test]
fn g7_t2_publishing_inside_a_handler_never_waits() {
    within(LONG, || {
        let runtime = Runtime::builder()
            .capacities(&[1])
            .workers(1)
            .start(|job: &Job<u32>, context: &Context<'_, u32>| {
                let publisher = context.publisher();
                let refused = publisher.publish(Job::new("child", 0)).expect_err("its own place");
                assert!(refused.is_full());
                let refused = publisher.publish_timeout(refused.into_job(), LONG);
                assert!(refused.expect_err("no room").is_full());
                if *job.payload() == 7 { Outcome::Discard } else { Outcome::Done }
            })
            .expect("started");
        for number in 0..100 {
            runtime.publish(Job::new("parent", number)).expect("open");
        }
        until("all have ended", || runtime.snapshot().totals().balance());
        let totals = runtime.drain(LONG).totals;
        assert_eq!((totals.done, totals.discarded, totals.failed), (99, 1, 0));
    });
}

#[test]
fn g7_publishing_inside_an_observer_never_waits() {
    within(LONG, || {
        let publisher = Arc::new(OnceLock::<Publisher<()>>::new());
        let observers = Arc::clone(&publisher);
        let refusals = Arc::new(AtomicUsize::new(0));
        let refused = Arc::clone(&refusals);
        let runtime = Runtime::builder()
            .capacities(&[1])
            .workers(1)
            .observer(move |event| {
                if event.kind == EventKind::Succeeded && event.name == "parent" {
                    let publisher = observers.get().expect("set before the first job");
                    let error = publisher.publish(Job::new("child", ())).expect_err("no room");
                    refused.fetch_add(usize::from(error.is_full()), Ordering::Relaxed);
                }
            })
            .start(|_: &Job<()>, _: &Context<'_, ()>| {})
            .expect("started");
        publisher.set(runtime.publisher()).expect("once");
        for _ in 0..100 {
            runtime.publish(Job::new("parent", ())).expect("open");
        }
        until("all have ended", || runtime.snapshot().totals().balance());
        assert_eq!(runtime.drain(LONG).totals.done, 100);
        assert_eq!(refusals.load(Ordering::Relaxed), 100, "the place is held until after this");
    });
}

#[test]
fn g7_t1_a_retry_without_delay_is_not_starved_by_new_jobs() {
    within(LONG, || {
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .capacities(&[64])
            .workers(1)
            .retry(RetryPolicy::fixed(Duration::ZERO))
            .observer(seen.observe())
            .hold(
                |job: &Job<bool>, _: &Context<'_, bool>| {
                    if *job.payload() && job.attempt() == 1 { Err("first") } else { Ok(()) }
                },
            )
            .expect("valid");
        for number in 0..64 {
            runtime.publish(Job::new("job", number == 0)).expect("open");
        }
        runtime.start_workers().expect("threads");
        let report = runtime.drain(LONG);
        assert_eq!((report.totals.done, report.totals.runs), (64, 65));
        let started = seen.of(EventKind::Started);
        assert_eq!((started[1].id, started[1].attempt), (started[0].id, 2), "it is next");
    });
}
