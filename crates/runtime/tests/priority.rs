//! Strict order: the most urgent waiting job is started next.

mod common;

use common::{LONG, Latch, Recorder, assert_balance, names, within};
use overtake_runtime::{BuildError, Builder, Context, EventKind, Job, Runtime};

#[test]
fn kind_15_c_an_urgent_job_is_next_and_nothing_is_taken_in_advance() {
    within(LONG, || {
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .priorities(2)
            .workers(1)
            .observer(seen.observe())
            .start(|job: &Job<Latch>, _: &Context<'_, Latch>| job.payload().wait())
            .expect("started");
        let latch = Latch::default();
        for number in 0..10 {
            let job = Job::new(format!("bulk {number}"), latch.clone()).with_priority(1);
            runtime.publish(job).expect("open");
        }
        seen.wait_for(EventKind::Started, 1);
        runtime.publish(Job::new("urgent", latch.clone())).expect("open");
        latch.open();
        assert_balance(&runtime.drain(LONG));
        let started = seen.names(EventKind::Started);
        assert_eq!(started[..3], ["bulk 0", "urgent", "bulk 1"]);
        assert_eq!(started.len(), 11);
    });
}

#[test]
fn kind_15_jobs_held_are_started_in_strict_order_first_in_first_out_inside() {
    within(LONG, || {
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .priorities(8)
            .workers(1)
            .observer(seen.observe())
            .hold(|_: &Job<u32>, _: &Context<'_, u32>| {})
            .expect("valid");
        let mut expected = Vec::new();
        for number in 0..800_u32 {
            let priority = (number * 37 % 8) as usize;
            let id = runtime.publish(Job::new("job", number).with_priority(priority));
            expected.push((priority, id.expect("open")));
        }
        assert_eq!(seen.count(EventKind::Started), 0, "held");
        runtime.start_workers().expect("threads");
        assert_balance(&runtime.drain(LONG));
        expected.sort();
        let started: Vec<_> =
            seen.of(EventKind::Started).iter().map(|seen| (seen.priority, seen.id)).collect();
        assert_eq!(started, expected);
    });
}

#[test]
fn kind_15_d_a_job_without_a_priority_is_the_most_urgent() {
    let runtime = Builder::new().priorities(3).manual().expect("valid");
    for priority in 0..3 {
        runtime.try_publish(Job::new("explicit", ()).with_priority(priority)).expect("room");
    }
    runtime.try_publish(Job::new("default", ())).expect("room");
    let order: Vec<_> = std::iter::from_fn(|| {
        let delivery = runtime.take()?;
        let order = (delivery.job().priority(), delivery.job().name().to_owned());
        delivery.settle(overtake_runtime::Outcome::Done);
        Some(order)
    })
    .collect();
    let names: Vec<_> = order.iter().map(|(priority, name)| (*priority, &**name)).collect();
    assert_eq!(names, [(0, "explicit"), (0, "default"), (1, "explicit"), (2, "explicit")]);
}

#[test]
fn kind_15_e_each_publisher_keeps_its_order() {
    within(LONG, || {
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .capacities(&[16, 16])
            .workers(1)
            .observer(seen.observe())
            .start(|_: &Job<()>, _: &Context<'_, ()>| {})
            .expect("started");
        std::thread::scope(|scope| {
            for publisher in 0..3 {
                let runtime = &runtime;
                scope.spawn(move || {
                    for number in 0..500 {
                        let job = Job::new(format!("{publisher}:{number:03}"), ());
                        runtime.publish(job.with_priority(number % 2)).expect("open");
                    }
                });
            }
        });
        assert_balance(&runtime.drain(LONG));
        let started = seen.of(EventKind::Started);
        for publisher in 0..3 {
            for priority in 0..2 {
                let of_one = |it: &&common::Seen| {
                    it.priority == priority && it.name.starts_with(&format!("{publisher}:"))
                };
                let names: Vec<_> = started.iter().filter(of_one).map(|it| &*it.name).collect();
                assert_eq!(names.len(), 250);
                assert!(names.is_sorted(), "{names:?}");
            }
        }
    });
}

#[test]
fn what_waits_is_handed_back_in_the_order_of_service() {
    let runtime = Builder::new().priorities(2).manual().expect("valid");
    for (name, priority) in [("bulk", 1), ("urgent", 0), ("more bulk", 1)] {
        runtime.try_publish(Job::new(name, ()).with_priority(priority)).expect("room");
    }
    assert_eq!(names(&runtime.stop().returned), ["urgent", "bulk", "more bulk"]);
}

#[test]
fn settings_that_cannot_be_are_named() {
    let error = |builder: Builder<()>| builder.manual().expect_err("not possible").to_string();
    assert_eq!(error(Builder::new().priorities(0)), "a runtime has 1 to 32 priorities, not 0");
    assert_eq!(error(Builder::new().priorities(33)), "a runtime has 1 to 32 priorities, not 33");
    assert_eq!(
        error(Builder::new().capacities(&[1, 0])),
        "priority 1 has capacity 0; a priority has room for at least one job"
    );
    assert!(Builder::<()>::new().priorities(32).capacity(1).manual().is_ok());
    let huge = Builder::<()>::new().capacities(&[usize::MAX]).manual();
    assert!(matches!(huge, Err(BuildError::Capacity { .. })));
    let idle = Builder::<()>::new().workers(0).hold(|_: &Job<()>, _: &Context<'_, ()>| {});
    assert!(matches!(idle, Err(BuildError::NoWorkers)));
}
