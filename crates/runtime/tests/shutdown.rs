//! Shutdown in every state, by every way in: it ends, and every job is accounted for.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use common::{
    LONG, Latch, Recorder, assert_balance, millis, names, running_until_cancelled, secs, until,
    within,
};
use overtake_runtime::{
    Builder, Clock, Context, EventKind, Job, MemoryDeadLetters, Outcome, Report, RetryPolicy,
    Runtime, WhenFull,
};

type Handler = fn(&Job<Latch>, &Context<'_, Latch>) -> Outcome;

/// How a shutdown is asked for.
#[derive(Clone, Copy, Debug)]
enum Way {
    Drain,
    Stop,
    Cancel,
    Twice,
    TwoThreads,
}

impl Way {
    const ALL: [Self; 5] = [Self::Drain, Self::Stop, Self::Cancel, Self::Twice, Self::TwoThreads];

    fn take(self, runtime: &Runtime<Latch>) -> Report<Latch> {
        match self {
            Self::Drain => runtime.drain(LONG),
            Self::Stop => runtime.stop(),
            Self::Cancel => {
                runtime.begin_cancel();
                runtime.drain(LONG)
            }
            Self::Twice => {
                let report = runtime.stop();
                let second = runtime.drain(LONG);
                assert!(second.returned.is_empty() && second.complete, "one call gets the jobs");
                assert_eq!(second.totals, report.totals);
                report
            }
            Self::TwoThreads => thread::scope(|scope| {
                let other = scope.spawn(|| runtime.stop());
                let mut report = runtime.stop();
                let mut other = other.join().expect("no panic");
                assert!(report.returned.is_empty() || other.returned.is_empty());
                report.returned.append(&mut other.returned);
                report
            }),
        }
    }
}

/// Runs `scenario` for every way; it starts a runtime and says what to check of the report.
fn in_every_way(scenario: fn(Way)) {
    for way in Way::ALL {
        within(LONG, move || scenario(way));
    }
}

fn builder() -> Builder<Latch> {
    Runtime::builder().priorities(2).workers(2).retry(RetryPolicy::fixed(secs(3600)))
}

fn job(name: &'static str) -> Job<Latch> {
    Job::new(name, Latch::default())
}

#[test]
fn g6_t4_idle() {
    in_every_way(|way| {
        let runtime = builder().start(|_: &_, _: &Context<'_, _>| {}).expect("started");
        let report = way.take(&runtime);
        assert_balance(&report);
        assert_eq!(report.totals.accepted, 0);
        assert!(runtime.publish(job("late")).expect_err("closed").is_closed());
    });
}

#[test]
fn g6_t4_before_start() {
    in_every_way(|way| {
        let handler: Handler = |_, _| panic!("nothing is started any more");
        let runtime = builder().hold(handler).expect("valid");
        runtime.publish(job("bulk").with_priority(1)).expect("open");
        runtime.publish(job("urgent")).expect("open");
        let report = way.take(&runtime);
        assert_balance(&report);
        assert_eq!(names(&report.returned), ["urgent", "bulk"], "in the order of service");
        runtime.start_workers().expect("threads that end at once");
    });
}

#[test]
fn g6_t4_running_and_waiting() {
    in_every_way(|way| {
        let seen = Recorder::default();
        let handler: Handler = |job, _| {
            job.payload().wait();
            Outcome::Done
        };
        let runtime =
            builder().workers(1).observer(seen.observe()).start(handler).expect("started");
        let running = job("running");
        let latch = running.payload().clone();
        runtime.publish(running).expect("open");
        seen.wait_for(EventKind::Started, 1);
        let waiting = job("waiting");
        waiting.payload().open();
        runtime.publish(waiting).expect("open");

        // Begun before the handler may end, so that it is certain what a stop does not start.
        match way {
            Way::Drain => runtime.begin_drain(LONG),
            _ => runtime.begin_stop(),
        }
        assert!(runtime.publish(job("late")).expect_err("closed").is_closed());
        let report = thread::scope(|scope| {
            let shutdown = scope.spawn(|| way.take(&runtime));
            latch.open();
            shutdown.join().expect("no panic")
        });
        assert_balance(&report);
        let done = if matches!(way, Way::Drain) { 2 } else { 1 };
        assert_eq!(report.totals.done, done, "a stop runs only what runs, a drain all");
    });
}

#[test]
fn g6_t4_kind_25_b_in_backoff() {
    in_every_way(|way| {
        let handler: Handler = |_, _| Outcome::failed("try in an hour");
        let runtime = builder().start(handler).expect("started");
        runtime.publish(job("one")).expect("open");
        runtime.publish(job("two")).expect("open");
        until("both wait", || runtime.snapshot().retries_waiting == 2);
        let report = way.take(&runtime);
        assert_balance(&report);
        assert_eq!(report.returned.len(), 2, "nobody waits an hour");
        assert!(report.returned.iter().all(|job| job.attempts_made() == 1));
    });
}

#[test]
fn g6_t4_dead_letters_full() {
    in_every_way(|way| {
        let handler: Handler = |_, _| Outcome::DeadLetter { reason: "no".to_owned() };
        let letters = MemoryDeadLetters::new(1, WhenFull::Refuse);
        let runtime = builder().dead_letters(letters).start(handler).expect("started");
        for _ in 0..5 {
            runtime.publish(job("dead")).expect("open");
        }
        until("all are dead", || runtime.snapshot().totals().dead == 5);
        assert_balance(&way.take(&runtime));
        let snapshot = runtime.snapshot();
        assert_eq!((snapshot.dead_letters, snapshot.dead_letters_lost), (1, 4));
    });
}

#[test]
fn kind_25_a_jobs_that_put_themselves_off_do_not_keep_a_stop_from_ending() {
    for outcome in
        [Outcome::failed("again"), Outcome::Snooze { after: millis(1) }, Outcome::Release]
    {
        within(LONG, move || {
            let runtime = Runtime::builder()
                .priorities(1)
                .workers(2)
                .retry(RetryPolicy::fixed(millis(1)).with_max_retries(u32::MAX))
                .start(move |_: &Job<()>, _: &Context<'_, ()>| outcome.clone())
                .expect("started");
            for _ in 0..10 {
                runtime.publish(Job::new("again", ())).expect("open");
            }
            until("they run", || runtime.snapshot().totals().runs > 50);
            let report = runtime.stop();
            assert_balance(&report);
            assert_eq!(report.returned.len(), 10);
        });
    }
}

#[test]
fn kind_25_a_a_drain_ends_at_its_deadline() {
    within(LONG, || {
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(2)
            .start(|_: &Job<()>, _: &Context<'_, ()>| Outcome::Snooze { after: millis(1) })
            .expect("started");
        runtime.publish(Job::new("again", ())).expect("open");
        let report = runtime.drain(millis(30));
        assert_balance(&report);
        assert_eq!(names(&report.returned), ["again"]);
    });
}

#[test]
fn kind_25_c_a_handler_that_submits_does_not_keep_a_drain_from_ending() {
    within(LONG, || {
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(2)
            .start(|job: &Job<u64>, context: &Context<'_, u64>| {
                let _ = context.publisher().publish(Job::new("child", job.payload() + 1));
            })
            .expect("started");
        runtime.publish(Job::new("first", 0)).expect("open");
        until("they breed", || runtime.snapshot().totals().done > 100);
        let report = runtime.drain(LONG);
        assert_balance(&report);
        assert_eq!(report.totals.returned, 0);
    });
}

#[test]
fn kind_25_d_inside_a_handler_it_only_begins() {
    within(LONG, || {
        let cell = Arc::new(OnceLock::<Arc<Runtime<u32>>>::new());
        let own = Arc::clone(&cell);
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(1)
            .hold(move |_: &Job<u32>, _: &Context<'_, u32>| {
                counted.fetch_add(1, Ordering::Relaxed);
                let report = own.get().expect("set before the start").stop();
                assert!(!report.complete && report.returned.is_empty());
            })
            .expect("valid");
        let runtime = Arc::new(runtime);
        assert!(cell.set(Arc::clone(&runtime)).is_ok());
        for number in 0..10 {
            runtime.publish(Job::new("stops it all", number)).expect("open");
        }
        runtime.start_workers().expect("threads");
        until("nothing waits, though nobody waits for the end", || {
            runtime.snapshot().totals().balance()
        });
        assert_eq!(runs.load(Ordering::Relaxed), 1, "nothing is started after it");
        let report = runtime.drain(LONG);
        assert_balance(&report);
        assert_eq!(report.returned.len(), 9);
    });
}

#[test]
fn kind_25_d_dropped_inside_its_own_handler() {
    within(LONG, || {
        let seen = Recorder::default();
        let own = Arc::new(Mutex::new(None::<Runtime<Arc<()>>>));
        let taken = Arc::clone(&own);
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(1)
            .retry(RetryPolicy::fixed(secs(3600)))
            .observer(seen.observe())
            .hold(move |job: &Job<Arc<()>>, _: &Context<'_, Arc<()>>| {
                if job.name() == "later" {
                    return Outcome::failed("in an hour");
                }
                drop(taken.lock().expect("no panic").take());
                Outcome::Done
            })
            .expect("valid");
        let payload = Arc::new(());
        for name in ["later", "drops it", "waits"] {
            runtime.publish(Job::new(name, Arc::clone(&payload))).expect("open");
        }
        let mut slot = own.lock().expect("no panic");
        slot.insert(runtime).start_workers().expect("threads");
        drop(slot);
        until("its threads have ended", || Arc::strong_count(&payload) == 1);
        assert_eq!(seen.names(EventKind::Succeeded), ["drops it"]);
        let mut returned = seen.names(EventKind::Returned);
        returned.sort();
        assert_eq!(returned, ["later", "waits"]);
    });
}

#[test]
fn kind_25_d_dropped_without_shutdown() {
    within(LONG, || {
        let seen = Recorder::default();
        let runtime = running_until_cancelled(&seen);
        for name in ["running", "waiting"] {
            runtime.publish(Job::new(name, ())).expect("open");
        }
        seen.wait_for(EventKind::Started, 1);
        let publisher = runtime.publisher();
        drop(runtime);
        let mut returned = seen.names(EventKind::Returned);
        returned.sort();
        assert_eq!(returned, ["running", "waiting"]);
        assert!(publisher.publish(Job::new("late", ())).expect_err("closed").is_closed());
    });
}

#[test]
fn a_shutdown_that_has_ended_has_let_everything_go() {
    for round in 0..200 {
        within(LONG, move || {
            let handlers = Arc::new(());
            let captured = Arc::clone(&handlers);
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("dead.jsonl");
            let open = || {
                overtake_runtime::FileDeadLetters::<u32>::open(
                    &path,
                    overtake_runtime::SyncPolicy::Never,
                )
            };
            let runtime = Runtime::builder()
                .priorities(1)
                .workers(4)
                .dead_letters(open().expect("a new file"))
                .start(move |_: &Job<u32>, _: &Context<'_, u32>| {
                    let _handler = &captured;
                })
                .expect("started");
            runtime.publish(Job::new("job", round)).expect("open");
            assert_balance(&runtime.stop());
            assert_eq!(Arc::strong_count(&handlers), 1, "the handler is dropped");
            drop(runtime);
            open().expect("nobody else has it open");
        });
    }
}

#[test]
fn a_drain_runs_retries_that_come_due_in_time_and_hands_back_the_others() {
    within(LONG, || {
        let (clock, hand) = Clock::manual();
        let seen = Recorder::default();
        let runtime = Runtime::builder()
            .priorities(1)
            .workers(1)
            .clock(clock)
            .observer(seen.observe())
            .start(|job: &Job<u64>, _: &Context<'_, u64>| {
                if job.attempt() == 2 {
                    return Outcome::Done;
                }
                Outcome::Retry { error: "first".to_owned(), after: Some(secs(*job.payload())) }
            })
            .expect("started");
        for delay in [10, 59, 60, 61] {
            runtime.publish(Job::new(format!("in {delay}"), delay)).expect("open");
        }
        until("all wait", || runtime.snapshot().retries_waiting == 4);
        let report = thread::scope(|scope| {
            runtime.begin_drain(secs(60));
            let drain = scope.spawn(|| runtime.drain(secs(60)));
            hand.advance(secs(10));
            seen.wait_for(EventKind::Succeeded, 1);
            hand.advance(secs(49));
            // The other two cannot come in time, so it ends without a further move of the clock.
            drain.join().expect("no panic")
        });
        assert_balance(&report);
        assert_eq!(seen.names(EventKind::Succeeded), ["in 10", "in 59"]);
        assert_eq!(names(&report.returned), ["in 60", "in 61"]);
    });
}
