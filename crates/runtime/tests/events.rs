//! What an observer is told: everything, in order, and in agreement with the books.

mod common;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use common::{LONG, Recorder, Seen, assert_balance, secs, until, within};
use overtake_runtime::{
    Builder, Context, Event, EventKind, Job, JobId, Outcome, RetryPolicy, Runtime,
};

use EventKind::{Dead, Discarded, Failed, Retrying, Returned, Started, Submitted, Succeeded};

/// What happened, at which attempt.
type Step = (EventKind, u32);

fn story(seen: &[Seen]) -> Vec<Step> {
    seen.iter().map(|seen| (seen.kind, seen.attempt)).collect()
}

#[test]
fn the_life_of_each_kind_of_job_is_told_step_by_step() {
    let died = Outcome::DeadLetter { reason: "no".to_owned() };
    let put_off = Outcome::Snooze { after: secs(1) };
    let lives: [(&[Outcome], &[Step]); 6] = [
        (&[Outcome::Done], &[(Started, 1), (Succeeded, 1)]),
        (&[Outcome::Discard], &[(Started, 1), (Discarded, 1)]),
        (&[died], &[(Started, 1), (Failed, 1), (Dead, 1)]),
        (
            &[Outcome::failed("no"), Outcome::failed("no")],
            &[(Started, 1), (Failed, 1), (Retrying, 2), (Started, 2), (Failed, 2), (Dead, 2)],
        ),
        (
            &[put_off, Outcome::Release, Outcome::Done],
            &[
                (Started, 1),
                (Retrying, 1),
                (Started, 1),
                (Retrying, 1),
                (Started, 1),
                (Succeeded, 1),
            ],
        ),
        (&[], &[(Returned, 1)]),
    ];
    for (outcomes, expected) in lives {
        let seen = Recorder::default();
        let runtime = Builder::new()
            .priorities(3)
            .retry(RetryPolicy::fixed(secs(1)).with_max_retries(1))
            .observer(seen.observe())
            .manual()
            .expect("valid");
        let id = runtime.try_publish(Job::new("job", ()).with_priority(2)).expect("room");
        for outcome in outcomes {
            runtime.advance_to(runtime.next_due().unwrap_or_default());
            runtime.take().expect("waiting").settle(outcome.clone());
        }
        assert_balance(&runtime.stop());
        let told = seen.all();
        assert_eq!(story(&told)[0], (Submitted, 1));
        assert_eq!(story(&told)[1..], *expected);
        let same = |it: &Seen| (it.id, &*it.name, it.priority, it.worker) == (id, "job", 2, None);
        assert!(told.iter().all(same), "{told:?}");
        let with_error = |it: &Seen| it.error.is_some() == matches!(it.kind, Failed | Dead);
        assert!(told.iter().all(with_error), "{told:?}");
        assert!(told.is_sorted_by_key(|it| it.at));
    }
}

#[test]
fn g6_events_agree_with_the_books_and_come_in_order_per_job() {
    within(LONG, || {
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .capacities(&[8, 8])
            .workers(3)
            .retry(RetryPolicy::fixed(Duration::ZERO).with_max_retries(1))
            .observer(seen.observe())
            .start(|job: &Job<u32>, context: &Context<'_, u32>| {
                assert!(context.worker() < 3);
                match job.payload() % 7 {
                    0 => panic!("seven"),
                    1 => Outcome::failed("one"),
                    2 => Outcome::Discard,
                    3 => Outcome::DeadLetter { reason: "three".to_owned() },
                    4 if job.attempt() == 1 => Outcome::failed("first"),
                    _ => Outcome::Done,
                }
            })
            .expect("started");
        for number in 0..700 {
            let job = Job::new("job", number).with_priority(number as usize % 2);
            runtime.publish(job).expect("open");
        }
        let report = runtime.drain(LONG);
        assert_balance(&report);

        let totals = report.totals;
        let counts = [
            (Submitted, totals.accepted),
            (Started, totals.runs),
            (Succeeded, totals.done),
            (Failed, totals.failed),
            (Dead, totals.dead),
            (Discarded, totals.discarded),
            (Returned, totals.returned),
            (Retrying, totals.retried),
        ];
        for (kind, count) in counts {
            assert_eq!(seen.count(kind), count, "{kind:?}");
        }
        assert_eq!((totals.done, totals.dead, totals.discarded), (300, 300, 100));
        assert_eq!(report.priorities[0].waits.count(), 350, "one wait per job");

        let mut jobs = BTreeMap::<JobId, Vec<Seen>>::new();
        for it in seen.all() {
            jobs.entry(it.id).or_default().push(it);
        }
        for (number, (_, told)) in jobs.into_iter().enumerate() {
            let expected: &[Step] = match number % 7 {
                0 | 1 => &[
                    (Started, 1),
                    (Failed, 1),
                    (Retrying, 2),
                    (Started, 2),
                    (Failed, 2),
                    (Dead, 2),
                ],
                2 => &[(Started, 1), (Discarded, 1)],
                3 => &[(Started, 1), (Failed, 1), (Dead, 1)],
                4 => &[(Started, 1), (Failed, 1), (Retrying, 2), (Started, 2), (Succeeded, 2)],
                _ => &[(Started, 1), (Succeeded, 1)],
            };
            assert_eq!(story(&told)[0], (Submitted, 1), "before anything else");
            assert_eq!(story(&told)[1..], *expected);
            // What a worker tells, it tells in its own name, and each run stays on one worker.
            assert!(told.iter().all(|it| it.worker.is_some() == (it.kind != Submitted)));
            let runs = told[1..].chunk_by(|_, next| next.kind != Started);
            for run in runs {
                assert!(run.iter().all(|it| it.worker == run[0].worker), "{run:?}");
            }
        }
    });
}

#[test]
fn jobs_are_numbered_in_the_order_of_acceptance() {
    let runtime = Builder::new().capacities(&[2]).manual().expect("valid");
    let ids: Vec<_> = (0..4).map(|_| runtime.try_publish(Job::new("job", ())).ok()).collect();
    let texts: Vec<_> = ids.iter().flatten().map(ToString::to_string).collect();
    assert_eq!(texts, ["#1", "#2"], "a refused job takes no number");
    assert_eq!(Job::new("new", ()).id(), JobId::default());
}

/// What an observer does with its own runtime, in the name of the event it is called at.
fn meddle(runtime: &Runtime<u32>, event: &Event<'_>) {
    match event.kind {
        Submitted if event.name == "parent" => {
            // It may be refused, but it does not wait, and nor does what it submits.
            let _ = runtime.publish(Job::new("child", 0));
        }
        Submitted | Succeeded if event.name == "last" => {
            assert!(!runtime.drain(LONG).complete, "it would wait for this very thread");
        }
        Returned => runtime.begin_cancel(),
        _ => {}
    }
}

#[test]
fn an_observer_may_publish_and_shut_down() {
    for round in 0..50 {
        within(LONG, move || {
            let runtime = Arc::new(OnceLock::<Runtime<u32>>::new());
            let own = Arc::downgrade(&runtime);
            let started = Runtime::builder()
                .capacities(&[4])
                .workers(2)
                .observer(move |event| {
                    if let Some(own) = own.upgrade() {
                        meddle(own.get().expect("set before the first job"), event);
                    }
                })
                .start(|_: &Job<u32>, _: &Context<'_, u32>| {})
                .expect("started");
            assert!(runtime.set(started).is_ok());
            let shared = runtime.get().expect("just set");
            for number in 0..round {
                shared.publish(Job::new("parent", number)).expect("open");
            }
            shared.publish(Job::new("last", 0)).expect("open");
            while shared.publish(Job::new("parent", 0)).is_ok() {}
            until("nothing is left", || shared.snapshot().totals().balance());
            assert_balance(&shared.stop());
        });
    }
}
