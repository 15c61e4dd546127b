//! Replays of small logs whose schedules were worked out by hand.

use std::time::Duration;

use overtake_runtime::RetryPolicy;
use overtake_sim::replay::{
    Options, Policy, ReplayError, ReplayReport, WaitSeconds, replay, workers_for,
};
use overtake_sim::trace::{Banding, BandsBy, Trace};

const FAILED: i64 = 0;
const COMPLETED: i64 = 1;
const CANCELLED: i64 = 5;

/// Submit time, run time, status, queue.
type Line = (u64, i64, i64, i64);

fn trace_of(lines: &[Line]) -> Trace {
    let line = |(number, (submit, run, status, queue)): (usize, &Line)| {
        format!("{number} {submit} -1 {run} 1 -1 -1 1 -1 -1 {status} 1 1 1 {queue} -1 -1 -1\n")
    };
    let text: String = lines.iter().enumerate().map(line).collect();
    Trace::read(text.as_bytes(), "by hand").expect("a log")
}

fn options(policy: Policy, workers: usize) -> Options {
    let retry = RetryPolicy::fixed(Duration::from_secs(5)).with_max_retries(2);
    Options { policy, workers, retry }
}

fn replayed(lines: &[Line], options: &Options) -> ReplayReport {
    let trace = trace_of(lines);
    let banding = BandsBy::Queue.assign(&trace).expect("queues");
    replay(&trace, &banding, options).expect("replayed")
}

/// The waits of bands with one or two jobs: the shorter and the longer one.
fn waits(report: &ReplayReport) -> Vec<(f64, f64)> {
    report.bands.iter().map(|band| (band.wait_s.p50, band.wait_s.max)).collect()
}

#[test]
fn one_worker_two_bands() {
    // The bulk job 0 runs first, as nobody else is there; then the urgent ones pass bulk job 1.
    let lines = [
        (0, 10, COMPLETED, 2),
        (1, 10, COMPLETED, 2),
        (2, 10, COMPLETED, 1),
        (3, 10, COMPLETED, 1),
    ];
    let strict = replayed(&lines, &options(Policy::Strict, 1));
    assert_eq!(waits(&strict), [(8.0, 17.0), (0.0, 29.0)]);
    let fifo = replayed(&lines, &options(Policy::Fifo, 1));
    assert_eq!(waits(&fifo), [(18.0, 27.0), (0.0, 9.0)]);
    for report in [strict, fifo] {
        assert_eq!((report.span_s, report.runs, report.done), (40.0, 4, 4));
    }
}

#[test]
fn two_workers_two_bands() {
    let lines =
        [(0, 10, COMPLETED, 2), (0, 4, COMPLETED, 2), (1, 3, COMPLETED, 2), (2, 5, COMPLETED, 1)];
    // At 4 a worker is free: strict takes the urgent job, until 9; FIFO the older one, until 7.
    let strict = replayed(&lines, &options(Policy::Strict, 2));
    assert_eq!(waits(&strict), [(2.0, 2.0), (0.0, 8.0)]);
    assert_eq!(strict.span_s, 12.0);
    let fifo = replayed(&lines, &options(Policy::Fifo, 2));
    assert_eq!(waits(&fifo), [(5.0, 5.0), (0.0, 3.0)]);
    assert_eq!(fifo.span_s, 12.0);
}

#[test]
fn a_failed_job_fails_each_time_and_frees_its_worker_between() {
    // The failing job runs 0-10, 15-25 and 30-40; the other one in the gap, and on to 17.
    let lines = [(0, 10, FAILED, 1), (1, 7, COMPLETED, 2)];
    let report = replayed(&lines, &options(Policy::Strict, 1));
    assert_eq!(waits(&report), [(0.0, 0.0), (9.0, 9.0)]);
    // Its second run had to wait until 17, so the third one begins at 32.
    assert_eq!(report.span_s, 42.0);
    assert_eq!((report.runs, report.done, report.dead), (4, 1, 1));
    assert_eq!((report.completed, report.failed), (1, 1));
}

#[test]
fn a_retry_passes_fresh_jobs_of_its_band() {
    let lines =
        [(0, 1, FAILED, 1), (1, 10, COMPLETED, 1), (2, 10, COMPLETED, 1), (3, 10, COMPLETED, 1)];
    let report = replayed(&lines, &options(Policy::Strict, 1));
    // Due at 6, it runs 11-12, again due at 17 it runs 22-23.
    let waits = report.bands[0].wait_s;
    assert_eq!(waits, WaitSeconds { p50: 0.0, p90: 20.0, p99: 20.0, max: 20.0 });
    assert_eq!(report.span_s, 33.0);
}

#[test]
fn a_retry_without_a_delay_passes_what_is_less_urgent() {
    let retry = RetryPolicy::fixed(Duration::ZERO).with_max_retries(2);
    let at_once = Options { retry, ..options(Policy::Strict, 1) };
    let report = replayed(&[(0, 10, FAILED, 1), (1, 1, COMPLETED, 2)], &at_once);
    assert_eq!(waits(&report), [(0.0, 0.0), (29.0, 29.0)]);
}

#[test]
fn a_cancelled_job_holds_its_worker_for_as_long_as_it_ran() {
    let lines = [(0, 10, CANCELLED, 1), (1, -1, CANCELLED, 1), (2, 1, COMPLETED, 2)];
    let report = replayed(&lines, &options(Policy::Strict, 1));
    assert_eq!(waits(&report), [(0.0, 9.0), (8.0, 8.0)]);
    assert_eq!((report.discarded, report.cancelled, report.runs), (2, 2, 3));
    assert_eq!(report.span_s, 11.0);
}

#[test]
fn jobs_without_a_run_time_take_none() {
    let lines: Vec<_> = (0..100).map(|job| (7, 0, COMPLETED, job % 3)).collect();
    for policy in Policy::ALL {
        let report = replayed(&lines, &options(policy, 1));
        assert_eq!(waits(&report), [(0.0, 0.0); 3]);
        assert_eq!((report.span_s, report.done), (0.0, 100));
    }
}

#[test]
fn jobs_of_one_second_keep_the_order_of_the_log() {
    let lines = [(5, 1, COMPLETED, 1), (5, 2, COMPLETED, 1), (5, 4, COMPLETED, 1)];
    for policy in Policy::ALL {
        let wait = replayed(&lines, &options(policy, 1)).bands[0].wait_s;
        assert_eq!((wait.p50, wait.max), (1.0, 3.0));
    }
    let reversed = [lines[2], lines[1], lines[0]];
    let wait = replayed(&reversed, &options(Policy::Strict, 1)).bands[0].wait_s;
    assert_eq!((wait.p50, wait.max), (4.0, 6.0));
}

#[test]
fn the_order_of_lines_of_different_times_does_not_matter() {
    let sorted =
        [(0, 9, COMPLETED, 2), (3, 9, FAILED, 1), (4, 9, COMPLETED, 2), (8, 1, COMPLETED, 1)];
    let shuffled = [sorted[2], sorted[3], sorted[0], sorted[1]];
    for policy in Policy::ALL {
        let options = options(policy, 1);
        assert_eq!(replayed(&shuffled, &options), replayed(&sorted, &options));
    }
}

#[test]
fn times_count_from_the_first_submission() {
    let early =
        replayed(&[(0, 5, COMPLETED, 1), (1, 5, COMPLETED, 1)], &options(Policy::Strict, 1));
    let lines = [(1_000_000, 5, COMPLETED, 1), (1_000_001, 5, COMPLETED, 1)];
    assert_eq!(replayed(&lines, &options(Policy::Strict, 1)), early);
}

#[test]
fn a_gap_of_ten_years_is_one_step() {
    let ten_years = 10 * 365 * 86_400;
    let lines = [(0, 5, COMPLETED, 1), (ten_years, 5, FAILED, 1), (ten_years + 1, 5, COMPLETED, 1)];
    let report = replayed(&lines, &options(Policy::Strict, 1));
    assert_eq!(report.bands[0].wait_s.max, 4.0);
    // The failing job runs three times, and is due again 5 seconds after each.
    assert_eq!(report.span_s, (ten_years + 25) as f64);
}

#[test]
fn times_that_no_float_holds_are_exact() {
    let far = (1 << 53) + 1;
    let lines = [(0, 1, COMPLETED, 1), (far, 3, COMPLETED, 1), (far + 1, 3, COMPLETED, 1)];
    let report = replayed(&lines, &options(Policy::Strict, 1));
    assert_eq!(report.bands[0].wait_s.max, 2.0);
    assert_eq!(report.done, 3);
}

#[test]
fn the_end_of_time_ends_a_replay_and_breaks_nothing() {
    let longest = i64::MAX;
    let lines = [(0, longest, FAILED, 1), (1, longest, COMPLETED, 1), (2, 1, COMPLETED, 2)];
    for policy in Policy::ALL {
        let report = replayed(&lines, &options(policy, 1));
        assert_eq!((report.done, report.dead, report.runs), (2, 1, 5));
    }
}

#[test]
fn what_cannot_be_replayed_is_said() {
    let trace = trace_of(&[(0, 1, COMPLETED, 1)]);
    let banding = BandsBy::Queue.assign(&trace).expect("queues");
    let error = replay(&trace, &banding, &options(Policy::Strict, 0)).expect_err("no workers");
    assert_eq!(error.to_string(), "a replay needs at least one worker");

    let other = Banding { bands: vec![0, 0], ..banding.clone() };
    let error = replay(&trace, &other, &options(Policy::Strict, 1)).expect_err("another log");
    assert_eq!(error.to_string(), "the bands are those of 2 jobs, but the log has 1");

    let none = Trace { jobs: Vec::new(), ..trace };
    let error = replay(&none, &banding, &options(Policy::Strict, 1)).expect_err("no jobs");
    assert!(matches!(error, ReplayError::NoJobs));

    let many = trace_of(&(0..33).map(|queue| (0, 1, COMPLETED, queue)).collect::<Vec<_>>());
    let banding = BandsBy::Queue.assign(&many).expect("queues");
    let error = replay(&many, &banding, &options(Policy::Strict, 1)).expect_err("33 bands");
    assert_eq!(error.to_string(), "33 bands are too many for the runtime");
    let fifo = replay(&many, &banding, &options(Policy::Fifo, 1)).expect("a single queue");
    assert_eq!(fifo.bands.len(), 33);
}

#[test]
fn default_workers_are_busy_nine_tenths_of_the_time() {
    let retry = RetryPolicy::fixed(Duration::from_secs(1)).with_max_retries(3);
    // Ten jobs of 18 s, one every 10 s: 180 s of work in 90 s.
    let lines: Vec<Line> = (0..10).map(|job| (job * 10, 18, COMPLETED, 1)).collect();
    assert_eq!(workers_for(&trace_of(&lines), &retry), 3);
    // Each of them four times.
    let lines: Vec<Line> = (0..10).map(|job| (job * 10, 18, FAILED, 1)).collect();
    assert_eq!(workers_for(&trace_of(&lines), &retry), 9);
    assert_eq!(workers_for(&trace_of(&lines), &RetryPolicy::none()), 3);
    // At least one, and never more than there are jobs.
    assert_eq!(workers_for(&trace_of(&[(0, 0, COMPLETED, 1)]), &retry), 1);
    assert_eq!(workers_for(&trace_of(&[(0, 9, COMPLETED, 1), (0, 9, FAILED, 1)]), &retry), 2);
    assert_eq!(workers_for(&trace_of(&[(0, i64::MAX, FAILED, 1); 3]), &retry), 3);
}
