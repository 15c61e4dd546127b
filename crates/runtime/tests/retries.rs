//! Retries: how many, when, in which order, and what they hold meanwhile.

mod common;

use common::{LONG, Recorder, assert_balance, letters, millis, names, secs, until, within};
use overtake_runtime::{
    Builder, Clock, Context, EventKind, Filter, Job, ManualRuntime, Outcome, Reason, RetryPolicy,
    Runtime,
};
use std::time::Duration;

/// Takes and settles until nothing is left, moving the clock on; the start times of all runs.
fn run_all<P>(
    runtime: &ManualRuntime<P>,
    mut outcome: impl FnMut(&Job<P>) -> Outcome,
) -> Vec<Duration> {
    let mut starts = Vec::new();
    loop {
        while let Some(delivery) = runtime.take() {
            starts.push(runtime.now());
            let outcome = outcome(delivery.job());
            delivery.settle(outcome);
        }
        match runtime.next_due() {
            Some(due) => runtime.advance_to(due),
            None => return starts,
        }
    }
}

#[test]
fn kind_23_runs_are_the_limit_plus_one() {
    for limit in [0, 1, 3] {
        let runtime = Builder::new().priorities(1).manual().expect("valid");
        runtime.try_publish(Job::new("fails", ()).with_max_retries(limit)).expect("room");
        let starts = run_all(&runtime, |_| Outcome::failed("no"));
        let expected: Vec<_> = (0..=u64::from(limit)).map(secs).collect();
        assert_eq!(starts, expected, "one second apart, the first at once");

        let letter = &letters(runtime.dead_letters(), &Filter::default())[0];
        let job = letter.job().expect("a job");
        assert_eq!(letter.reason, Reason::RetriesUsedUp);
        assert_eq!(job.attempts_made(), limit + 1);
        let attempts: Vec<_> = job.history().iter().map(|failed| failed.attempt).collect();
        assert_eq!(attempts, (1..=limit + 1).collect::<Vec<_>>());
        assert_balance(&runtime.stop());
    }
}

#[test]
fn kind_23_success_on_the_last_allowed_run_is_no_dead_letter() {
    let policy = RetryPolicy::exponential(secs(1), secs(100)).with_max_retries(3);
    let runtime = Builder::new().priorities(1).retry(policy).manual().expect("valid");
    runtime.try_publish(Job::new("fourth time lucky", ())).expect("room");
    let outcome = |job: &Job<()>| {
        if job.attempt() == 4 { Outcome::Done } else { Outcome::failed("not yet") }
    };
    let starts = run_all(&runtime, outcome);
    assert_eq!(starts, [0, 1, 3, 7].map(secs), "the delay doubles");
    assert!(runtime.dead_letters().is_empty());
    let totals = runtime.stop().totals;
    assert_eq!((totals.done, totals.runs, totals.retried, totals.failed), (1, 4, 3, 3));
}

#[test]
fn kind_23_the_largest_limit_never_dies() {
    let policy = RetryPolicy::fixed(Duration::ZERO);
    let runtime = Builder::new().priorities(1).retry(policy).manual().expect("valid");
    runtime.try_publish(Job::new("stubborn", ()).with_max_retries(u32::MAX)).expect("room");
    for attempt in 1..=1_000 {
        let delivery = runtime.take().expect("waiting");
        assert_eq!(delivery.job().attempt(), attempt);
        delivery.settle(Outcome::failed("no"));
    }
    assert_eq!(names(&runtime.stop().returned), ["stubborn"]);
}

#[test]
fn threads_retry_on_a_clock_moved_by_hand() {
    within(LONG, || {
        let (clock, hand) = Clock::manual();
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(2)
            .clock(clock)
            .retry(RetryPolicy::exponential(secs(60), secs(3600)))
            .observer(seen.observe())
            .start(|_: &Job<()>, _: &Context<'_, ()>| Err::<(), _>("no"))
            .expect("started");
        runtime.publish(Job::new("fails", ())).expect("open");
        for (failed, delay) in [(1, 60), (2, 120), (3, 240)] {
            seen.wait_for(EventKind::Retrying, failed);
            until("the retry waits", || runtime.snapshot().retries_waiting == 1);
            hand.advance(secs(delay));
        }
        seen.wait_for(EventKind::Dead, 1);
        let starts: Vec<_> =
            seen.of(EventKind::Started).iter().map(|seen| (seen.attempt, seen.at)).collect();
        assert_eq!(starts, [(1, secs(0)), (2, secs(60)), (3, secs(180)), (4, secs(420))]);
        assert_balance(&runtime.drain(LONG));
    });
}

#[test]
fn t1_a_retry_keeps_its_priority_and_passes_fresh_jobs_of_it() {
    let runtime = Builder::new().priorities(3).manual().expect("valid");
    let publish = |name: &'static str, priority| {
        runtime.try_publish(Job::new(name, ()).with_priority(priority)).expect("room");
    };
    publish("retried", 1);
    runtime.take().expect("waiting").settle(Outcome::failed("no"));
    publish("fresh bulk", 2);
    publish("fresh", 1);
    publish("urgent", 0);
    runtime.advance_to(secs(1));
    let order: Vec<_> = std::iter::from_fn(|| {
        let delivery = runtime.take()?;
        let name = delivery.job().name().to_owned();
        delivery.settle(Outcome::Done);
        Some(name)
    })
    .collect();
    assert_eq!(order, ["urgent", "retried", "fresh", "fresh bulk"]);
}

#[test]
fn t3_jobs_in_backoff_hold_a_place_and_no_worker() {
    within(LONG, || {
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .capacities(&[3, 1])
            .workers(1)
            .retry(RetryPolicy::fixed(secs(3600)))
            .observer(seen.observe())
            .start(
                |job: &Job<()>, _: &Context<'_, ()>| {
                    if job.priority() == 0 { Err("try later") } else { Ok(()) }
                },
            )
            .expect("started");
        for name in ["one", "two", "three"] {
            runtime.publish(Job::new(name, ())).expect("open");
        }
        until("all wait", || runtime.snapshot().retries_waiting == 3);
        let snapshot = runtime.snapshot();
        assert_eq!((snapshot.running, snapshot.priorities[0].held), (0, 3));
        let refused = runtime.try_publish(Job::new("four", ())).expect_err("no place");
        assert!(refused.is_full() && refused.into_job().name() == "four");

        runtime.publish(Job::new("other", ()).with_priority(1)).expect("open");
        seen.wait_for(EventKind::Succeeded, 1);
        let report = runtime.drain(LONG);
        assert_balance(&report);
        assert_eq!(names(&report.returned), ["one", "two", "three"], "in due order");
    });
}

#[test]
fn kind_30_jobs_fire_exactly_when_due_and_in_due_order() {
    let runtime = Builder::new().priorities(1).capacity(10_000).manual().expect("valid");
    for index in 0..10_000_u64 {
        runtime.try_publish(Job::new("delayed", 1 + index * 7919 % 2_000)).expect("room");
        let delivery = runtime.take().expect("waiting");
        let after = millis(*delivery.job().payload());
        delivery.settle(Outcome::Snooze { after });
    }
    let mut fired = 0;
    run_all(&runtime, |job| {
        fired += 1;
        assert_eq!(runtime.now(), millis(*job.payload()), "neither early nor late");
        Outcome::Done
    });
    assert_eq!(fired, 10_000);
}

#[test]
fn kind_11_t7_the_longest_delay_is_the_end_of_time() {
    let runtime = Builder::new().priorities(1).manual().expect("valid");
    runtime.advance_to(secs(60));
    for after in [Duration::MAX, secs(u64::MAX), secs(1 << 62)] {
        runtime.try_publish(Job::new("one day", ())).expect("room");
        runtime.take().expect("waiting").settle(Outcome::Snooze { after });
    }
    assert_eq!(runtime.next_due(), Some(secs((1 << 62) + 60)));
    runtime.advance_to(Duration::MAX);
    runtime.try_publish(Job::new("late", ())).expect("room");
    let runs = std::iter::from_fn(|| runtime.take().map(|it| it.settle(Outcome::Done))).count();
    assert_eq!(runs, 4, "at the end of the clock everything is due");
    assert_balance(&runtime.stop());
}

#[test]
fn kind_25_t7_a_drain_without_deadline_does_not_wait_for_the_end_of_time() {
    within(LONG, || {
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(2)
            .retry(RetryPolicy::fixed(Duration::MAX))
            .start(|_: &Job<()>, _: &Context<'_, ()>| Err::<(), _>("no"))
            .expect("started");
        runtime.publish(Job::new("never", ())).expect("open");
        let report = runtime.drain(Duration::MAX);
        assert_balance(&report);
        assert_eq!(report.returned[0].attempts_made(), 1);
    });
}

#[test]
fn snooze_and_release_use_up_no_attempt() {
    let runtime = Builder::new().priorities(1).manual().expect("valid");
    runtime.try_publish(Job::new("patient", ()).with_max_retries(0)).expect("room");
    let mut answers =
        [Outcome::Snooze { after: secs(5) }, Outcome::Release, Outcome::Done].into_iter();
    let starts = run_all(&runtime, |job| {
        assert_eq!((job.attempt(), job.attempts_made(), job.history().len()), (1, 0, 0));
        answers.next().expect("three runs")
    });
    assert_eq!(starts, [0, 5, 5].map(secs));
    let totals = runtime.stop().totals;
    assert_eq!((totals.done, totals.runs, totals.retried, totals.failed), (1, 3, 0, 0));
}

#[test]
fn a_delivery_that_is_dropped_comes_back() {
    let runtime = Builder::new().priorities(1).manual().expect("valid");
    runtime.try_publish(Job::new("dropped", ())).expect("room");
    drop(runtime.take().expect("waiting"));
    assert_eq!(runtime.take().expect("back at once").job().attempt(), 1);
}

#[test]
fn a_handler_may_choose_the_delay() {
    let runtime = Builder::new().priorities(1).manual().expect("valid");
    runtime.try_publish(Job::new("asks for it", ()).with_max_retries(1)).expect("room");
    let starts = run_all(&runtime, |_| Outcome::Retry {
        error: "wait 90 s".to_owned(),
        after: Some(secs(90)),
    });
    assert_eq!(starts, [0, 90].map(secs), "in place of the policy's one second");
}

#[test]
fn an_expired_job_is_not_run() {
    let runtime = Builder::new().priorities(1).manual().expect("valid");
    for (name, expiry) in [("short", 1), ("long", 10)] {
        runtime.try_publish(Job::new(name, ()).with_expiry(secs(expiry))).expect("room");
    }
    runtime.advance_to(secs(10));
    let mut run = Vec::new();
    run_all(&runtime, |job| {
        run.push(job.name().to_owned());
        Outcome::failed("and its retry comes too late")
    });
    assert_eq!(run, ["long"], "its last moment still counts");
    let reasons: Vec<_> = letters(runtime.dead_letters(), &Filter::default())
        .iter()
        .map(|letter| (letter.name().to_owned(), letter.reason))
        .collect();
    assert_eq!(
        reasons,
        [("short".to_owned(), Reason::Expired), ("long".to_owned(), Reason::Expired)]
    );
    assert_balance(&runtime.stop());
}
