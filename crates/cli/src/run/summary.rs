//! What a run came to, as a JSON object or as a table.

use std::fmt::Write as _;
use std::time::Duration;

use overtake_runtime::{PriorityReport, Report};
use serde::Serialize;

use super::intake::Taken;
use crate::exit::{Exit, Failure};
use crate::job_line::CommandSpec;
use crate::say;

/// `accepted = done + dead + discarded + returned`; refused lines are not accepted.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    accepted: u64,
    done: u64,
    /// Attempts after the first.
    retried: u64,
    dead: u64,
    discarded: u64,
    returned: u64,
    refused: u64,
    elapsed_ms: u64,
    bands: Vec<BandSummary>,
}

#[derive(Debug, Serialize)]
struct BandSummary {
    priority: usize,
    accepted: u64,
    done: u64,
    dead: u64,
    /// From submission to the first start, in microseconds.
    wait_us: WaitMicros,
}

#[derive(Debug, Serialize)]
struct WaitMicros {
    p50: u64,
    p99: u64,
    max: u64,
}

impl Summary {
    pub(super) fn new(report: &Report<CommandSpec>, taken: &Taken, elapsed: Duration) -> Self {
        let late = taken.late.len() as u64;
        let late_of =
            |priority| taken.late.iter().filter(|job| job.priority() == priority).count() as u64;
        let band = |(priority, band): (usize, &PriorityReport)| BandSummary {
            priority,
            accepted: band.counts.accepted + late_of(priority),
            done: band.counts.done,
            dead: band.counts.dead,
            wait_us: WaitMicros {
                p50: band.waits.percentile(50.0),
                p99: band.waits.percentile(99.0),
                max: band.waits.max(),
            },
        };
        let totals = report.totals;
        Self {
            accepted: totals.accepted + late,
            done: totals.done,
            retried: totals.retried,
            dead: totals.dead,
            discarded: totals.discarded,
            returned: totals.returned + late,
            refused: taken.refused,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            bands: report.priorities.iter().enumerate().map(band).collect(),
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self {
            Self { returned: 1.., .. } => Exit::Interrupted,
            Self { dead: 0, refused: 0, .. } => Exit::Fine,
            _ => Exit::WithLosses,
        }
    }

    pub(super) fn print(&self, json: bool) -> Result<(), Failure> {
        let text = if json { serde_json::to_string(self)? + "\n" } else { self.table() };
        say::stdout(text.as_bytes())
    }

    fn table(&self) -> String {
        let mut text = String::from(
            "priority  accepted      done      dead    wait p50    wait p99    wait max\n",
        );
        for band in self.bands.iter().filter(|band| band.accepted > 0) {
            let BandSummary { priority, accepted, done, dead, wait_us } = band;
            let [p50, p99, max] = [wait_us.p50, wait_us.p99, wait_us.max].map(millis);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{priority:>8}  {accepted:>8}  {done:>8}  {dead:>8}  {p50:>10}  {p99:>10}  {max:>10}"
            );
        }
        let Self { accepted, done, retried, dead, discarded, returned, refused, .. } = self;
        let seconds = Duration::from_millis(self.elapsed_ms).as_secs_f64();
        let _ = writeln!(
            text,
            "{accepted} accepted in {seconds:.1} s: {done} done, {dead} dead, {discarded} discarded, \
             {returned} returned; {retried} retries; {refused} lines refused"
        );
        text
    }
}

fn millis(micros: u64) -> String {
    format!("{:.1} ms", micros as f64 / 1000.0)
}
