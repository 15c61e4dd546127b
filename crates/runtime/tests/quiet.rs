//! kind_13: who waits uses no CPU.

mod common;

use std::fs;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use common::{assert_balance, millis, secs, until};
use overtake_runtime::{Context, FileDeadLetters, Job, Outcome, RetryPolicy, Runtime, SyncPolicy};

/// The CPU time of all threads of this process.
fn cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("procfs");
    let (_, after_name) = stat.rsplit_once(") ").expect("a name in parentheses");
    // Fields 14 and 15, user and system time in ticks of 10 ms; the first one here is field 3.
    let ticks = after_name.split(' ').skip(11).take(2);
    millis(10 * ticks.map(|field| field.parse::<u64>().expect("a number")).sum::<u64>())
}

/// What the process uses in a second of the wall clock.
fn cpu_time_of_a_second(work: impl FnOnce(Duration)) -> Duration {
    let before = cpu_time();
    work(secs(1));
    cpu_time() - before
}

/// One test, as the process's time is that of all its tests.
#[test]
fn kind_13_idle_workers_a_far_retry_and_a_sync_thread_use_no_cpu() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dead.jsonl");
    let letters = FileDeadLetters::open(&path, SyncPolicy::Every(millis(200))).expect("opens");
    let runtime = Runtime::builder()
        .capacities(&[1])
        .workers(16)
        .retry(RetryPolicy::fixed(secs(3600)))
        .dead_letters(letters)
        .start(|_: &Job<()>, _: &Context<'_, ()>| Outcome::failed("in an hour"))
        .expect("started");
    runtime.publish(Job::new("far", ())).expect("open");
    until("it waits", || runtime.snapshot().retries_waiting == 1);

    let idle = thread::scope(|scope| {
        // A publisher that waits for room is no busier.
        let blocked = scope.spawn(|| runtime.publish(Job::new("no room", ())));
        let idle = cpu_time_of_a_second(thread::sleep);
        runtime.begin_stop();
        assert!(blocked.join().expect("no panic").is_err());
        idle
    });
    let busy = cpu_time_of_a_second(|time| {
        let start = Instant::now();
        while start.elapsed() < time {
            black_box(());
        }
    });
    assert_balance(&runtime.stop());
    assert!(idle <= millis(100), "{idle:?} of a second");
    assert!(busy >= millis(300), "the meter would have seen it: {busy:?}");
}
