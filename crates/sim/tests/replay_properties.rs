//! Replays of random logs: the totals, and the same waits as a plain simulation finds.

use std::time::Duration;

use overtake_runtime::RetryPolicy;
use overtake_sim::replay::{Options, Policy, ReplayReport, WaitSeconds, replay};
use overtake_sim::trace::{BandsBy, Trace};
use proptest::prelude::*;

/// A job of a random log, with all times in seconds.
#[derive(Clone, Copy, Debug)]
struct LogJob {
    submit: u64,
    run: u64,
    status: u64,
    queue: u64,
}

/// A log of up to 60 jobs: few enough seconds that many things happen in the same one.
fn logs(queues: u64) -> impl Strategy<Value = Vec<LogJob>> {
    let status = prop_oneof![3 => Just(1), 2 => Just(0), 1 => Just(5)];
    let job = (0..40_u64, 0..8_u64, status, 0..queues);
    let job = job.prop_map(|(submit, run, status, queue)| LogJob { submit, run, status, queue });
    prop::collection::vec(job, 1..60)
}

fn trace_of(jobs: &[LogJob]) -> Trace {
    let line = |job: &LogJob| {
        let LogJob { submit, run, status, queue } = job;
        format!("1 {submit} -1 {run} 1 -1 -1 1 -1 -1 {status} 1 1 1 {queue} -1 -1 -1\n")
    };
    let text: String = jobs.iter().map(line).collect();
    Trace::read(text.as_bytes(), "random").expect("a log")
}

fn replayed(
    jobs: &[LogJob],
    policy: Policy,
    workers: usize,
    limit: u32,
    delay: u64,
) -> ReplayReport {
    let trace = trace_of(jobs);
    let banding = BandsBy::Queue.assign(&trace).expect("queues");
    let retry = RetryPolicy::fixed(Duration::from_secs(delay)).with_max_retries(limit);
    replay(&trace, &banding, &Options { policy, workers, retry }).expect("replayed")
}

/// A job that waits, runs or is to be retried. Ordered by what decides: a time or a rank, then
/// who came first.
type Entry = (u64, u64, usize, u32);

/// A simulation in the plainest way: it looks at every second and sorts lists.
struct Plain<'a> {
    jobs: &'a [LogJob],
    /// Jobs that were not submitted yet, in the order in which they will be.
    to_come: Vec<usize>,
    limit: u32,
    delay: u64,
    strict: bool,
    free: usize,
    waiting: Vec<Entry>,
    running: Vec<Entry>,
    retries: Vec<Entry>,
    count: u64,
    first_starts: Vec<Option<u64>>,
    last_end: u64,
}

impl<'a> Plain<'a> {
    fn new(jobs: &'a [LogJob], strict: bool, workers: usize, limit: u32, delay: u64) -> Self {
        let mut to_come: Vec<_> = (0..jobs.len()).collect();
        to_come.sort_by_key(|&job| jobs[job].submit);
        Self {
            jobs,
            to_come,
            limit,
            delay,
            strict,
            free: workers,
            waiting: Vec::new(),
            running: Vec::new(),
            retries: Vec::new(),
            count: 0,
            first_starts: vec![None; jobs.len()],
            last_end: 0,
        }
    }

    fn entry(&mut self, key: u64, job: usize, attempt: u32) -> Entry {
        self.count += 1;
        (key, self.count, job, attempt)
    }

    /// Retries pass fresh jobs of their priority, but no others.
    fn wait(&mut self, job: usize, attempt: u32) {
        let priority = if self.strict { self.jobs[job].queue } else { 0 };
        let entry = self.entry(2 * priority + u64::from(attempt == 1), job, attempt);
        self.waiting.push(entry);
    }

    fn take_due(&mut self, now: u64) {
        for (_, _, job, attempt) in up_to(&mut self.retries, now) {
            self.wait(job, attempt);
        }
    }

    fn end_runs(&mut self, now: u64) {
        for (_, _, job, attempt) in up_to(&mut self.running, now) {
            self.free += 1;
            self.last_end = now;
            if self.jobs[job].status == 0 && attempt <= self.limit {
                let retry = self.entry(now + self.delay, job, attempt + 1);
                self.retries.push(retry);
            }
        }
    }

    fn start(&mut self, now: u64) {
        self.waiting.sort_unstable();
        let count = self.free.min(self.waiting.len());
        for (_, _, job, attempt) in self.waiting.drain(..count).collect::<Vec<_>>() {
            self.free -= 1;
            self.first_starts[job].get_or_insert(now);
            let run = self.entry(now + self.jobs[job].run, job, attempt);
            self.running.push(run);
        }
    }

    /// Runs all of it: when each job was first started, and when the last run ended.
    fn run(mut self) -> (Vec<u64>, u64) {
        let mut now = 0;
        while !(self.to_come.is_empty() && self.running.is_empty() && self.retries.is_empty()) {
            let before = self.count;
            self.take_due(now);
            self.end_runs(now);
            self.take_due(now);
            let jobs = self.jobs;
            for job in
                self.to_come.extract_if(.., |job| jobs[*job].submit <= now).collect::<Vec<_>>()
            {
                self.wait(job, 1);
            }
            self.start(now);
            // What takes no time is followed by more in the same second.
            now += u64::from(self.count == before);
        }
        let starts = self.first_starts.into_iter().map(|start| start.expect("every job starts"));
        (starts.collect(), self.last_end)
    }
}

/// Takes out what comes up to `now`, in order.
fn up_to(list: &mut Vec<Entry>, now: u64) -> Vec<Entry> {
    list.sort_unstable();
    let count = list.partition_point(|entry| entry.0 <= now);
    list.drain(..count).collect()
}

/// The smallest wait that a share of the jobs did not exceed, in hundredths.
fn percentile(waits: &[u64], hundredths: usize) -> f64 {
    let rank = (hundredths * waits.len()).div_ceil(100);
    waits[rank - 1] as f64
}

fn plain_waits(jobs: &[LogJob], starts: &[u64]) -> Vec<WaitSeconds> {
    let mut queues: Vec<_> = jobs.iter().map(|job| job.queue).collect();
    queues.sort_unstable();
    queues.dedup();
    let of_queue = |queue| {
        let of_job = jobs.iter().zip(starts).filter(|(job, _)| job.queue == queue);
        let mut waits: Vec<_> = of_job.map(|(job, start)| start - job.submit).collect();
        waits.sort_unstable();
        let [p50, p90, p99, max] = [50, 90, 99, 100].map(|share| percentile(&waits, share));
        WaitSeconds { p50, p90, p99, max }
    };
    queues.into_iter().map(of_queue).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_job_ends_once_and_runs_are_the_limit_plus_one(
        jobs in logs(4), workers in 1..5_usize, limit in 0..4_u32, delay in 0..6_u64,
    ) {
        for policy in Policy::ALL {
            let report = replayed(&jobs, policy, workers, limit, delay);
            prop_assert_eq!(report.jobs, report.done + report.dead + report.discarded);
            let runs = report.done + report.discarded + report.dead * (u64::from(limit) + 1);
            prop_assert_eq!(report.runs, runs);
            let of_status = |status| jobs.iter().filter(|job| job.status == status).count() as u64;
            let ends = [report.dead, report.done, report.discarded];
            prop_assert_eq!(ends, [0, 1, 5].map(of_status));
            let of_bands: u64 = report.bands.iter().map(|band| band.jobs).sum();
            prop_assert_eq!(of_bands, report.jobs);
        }
    }

    #[test]
    fn with_one_band_both_policies_are_one(
        jobs in logs(1), workers in 1..4_usize, limit in 0..3_u32, delay in 0..4_u64,
    ) {
        let strict = replayed(&jobs, Policy::Strict, workers, limit, delay);
        let fifo = replayed(&jobs, Policy::Fifo, workers, limit, delay);
        prop_assert_eq!(ReplayReport { policy: Policy::Fifo, ..strict }, fifo);
    }

    #[test]
    fn the_plainest_simulation_finds_the_same(
        jobs in logs(4), workers in 1..5_usize, limit in 0..4_u32, delay in 0..6_u64,
    ) {
        let first = jobs.iter().map(|job| job.submit).min().unwrap_or_default();
        for policy in Policy::ALL {
            let report = replayed(&jobs, policy, workers, limit, delay);
            let strict = policy == Policy::Strict;
            let (starts, last_end) = Plain::new(&jobs, strict, workers, limit, delay).run();
            let waits: Vec<_> = report.bands.iter().map(|band| band.wait_s).collect();
            prop_assert_eq!(waits, plain_waits(&jobs, &starts), "{}", policy);
            prop_assert_eq!(report.span_s, (last_end - first) as f64);
        }
    }
}
