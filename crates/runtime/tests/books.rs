//! G6 under random handlers, settings and moments: every accepted job has exactly one end.

mod common;

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use common::{LONG, Recorder, Seen, assert_balance, millis, secs, within};
use overtake_runtime::{
    Builder, Context, Counts, EventKind, Job, JobId, ManualRuntime, MemoryDeadLetters, Outcome,
    RetryPolicy, WhenFull,
};
use proptest::prelude::*;

/// What a handler does in one run.
#[derive(Clone, Copy, Debug)]
enum Act {
    Done,
    Fail,
    Panic,
    Snooze,
    SnoozeLong,
    Release,
    Discard,
    DeadLetter,
}

impl Act {
    /// # Panics
    ///
    /// If that is the act.
    fn outcome(self) -> Outcome {
        match self {
            Self::Done => Outcome::Done,
            Self::Fail => Outcome::failed("by chance"),
            Self::Panic => panic!("by chance"),
            Self::Snooze => Outcome::Snooze { after: millis(1) },
            Self::SnoozeLong => Outcome::Snooze { after: secs(3600) },
            Self::Release => Outcome::Release,
            Self::Discard => Outcome::Discard,
            Self::DeadLetter => Outcome::DeadLetter { reason: "by chance".to_owned() },
        }
    }
}

/// The acts of a job's runs, in order; then it is done.
type Script = Vec<Act>;

/// A payload that knows which run this is, also where no attempt is used up.
#[derive(Debug)]
struct Scripted {
    script: Script,
    runs: std::sync::atomic::AtomicUsize,
}

impl Scripted {
    fn act(&self) -> Act {
        let run = self.runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.script.get(run).copied().unwrap_or(Act::Done)
    }
}

#[derive(Clone, Copy, Debug)]
enum End {
    Drain,
    DrainAtOnce,
    Stop,
    Cancel,
    Drop,
}

#[derive(Clone, Debug)]
struct Plan {
    capacities: Vec<usize>,
    workers: usize,
    max_retries: u32,
    delay: Duration,
    dead_letter_limit: usize,
    jobs: Vec<(usize, Script)>,
    /// The shutdown begins after so many jobs; publishers go on until they are refused.
    end_after: usize,
    end: End,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Done),
        4 => Just(Act::Fail),
        2 => Just(Act::Panic),
        2 => Just(Act::Snooze),
        1 => Just(Act::SnoozeLong),
        2 => Just(Act::Release),
        1 => Just(Act::Discard),
        1 => Just(Act::DeadLetter),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let end = prop_oneof![
        Just(End::Drain),
        Just(End::DrainAtOnce),
        Just(End::Stop),
        Just(End::Cancel),
        Just(End::Drop)
    ];
    let jobs = prop::collection::vec((0..4_usize, prop::collection::vec(act(), 0..5)), 0..60);
    let delay = prop_oneof![Just(Duration::ZERO), Just(millis(1))];
    let settings = (prop::collection::vec(1..12_usize, 1..4), 1..5_usize, 0..3_u32, delay);
    (settings, 0..4_usize, jobs, 0..80_usize, end).prop_map(
        |((capacities, workers, max_retries, delay), dead_letter_limit, jobs, end_after, end)| {
            Plan {
                capacities,
                workers,
                max_retries,
                delay,
                dead_letter_limit,
                jobs,
                end_after,
                end,
            }
        },
    )
}

impl Plan {
    fn builder(&self, seen: &Recorder) -> Builder<Scripted> {
        Builder::new()
            .capacities(&self.capacities)
            .workers(self.workers)
            .retry(RetryPolicy::fixed(self.delay).with_max_retries(self.max_retries))
            .dead_letters(MemoryDeadLetters::new(self.dead_letter_limit, WhenFull::DropOldest))
            .observer(seen.observe())
    }

    fn jobs(&self) -> impl Iterator<Item = Job<Scripted>> + '_ {
        self.jobs.iter().map(|(priority, script)| {
            let payload = Scripted { script: script.clone(), runs: 0.into() };
            Job::new("scripted", payload).with_priority(priority % self.capacities.len())
        })
    }
}

/// Checks what was told: one end per job, and the same numbers as in the books.
#[track_caller]
fn assert_one_end_each(told: &[Seen], accepted: usize) -> Counts {
    use EventKind::{Dead, Discarded, Failed, Returned, Started, Submitted, Succeeded};
    let mut open = BTreeMap::<JobId, bool>::new();
    let mut counts = Counts::default();
    for it in told {
        match it.kind {
            Submitted => {
                counts.accepted += 1;
                assert_eq!(open.insert(it.id, true), None, "accepted twice: {it:?}");
                continue;
            }
            Succeeded => counts.done += 1,
            Dead => counts.dead += 1,
            Discarded => counts.discarded += 1,
            Returned => counts.returned += 1,
            Started => {
                counts.runs += 1;
                counts.retried += u64::from(it.attempt > 1);
            }
            Failed => counts.failed += 1,
            _ => {}
        }
        let is_open = open.get_mut(&it.id).expect("accepted before");
        assert!(*is_open, "after its end: {it:?}");
        *is_open = !matches!(it.kind, Succeeded | Dead | Discarded | Returned);
    }
    assert!(open.values().all(|open| !open), "without an end: {open:?}");
    assert_eq!(open.len(), accepted, "who was told so is in the books");
    counts
}

fn run_on_threads(plan: &Plan) {
    let seen = Recorder::default();
    let runtime = plan
        .builder(&seen)
        .start(|job: &Job<Scripted>, _: &Context<'_, Scripted>| job.payload().act().outcome())
        .expect("started");
    let publisher = runtime.publisher();
    let jobs: Vec<_> = plan.jobs().collect();
    let (reached, end_now) = std::sync::mpsc::channel();
    let end_after = plan.end_after;
    let publishing = thread::spawn(move || {
        let mut accepted = 0;
        for (number, job) in jobs.into_iter().enumerate() {
            if number == end_after {
                reached.send(()).expect("the test waits");
            }
            match publisher.publish_timeout(job, millis(1)) {
                Ok(_) => accepted += 1,
                Err(error) if error.is_full() => {}
                Err(_) => break,
            }
        }
        accepted
    });
    // An error means that all jobs were published before.
    let _ = end_now.recv();
    let report = match plan.end {
        End::Drain => Some(runtime.drain(secs(600))),
        End::DrainAtOnce => Some(runtime.drain(Duration::ZERO)),
        End::Stop => Some(runtime.stop()),
        End::Cancel => {
            runtime.begin_cancel();
            Some(runtime.drain(Duration::MAX))
        }
        End::Drop => {
            drop(runtime);
            None
        }
    };
    let accepted = publishing.join().expect("no panic");
    let counts = assert_one_end_each(&seen.all(), accepted);
    if let Some(report) = report {
        assert_balance(&report);
        assert_eq!(report.totals, counts);
    }
}

fn settle(runtime: &ManualRuntime<Scripted>) -> bool {
    let Some(delivery) = runtime.take() else {
        return false;
    };
    match delivery.job().payload().act() {
        // Here nobody catches it: the delivery is dropped, and the job comes back.
        Act::Panic => drop(delivery),
        act => delivery.settle(act.outcome()),
    }
    true
}

fn run_by_hand(plan: &Plan) {
    let seen = Recorder::default();
    let runtime = plan.builder(&seen).manual().expect("valid");
    let mut accepted = 0;
    for (number, job) in plan.jobs().enumerate() {
        if number == plan.end_after {
            break;
        }
        accepted += usize::from(runtime.try_publish(job).is_ok());
        if number % 3 == 0 {
            settle(&runtime);
        }
    }
    if matches!(plan.end, End::Drain) {
        loop {
            while settle(&runtime) {}
            let Some(due) = runtime.next_due() else { break };
            runtime.advance_to(due);
        }
    }
    let report = runtime.stop();
    assert_balance(&report);
    assert_eq!(report.totals, assert_one_end_each(&seen.all(), accepted));
    assert!(runtime.dead_letters().len() <= plan.dead_letter_limit);
    if matches!(plan.end, End::Drain) {
        assert_eq!(report.totals.returned, 0, "all came to their end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn g6_on_threads(plan in plan()) {
        within(LONG, move || run_on_threads(&plan));
    }

    #[test]
    fn g6_by_hand(plan in plan()) {
        run_by_hand(&plan);
    }
}
