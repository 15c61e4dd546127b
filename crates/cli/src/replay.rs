//! `overtake replay`: a real log through the runtime, in simulated time.

use std::fmt::Write as _;

use overtake_sim::replay::{Options, Policy, ReplayReport, replay, workers_for};
use overtake_sim::trace::Trace;

use crate::args::ReplayArgs;
use crate::exit::{Exit, Failure};
use crate::run::retry_policy;
use crate::say;

pub(crate) fn run(args: &ReplayArgs) -> Result<Exit, Failure> {
    let trace = Trace::open(&args.trace)?;
    for skipped in &trace.skipped {
        say::note(&format!("{}: skipped {skipped}", args.trace.display()));
    }
    let name = args.trace.display();
    let banding = args.bands_by.assign(&trace).map_err(|error| Failure::because(name, &error))?;
    let retry = retry_policy(&args.retry, args.max_retries);
    let workers = args.workers.map_or_else(|| workers_for(&trace, &retry), |n| n as usize);
    let with = |policy| {
        let options = Options { policy, workers, retry: retry.clone() };
        replay(&trace, &banding, &options).map_err(Failure::from)
    };
    let text = if args.json {
        serde_json::to_string(&with(args.policy.unwrap_or_default())?)? + "\n"
    } else if let Some(policy) = args.policy {
        in_words(&[with(policy)?])
    } else {
        in_words(&[with(Policy::Strict)?, with(Policy::Fifo)?])
    };
    say::stdout(text.as_bytes())?;
    Ok(if trace.skipped.is_empty() { Exit::Fine } else { Exit::WithLosses })
}

/// The same log under one or more policies, side by side.
fn in_words(reports: &[ReplayReport]) -> String {
    let mut text = String::new();
    let Some(first) = reports.first() else {
        return text;
    };
    let ReplayReport { lines, jobs, skipped, completed, failed, cancelled, .. } = first;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "log     {lines} lines: {jobs} jobs, {skipped} skipped");
    let _ = writeln!(text, "        {completed} completed, {failed} failed, {cancelled} cancelled");
    let ReplayReport { workers, bands_by, runs, done, dead, discarded, .. } = first;
    let _ = writeln!(text, "replay  {workers} workers, bands by {bands_by}");
    let _ = writeln!(text, "        {runs} runs: {done} done, {dead} dead, {discarded} discarded");
    let _ = writeln!(text, "\nwait from submission to first start");
    let _ = writeln!(
        text,
        "policy  band  {:<18} {:>7} {:>12} {:>12} {:>12} {:>12}",
        "jobs that are", "jobs", "p50", "p90", "p99", "max"
    );
    for (report, band) in reports.iter().flat_map(|r| r.bands.iter().map(move |band| (r, band))) {
        let wait = band.wait_s;
        let [p50, p90, p99, max] = [wait.p50, wait.p90, wait.p99, wait.max].map(duration);
        let _ = writeln!(
            text,
            "{:<6}  {:>4}  {:<18} {:>7} {p50:>12} {p90:>12} {p99:>12} {max:>12}",
            report.policy, band.band, band.label, band.jobs
        );
    }
    text
}

/// The two largest units that count: `34 d 2 h`, `2 min 30 s`, `0 s`.
fn duration(seconds: f64) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    // A float that is out of range becomes the nearest number that is not.
    let mut left = seconds.round() as u64;
    let largest = UNITS.iter().position(|(unit, _)| left >= *unit).unwrap_or(UNITS.len() - 1);
    let mut parts = Vec::new();
    for (unit, name) in UNITS.iter().skip(largest).take(2) {
        let count = left / unit;
        left %= unit;
        if count > 0 || parts.is_empty() {
            parts.push(format!("{count} {name}"));
        }
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn a_duration_has_two_units() {
        let table = [
            (0.0, "0 s"),
            (59.6, "1 min"),
            (150.0, "2 min 30 s"),
            (3_600.0, "1 h"),
            (93_784.0, "1 d 2 h"),
            (2_937_600.0, "34 d"),
        ];
        for (seconds, text) in table {
            assert_eq!(duration(seconds), text);
        }
    }
}
