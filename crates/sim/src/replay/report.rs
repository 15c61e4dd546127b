//! What a replay shows.

use std::time::Duration;

use serde::Serialize;

use super::simulation::Simulated;
use super::{Options, Policy};
use crate::trace::{Banding, LoggedOutcome, Trace};

/// The figures of one replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayReport {
    /// Data lines of the log.
    pub lines: u64,
    /// Jobs replayed.
    pub jobs: u64,
    /// Lines left out; `lines = jobs + skipped`.
    pub skipped: u64,
    /// Jobs that completed, says the log.
    pub completed: u64,
    /// Jobs that failed, says the log.
    pub failed: u64,
    /// Jobs that were cancelled, says the log.
    pub cancelled: u64,
    /// Runs in the replay, retries included.
    pub runs: u64,
    /// Jobs that ended well in the replay.
    pub done: u64,
    /// Jobs that became dead letters in the replay.
    pub dead: u64,
    /// Jobs that were discarded in the replay: the cancelled ones.
    pub discarded: u64,
    /// The order in which jobs were started.
    #[serde(serialize_with = "as_text")]
    pub policy: Policy,
    /// How many jobs could run at once.
    pub workers: usize,
    /// What the bands were made by.
    pub bands_by: String,
    /// From the first submission to the end of the last run, in seconds of the log.
    pub span_s: f64,
    /// Each band, the most urgent first.
    pub bands: Vec<BandWaits>,
}

/// How long the jobs of one band waited for their first start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BandWaits {
    /// The band; 0 is the most urgent.
    pub band: usize,
    /// What its jobs have in common.
    pub label: String,
    /// How many jobs it has.
    pub jobs: u64,
    /// The waits.
    pub wait_s: WaitSeconds,
}

/// Percentiles of waits, in seconds: the smallest wait that this share of jobs did not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WaitSeconds {
    /// Half of the jobs waited no longer.
    pub p50: f64,
    /// 90 % waited no longer.
    pub p90: f64,
    /// 99 % waited no longer.
    pub p99: f64,
    /// Nobody waited longer.
    pub max: f64,
}

pub(super) fn make(
    trace: &Trace,
    banding: &Banding,
    options: &Options,
    simulated: Simulated,
) -> ReplayReport {
    let logged = |outcome| trace.jobs.iter().filter(|job| job.outcome == outcome).count() as u64;
    let band = |(band, mut waits): (usize, Vec<Duration>)| {
        waits.sort_unstable();
        BandWaits {
            band,
            label: banding.labels[band].clone(),
            jobs: waits.len() as u64,
            wait_s: WaitSeconds::of_sorted(&waits),
        }
    };
    ReplayReport {
        lines: trace.lines,
        jobs: trace.jobs.len() as u64,
        skipped: trace.skipped.len() as u64,
        completed: logged(LoggedOutcome::Completed),
        failed: logged(LoggedOutcome::Failed),
        cancelled: logged(LoggedOutcome::Cancelled),
        runs: simulated.counts.runs,
        done: simulated.counts.done,
        dead: simulated.counts.dead,
        discarded: simulated.counts.discarded,
        policy: options.policy,
        workers: options.workers,
        bands_by: banding.by.to_string(),
        span_s: simulated.ended_at.as_secs_f64(),
        bands: simulated.waits.into_iter().enumerate().map(band).collect(),
    }
}

impl WaitSeconds {
    fn of_sorted(waits: &[Duration]) -> Self {
        let at = |share: f64| {
            let rank = (share * waits.len() as f64).ceil() as usize;
            waits.get(rank.saturating_sub(1)).map_or(0.0, Duration::as_secs_f64)
        };
        Self { p50: at(0.50), p90: at(0.90), p99: at(0.99), max: at(1.0) }
    }
}

fn as_text<S: serde::Serializer>(policy: &Policy, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(policy.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_wait_that_occurred() {
        let waits: Vec<_> = (1..=100).map(Duration::from_secs).collect();
        let all = WaitSeconds { p50: 50.0, p90: 90.0, p99: 99.0, max: 100.0 };
        assert_eq!(WaitSeconds::of_sorted(&waits), all);
        let one = WaitSeconds { p50: 7.0, p90: 7.0, p99: 7.0, max: 7.0 };
        assert_eq!(WaitSeconds::of_sorted(&[Duration::from_secs(7)]), one);
        assert_eq!(WaitSeconds::of_sorted(&[]), WaitSeconds::default());
    }
}
