//! The event loop: arrivals, ends of runs, and due retries, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use overtake_runtime::{Builder, Counts, Delivery, Job, ManualRuntime, Outcome};

use super::{Options, Policy, ReplayError};
use crate::trace::{Banding, LoggedOutcome, Trace, TraceJob};

/// What a replay finds out, before it is put into words.
pub(super) struct Simulated {
    /// The wait of each job from its submission to its first start, by band.
    pub(super) waits: Vec<Vec<Duration>>,
    pub(super) counts: Counts,
    /// When the last run ended.
    pub(super) ended_at: Duration,
}

/// The payload is the job's place in the log.
type Runtime = ManualRuntime<usize>;

struct Simulation<'a> {
    trace: &'a Trace,
    banding: &'a Banding,
    policy: Policy,
    runtime: Runtime,
    free_workers: usize,
    running: BinaryHeap<Reverse<Run>>,
    started: u64,
    waits: Vec<Vec<Duration>>,
}

/// A run in progress, ordered by its end, then by its start.
struct Run {
    ends_at: Duration,
    sequence: u64,
    delivery: Delivery<usize>,
}

pub(super) fn run(
    trace: &Trace,
    banding: &Banding,
    options: &Options,
) -> Result<Simulated, ReplayError> {
    let bands = banding.labels.len();
    let capacities = match options.policy {
        Policy::Strict => banding.counts(),
        Policy::Fifo => vec![trace.jobs.len()],
    };
    let runtime = Builder::new()
        .capacities(&capacities)
        .retry(options.retry.clone())
        .manual()
        .map_err(|source| ReplayError::Runtime { bands, source })?;
    let mut simulation = Simulation {
        trace,
        banding,
        policy: options.policy,
        runtime,
        free_workers: options.workers,
        running: BinaryHeap::new(),
        started: 0,
        waits: vec![Vec::new(); bands],
    };
    simulation.run_all();
    let report = simulation.runtime.stop();
    let ended_at = simulation.runtime.now();
    debug_assert!(report.totals.balance(), "{report}");
    Ok(Simulated { waits: simulation.waits, counts: report.totals, ended_at })
}

impl Simulation<'_> {
    fn run_all(&mut self) {
        let mut arrivals = self.trace.jobs.iter().enumerate().peekable();
        loop {
            let next_arrival = arrivals.peek().map(|(_, job)| job.submit);
            let next_end = self.running.peek().map(|Reverse(run)| run.ends_at);
            let next =
                [next_arrival, next_end, self.runtime.next_due()].into_iter().flatten().min();
            let Some(now) = next else {
                break;
            };
            self.runtime.advance_to(now);
            self.end_runs(now);
            while let Some((index, job)) = arrivals.next_if(|(_, job)| job.submit <= now) {
                self.submit(index, job);
            }
            self.start_runs(now);
        }
    }

    fn end_runs(&mut self, now: Duration) {
        while self.running.peek().is_some_and(|Reverse(run)| run.ends_at <= now) {
            let Some(Reverse(run)) = self.running.pop() else {
                break;
            };
            let logged = &self.trace.jobs[*run.delivery.job().payload()];
            self.free_workers += 1;
            run.delivery.settle(outcome_of(logged));
        }
    }

    fn submit(&self, index: usize, job: &TraceJob) {
        let priority = match self.policy {
            Policy::Strict => self.banding.bands[index],
            Policy::Fifo => 0,
        };
        let job = Job::new(job.name.clone(), index).with_priority(priority);
        let accepted = self.runtime.try_publish(job);
        debug_assert!(accepted.is_ok(), "each band has room for all of its jobs: {accepted:?}");
    }

    fn start_runs(&mut self, now: Duration) {
        while self.free_workers > 0
            && let Some(delivery) = self.runtime.take()
        {
            let index = *delivery.job().payload();
            let logged = &self.trace.jobs[index];
            if delivery.job().attempt() == 1 {
                self.waits[self.banding.bands[index]].push(now.saturating_sub(logged.submit));
            }
            self.free_workers -= 1;
            self.started += 1;
            let ends_at = now.saturating_add(logged.run_time);
            self.running.push(Reverse(Run { ends_at, sequence: self.started, delivery }));
        }
    }
}

fn outcome_of(job: &TraceJob) -> Outcome {
    match job.outcome {
        LoggedOutcome::Completed => Outcome::Done,
        LoggedOutcome::Failed => Outcome::failed("failed in the log"),
        LoggedOutcome::Cancelled => Outcome::Discard,
    }
}

impl Ord for Run {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.ends_at, self.sequence).cmp(&(other.ends_at, other.sequence))
    }
}

impl PartialOrd for Run {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Run {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Run {}
