//! A full priority tells its publishers, and hands them their jobs back.

mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::{LONG, assert_balance, millis, run_all, secs, until, within};
use overtake_runtime::{
    Builder, Context, Job, JobId, Outcome, PublishError, Publisher, RetryPolicy, Runtime,
};

type Publish = fn(&Publisher<()>, Job<()>) -> Result<JobId, PublishError<()>>;

fn job(name: &'static str) -> Job<()> {
    Job::new(name, ())
}

#[test]
fn a_full_priority_hands_the_job_back_and_others_have_room() {
    let runtime = Builder::new().capacities(&[1, 2]).manual().expect("valid");
    runtime.try_publish(job("first")).expect("room");
    let error = runtime.try_publish(job("second")).expect_err("full");
    assert!(error.is_full() && !error.is_closed());
    assert_eq!(error.to_string(), "priority 0 is full");
    assert_eq!(error.into_job().name(), "second");
    runtime.try_publish(job("bulk").with_priority(1)).expect("room there");

    let error = runtime.try_publish(job("lost").with_priority(2)).expect_err("no such priority");
    assert!(matches!(error, PublishError::NoSuchPriority { priorities: 2, .. }));
    assert!(!error.is_full() && !error.is_closed());

    let _ = runtime.stop();
    let error = runtime.try_publish(job("late")).expect_err("closed");
    assert!(error.is_closed() && !error.is_full());
    assert_eq!(error.into_job().name(), "late");
}

#[test]
fn a_place_is_held_until_the_end_of_the_job() {
    let runtime = Builder::new().capacities(&[1]).manual().expect("valid");
    let is_full = || runtime.try_publish(job("other")).is_err();
    runtime.try_publish(job("holder")).expect("room");
    let delivery = runtime.take().expect("waiting");
    assert!(is_full(), "while it runs");
    delivery.settle(Outcome::failed("no"));
    assert!(is_full(), "while it waits for a retry");
    runtime.advance_to(secs(1));
    assert!(is_full(), "while the retry waits for a worker");
    runtime.take().expect("waiting").settle(Outcome::Done);
    assert!(!is_full());
}

#[test]
fn publish_waits_for_room_and_is_woken_by_it() {
    within(LONG, || {
        let runtime = Builder::new().capacities(&[1]).manual().expect("valid");
        runtime.try_publish(job("first")).expect("room");
        thread::scope(|scope| {
            let second = scope.spawn(|| runtime.publish(job("second")));
            let delivery = runtime.take().expect("waiting");
            assert!(!second.is_finished(), "no room while the first one runs");
            delivery.settle(Outcome::Done);
            second.join().expect("no panic").expect("room");
        });
        assert_eq!(runtime.take().expect("waiting").job().name(), "second");
    });
}

#[test]
fn who_waits_for_room_is_told_of_a_shutdown() {
    within(LONG, || {
        let runtime = Runtime::builder()
            .capacities(&[1])
            .workers(1)
            .retry(RetryPolicy::fixed(secs(3600)))
            .start(|_: &Job<()>, _: &Context<'_, ()>| Err::<(), _>("in an hour"))
            .expect("started");
        runtime.publish(job("holder")).expect("open");
        thread::scope(|scope| {
            let publish: [Publish; 2] =
                [|it, job| it.publish(job), |it, job| it.publish_timeout(job, Duration::MAX)];
            let runtime = &runtime;
            let waiting =
                publish.map(|publish| scope.spawn(move || publish(runtime, job("waits"))));
            assert_balance(&runtime.stop());
            for waiting in waiting {
                let error = waiting.join().expect("no panic").expect_err("closed");
                assert!(error.is_closed() && error.into_job().name() == "waits");
            }
        });
    });
}

#[test]
fn publish_timeout_gives_up_in_time() {
    let runtime = Builder::new().capacities(&[1]).manual().expect("valid");
    runtime.publish_timeout(job("first"), Duration::ZERO).expect("room, so no time is needed");
    for timeout in [Duration::ZERO, millis(20)] {
        let start = Instant::now();
        let error = runtime.publish_timeout(job("second"), timeout).expect_err("full");
        assert!(error.is_full() && error.into_job().name() == "second");
        assert!(start.elapsed() >= timeout);
    }
}

#[test]
fn kind_11_publish_timeout_may_be_as_long_as_it_likes() {
    within(LONG, || {
        for timeout in [Duration::MAX, secs(u64::MAX), secs(1 << 62)] {
            let runtime = Builder::new().capacities(&[1]).manual().expect("valid");
            runtime.try_publish(job("first")).expect("room");
            thread::scope(|scope| {
                let second = scope.spawn(|| runtime.publish_timeout(job("second"), timeout));
                runtime.take().expect("waiting").settle(Outcome::Done);
                second.join().expect("no panic").expect("room");
            });
        }
    });
}

#[test]
fn publish_all_hands_the_rest_back_untouched() {
    let runtime = Builder::new().capacities(&[3]).manual().expect("valid");
    let mut all = runtime.publish_all((0..10).map(|number| Job::new("job", number)));
    assert_eq!(all.accepted, 3);
    let stopped_by = all.stopped_by.take().expect("full");
    assert!(stopped_by.is_full());
    assert_eq!(*stopped_by.into_job().payload(), 3);
    let rest: Vec<_> = all.rest.map(Job::into_payload).collect();
    assert_eq!(rest, [4, 5, 6, 7, 8, 9]);

    assert_eq!(run_all(&runtime), [0, 1, 2]);
    let few = runtime.publish_all([Job::new("job", 10)]);
    assert_eq!((few.accepted, few.stopped_by.is_none(), few.rest.count()), (1, true, 0));
}

#[test]
fn every_publisher_gets_in_in_the_end() {
    within(LONG, || {
        let runtime = Runtime::builder()
            .capacities(&[2])
            .workers(2)
            .start(|_: &Job<()>, _: &Context<'_, ()>| {})
            .expect("started");
        thread::scope(|scope| {
            for _ in 0..8 {
                let publisher = runtime.publisher();
                scope.spawn(move || {
                    for _ in 0..500 {
                        publisher.publish(job("job")).expect("open");
                    }
                });
            }
        });
        until("all places are free again", || runtime.snapshot().priorities[0].held == 0);
        let report = runtime.drain(LONG);
        assert_balance(&report);
        assert_eq!(report.totals.done, 4_000);
    });
}

#[test]
fn g6_publishers_and_a_shutdown_at_once() {
    for round in 0..300 {
        within(LONG, move || {
            let runtime = Runtime::builder()
                .capacities(&[2])
                .workers(2)
                .start(|_: &Job<()>, _: &Context<'_, ()>| {})
                .expect("started");
            let (accepted, report) = thread::scope(|scope| {
                let publishers = [(); 3].map(|()| {
                    let runtime = &runtime;
                    scope.spawn(move || {
                        (0..).take_while(|_| runtime.publish(job("job")).is_ok()).count()
                    })
                });
                until("some are in", || runtime.snapshot().totals().accepted > round % 5);
                // Without a deadline: whoever came too late must not leave the drain waiting.
                let report =
                    if round % 3 == 0 { runtime.stop() } else { runtime.drain(Duration::MAX) };
                let counts = publishers.map(|publisher| publisher.join().expect("no panic"));
                (counts.iter().sum::<usize>(), report)
            });
            assert_balance(&report);
            assert_eq!(report.totals.accepted, accepted as u64, "who was told so is in the books");
        });
    }
}
