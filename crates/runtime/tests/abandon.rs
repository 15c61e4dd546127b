//! The end of patience: deadlines, cancelled handlers, and those that do not listen.

mod common;

use std::collections::HashMap;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{
    LONG, Latch, Recorder, assert_balance, millis, running_until_cancelled, secs, sleeps,
    this_thread, until, within,
};
use overtake_runtime::{
    CancellationToken, Clock, Context, EventKind, Job, Outcome, RetryPolicy, Runtime,
};

/// A handler that waits for its job's latch, whatever the shutdown says.
fn deaf(job: &Job<Latch>, _: &Context<'_, Latch>) -> Outcome {
    job.payload().wait();
    Outcome::Done
}

#[test]
fn g6_a_handler_that_ignores_cancellation_is_abandoned_and_counted() {
    within(LONG, || {
        let (clock, hand) = Clock::manual();
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(2)
            .clock(clock)
            .cancel_grace(secs(5))
            .observer(seen.observe())
            .start(deaf)
            .expect("started");
        let latch = Latch::default();
        for name in ["deaf", "deaf too", "waiting"] {
            runtime.publish(Job::new(name, latch.clone())).expect("open");
        }
        seen.wait_for(EventKind::Started, 2);
        let report = thread::scope(|scope| {
            let (sent, thread) = mpsc::channel();
            let runtime = &runtime;
            let drain = scope.spawn(move || {
                sent.send(this_thread()).expect("the test waits");
                runtime.drain(secs(60))
            });
            let thread = thread.recv().expect("it runs");
            until("it waits for the deadline", || sleeps(&thread));
            assert_eq!(seen.count(EventKind::Returned), 0);
            hand.advance(secs(60));
            seen.wait_for(EventKind::Returned, 1);
            until("it waits for the handlers", || sleeps(&thread));
            hand.advance(secs(4));
            until("it goes on waiting", || sleeps(&thread));
            assert!(!drain.is_finished(), "the grace has not passed");
            hand.advance(secs(1));
            drain.join().expect("no panic")
        });
        assert_balance(&report);
        assert_eq!((report.totals.done, report.totals.returned), (0, 3));
        let mut abandoned: Vec<_> = report.abandoned.iter().map(|it| &*it.name).collect();
        abandoned.sort_unstable();
        assert_eq!(abandoned, ["deaf", "deaf too"]);
        assert_eq!(common::names(&report.returned), ["waiting"]);

        // What the handlers answer in the end changes nothing any more.
        latch.open();
        until("the threads end", || runtime.snapshot().running == 0);
        assert_eq!(runtime.stop().totals, report.totals);
        assert_eq!(seen.count(EventKind::Succeeded), 0);
    });
}

#[test]
fn without_grace_and_without_time_a_drain_still_ends() {
    for workers in [1, 4] {
        within(LONG, move || {
            let latch = Latch::default();
            let runtime = Runtime::builder()
                .priorities(1)
                .workers(workers)
                .cancel_grace(Duration::ZERO)
                .start(deaf)
                .expect("started");
            for round in 0..50 {
                runtime.publish(Job::new(format!("job {round}"), latch.clone())).expect("open");
            }
            let report = runtime.drain(Duration::ZERO);
            assert_balance(&report);
            assert_eq!(report.totals.returned, 50);
            latch.open();
        });
    }
}

#[test]
fn a_cancelled_handler_may_give_its_job_back() {
    within(LONG, || {
        let (sent, token) = mpsc::channel::<CancellationToken>();
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(1)
            .start(move |_: &Job<()>, context: &Context<'_, ()>| {
                sent.send(context.cancellation().clone()).expect("the test waits");
                until("cancelled", || context.is_cancelled());
                Outcome::Release
            })
            .expect("started");
        runtime.publish(Job::new("gives up", ())).expect("open");
        let token = token.recv().expect("the handler runs");
        assert!(!token.is_cancelled());
        // Asked for, not waited for: the handler is told at once.
        runtime.begin_cancel();
        assert!(token.is_cancelled());
        let report = runtime.stop();
        assert_balance(&report);
        assert_eq!(report.returned[0].attempts_made(), 0, "it has used up no attempt");
    });
}

/// When a job's handler answers, against a deadline at 200 ms on the clock.
const MOMENTS: [u64; 5] = [100, 199, 200, 201, 300];

/// One round: jobs that succeed, fail and panic at moments around the deadline.
fn race_with_the_deadline(round: usize) {
    let (clock, hand) = Clock::manual();
    let seen = Recorder::default();
    let watch = clock.clone();
    let runtime = Runtime::builder()
        .priorities(1)
        .workers(MOMENTS.len() * 3)
        .clock(clock)
        .retry(RetryPolicy::fixed(Duration::ZERO).with_max_retries(0))
        .cancel_grace(Duration::ZERO)
        .observer(seen.observe())
        .start(move |job: &Job<(u64, usize)>, _: &Context<'_, (u64, usize)>| {
            let (moment, answer) = *job.payload();
            until("its moment has come", || watch.now() >= millis(moment));
            match answer {
                0 => Ok(()),
                1 => Err("too bad"),
                _ => panic!("too bad"),
            }
        })
        .expect("started");
    for moment in MOMENTS {
        for answer in 0..3 {
            runtime.publish(Job::new("job", (moment, answer))).expect("open");
        }
    }
    seen.wait_for(EventKind::Started, MOMENTS.len() * 3);
    let report = thread::scope(|scope| {
        runtime.begin_drain(millis(200));
        let drain = scope.spawn(|| runtime.drain(millis(200)));
        for time in MOMENTS.into_iter().skip(round % 2) {
            hand.advance_to(millis(time));
            for _ in 0..round % 7 {
                thread::yield_now();
            }
        }
        drain.join().expect("no panic")
    });
    assert_balance(&report);
    let mut ends = HashMap::new();
    for event in seen.all() {
        use EventKind::{Dead, Discarded, Returned, Succeeded};
        if matches!(event.kind, Succeeded | Dead | Discarded | Returned) {
            *ends.entry(event.id).or_insert(0) += 1;
        }
    }
    assert_eq!(ends.len(), MOMENTS.len() * 3);
    assert!(ends.values().all(|&times| times == 1), "exactly one end per job: {ends:?}");
    let totals = report.totals;
    assert_eq!(totals.failed, totals.dead, "a failure that was seen is not dropped");
}

#[test]
fn kind_26_handlers_that_answer_around_the_deadline_have_one_end() {
    within(LONG, || (0..150).for_each(race_with_the_deadline));
}

#[test]
fn a_second_call_tightens_the_first() {
    within(LONG, || {
        let seen = Recorder::default();
        let runtime = running_until_cancelled(&seen);
        runtime.publish(Job::new("running", ())).expect("open");
        seen.wait_for(EventKind::Started, 1);
        let (first, second) = thread::scope(|scope| {
            let first = scope.spawn(|| runtime.drain(Duration::MAX));
            let second = runtime.drain(Duration::ZERO);
            (first.join().expect("no panic"), second)
        });
        assert!(first.complete && second.complete);
        assert_eq!(first.totals, second.totals);
        let returned: Vec<_> = first.returned.iter().chain(&second.returned).collect();
        assert_eq!(returned.len(), 1, "one of the two gets the job");
    });
}
