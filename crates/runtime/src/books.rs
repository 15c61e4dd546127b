//! Counting: what was accepted, and what became of it (G6).

use std::ops::AddAssign;
use std::sync::Mutex;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::lock::lock;

/// The four ends of an accepted job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinalState {
    Done,
    Discarded,
    Dead,
    Returned,
}

/// How many jobs were accepted, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs taken in.
    pub accepted: u64,
    /// Jobs that a handler finished.
    pub done: u64,
    /// Jobs that a handler found no longer wanted.
    pub discarded: u64,
    /// Jobs that became dead letters.
    pub dead: u64,
    /// Jobs handed back at shutdown.
    pub returned: u64,
    /// Runs of a handler.
    pub runs: u64,
    /// Runs whose job had failed before: attempts after the first.
    pub retried: u64,
    /// Runs that failed.
    pub failed: u64,
}

impl Counts {
    /// How many accepted jobs have come to their end.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.done + self.discarded + self.dead + self.returned
    }

    /// Whether every accepted job has come to exactly one end.
    #[must_use]
    pub fn balance(&self) -> bool {
        self.accepted == self.ended()
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        let Self { accepted, done, discarded, dead, returned, runs, retried, failed } = other;
        self.accepted += accepted;
        self.done += done;
        self.discarded += discarded;
        self.dead += dead;
        self.returned += returned;
        self.runs += runs;
        self.retried += retried;
        self.failed += failed;
    }
}

/// How long jobs waited from submission to their first start, in microseconds.
#[derive(Clone, Debug)]
pub struct Waits {
    histogram: Histogram<u64>,
}

impl Waits {
    fn new() -> Self {
        // Three significant digits; the range grows as needed. The arguments are constants that
        // the constructor takes.
        let histogram = Histogram::new(3).unwrap_or_else(|_| unreachable!("3 digits are valid"));
        Self { histogram }
    }

    fn record(&mut self, wait: Duration) {
        let micros = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
        // It grows as needed, up to all that 64 bits hold.
        let _ = self.histogram.record(micros);
    }

    fn merge(&mut self, other: &Self) {
        // Both grow as needed, so nothing can be out of range.
        let _ = self.histogram.add(&other.histogram);
    }

    /// How many jobs were started.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The wait in microseconds that this share of the jobs did not exceed, within 0.1 %.
    /// 0 if no job was started.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        self.histogram.value_at_percentile(percent)
    }

    /// The longest wait in microseconds, within 0.1 %. 0 if no job was started.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.histogram.max()
    }
}

/// One page of the books: what one worker counted.
#[derive(Clone, Debug)]
struct Page {
    counts: Vec<Counts>,
    waits: Vec<Waits>,
}

/// The books. Each worker writes a page of its own, publishers share one.
#[derive(Debug)]
pub(crate) struct Books {
    pages: Vec<Mutex<Page>>,
}

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// Publishers, the retry timer, a shutdown.
    Outside,
    Worker(usize),
}

impl Writer {
    fn page(self) -> usize {
        match self {
            Self::Outside => 0,
            Self::Worker(index) => index + 1,
        }
    }

    pub(crate) fn worker(self) -> Option<usize> {
        match self {
            Self::Outside => None,
            Self::Worker(index) => Some(index),
        }
    }
}

impl Books {
    pub(crate) fn new(priorities: usize, workers: usize) -> Self {
        let page = || {
            let waits = vec![Waits::new(); priorities];
            Mutex::new(Page { counts: vec![Counts::default(); priorities], waits })
        };
        Self { pages: (0..=workers).map(|_| page()).collect() }
    }

    pub(crate) fn accepted(&self, priority: usize) {
        self.write(Writer::Outside, |page| page.counts[priority].accepted += 1);
    }

    /// A run begins. `wait` is that of a job's first run here.
    pub(crate) fn started(
        &self,
        by: Writer,
        priority: usize,
        wait: Option<Duration>,
        is_retry: bool,
    ) {
        self.write(by, |page| {
            page.counts[priority].runs += 1;
            page.counts[priority].retried += u64::from(is_retry);
            if let Some(wait) = wait {
                page.waits[priority].record(wait);
            }
        });
    }

    pub(crate) fn failed(&self, by: Writer, priority: usize) {
        self.write(by, |page| page.counts[priority].failed += 1);
    }

    pub(crate) fn ended(&self, by: Writer, priority: usize, state: FinalState) {
        self.write(by, |page| {
            let counts = &mut page.counts[priority];
            match state {
                FinalState::Done => counts.done += 1,
                FinalState::Discarded => counts.discarded += 1,
                FinalState::Dead => counts.dead += 1,
                FinalState::Returned => counts.returned += 1,
            }
        });
    }

    /// The counts and waits of each priority.
    pub(crate) fn read(&self) -> Vec<(Counts, Waits)> {
        let priorities = lock(&self.pages[0]).counts.len();
        let mut sums = vec![(Counts::default(), Waits::new()); priorities];
        for page in &self.pages {
            let page = lock(page);
            for (sum, (counts, waits)) in sums.iter_mut().zip(page.counts.iter().zip(&page.waits)) {
                sum.0 += *counts;
                sum.1.merge(waits);
            }
        }
        sums
    }

    fn write(&self, by: Writer, entry: impl FnOnce(&mut Page)) {
        entry(&mut lock(&self.pages[by.page()]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_any_length_is_recorded_within_a_thousandth() {
        let mut waits = Waits::new();
        for seconds in [0, 1, 60, 86_400 * 365] {
            waits.record(Duration::from_secs(seconds));
        }
        waits.record(Duration::MAX);
        assert_eq!(waits.count(), 5);
        let year = 86_400 * 365 * 1_000_000_u64;
        assert!(waits.percentile(80.0).abs_diff(year) <= year / 1_000, "{waits:?}");
        assert!(waits.max() > u64::MAX / 1_000 * 999, "{waits:?}");
    }

    #[test]
    fn pages_add_up() {
        let books = Books::new(2, 2);
        books.accepted(1);
        books.started(Writer::Worker(0), 1, Some(Duration::from_secs(1)), false);
        books.started(Writer::Worker(1), 1, None, true);
        books.ended(Writer::Worker(1), 1, FinalState::Done);
        let read = books.read();
        assert_eq!(read[0].0, Counts::default());
        let expected = Counts { accepted: 1, done: 1, runs: 2, retried: 1, ..Counts::default() };
        assert_eq!(read[1].0, expected);
        assert!(expected.balance());
        assert_eq!(read[1].1.count(), 1);
    }
}
