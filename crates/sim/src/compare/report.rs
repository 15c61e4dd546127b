//! From the figures of the rounds to the lines of a comparison.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cells::{Cell, Metric};
use super::statistics::{interval_of_median, median, spread};
use super::{Better, Entry, Round};
use crate::contenders::{Contender, Overtake};

/// One line of the comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellReport {
    /// What was done.
    pub workload: &'static str,
    /// What was measured.
    pub metric: &'static str,
    /// In what.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Whether the peer is a design without priority, shown for scale.
    pub reference: bool,
    /// Our median.
    pub ours: f64,
    /// The peer with the best median.
    pub best_peer: &'static str,
    /// Its median.
    pub best_value: f64,
    /// The median over the rounds of how many times better we were than that peer; above 1 is in
    /// our favour.
    pub ratio: f64,
    /// The smallest and the largest of these.
    pub spread: [f64; 2],
    /// Where that median would lie in 95 of 100 comparisons like this one.
    pub interval: [f64; 2],
    /// The median of each contender that could do it.
    pub values: BTreeMap<&'static str, f64>,
}

/// The lines of one cell: for each metric one beside the best peer, and one beside a design without
/// priority, as far as there are any.
pub(super) fn lines(cell: &Cell, rounds: &[Round]) -> Vec<CellReport> {
    let metrics = cell.metrics.iter().enumerate();
    metrics
        .flat_map(|(nth, metric)| {
            let figures = Figures { cell, metric, nth, rounds };
            [figures.best_peer(true), figures.best_peer(false)]
                .into_iter()
                .flatten()
                .filter_map(move |peer| figures.line(peer))
        })
        .collect()
}

/// One metric of one cell.
#[derive(Clone, Copy)]
struct Figures<'a> {
    cell: &'a Cell,
    metric: &'a Metric,
    nth: usize,
    rounds: &'a [Round],
}

impl<'a> Figures<'a> {
    fn contenders(self) -> impl Iterator<Item = &'a Entry> {
        self.rounds.first().into_iter().flatten()
    }

    /// A contender's figure in each round in which it has one.
    fn of(self, name: &str) -> Vec<f64> {
        let entries = self.rounds.iter().flatten().filter(|entry| entry.name == name);
        entries.map(|entry| entry.figures[self.nth]).collect()
    }

    fn median_of(self, name: &str) -> f64 {
        median(self.of(name))
    }

    /// How many times better one figure is than the other.
    fn ratio(self, ours: f64, theirs: f64) -> f64 {
        let (ours, theirs) = (ours.max(self.metric.floor), theirs.max(self.metric.floor));
        match self.metric.better {
            Better::Lower => theirs / ours,
            Better::Higher => ours / theirs,
        }
    }

    /// The best of those with or without priority, the first of equals.
    fn best_peer(self, priority: bool) -> Option<&'a Entry> {
        let peers = || {
            self.contenders()
                .filter(move |entry| entry.priority == priority && entry.name != Overtake::NAME)
        };
        let reference = self.cell.reference().filter(|_| !priority);
        let named = peers().find(|entry| Some(entry.name) == reference);
        named.or_else(|| {
            peers().reduce(|best, next| {
                let better = self.ratio(self.median_of(next.name), self.median_of(best.name)) > 1.0;
                if better { next } else { best }
            })
        })
    }

    fn line(self, peer: &Entry) -> Option<CellReport> {
        let ours = Some(self.of(Overtake::NAME)).filter(|ours| !ours.is_empty())?;
        let ratios: Vec<_> = ours
            .iter()
            .zip(self.of(peer.name))
            .map(|(&ours, theirs)| self.ratio(ours, theirs))
            .collect();
        Some(CellReport {
            workload: self.cell.workload,
            metric: self.metric.name,
            unit: self.metric.unit,
            better: self.metric.better,
            reference: !peer.priority,
            ours: median(ours),
            best_peer: peer.name,
            best_value: self.median_of(peer.name),
            ratio: median(ratios.clone()),
            spread: spread(&ratios),
            interval: interval_of_median(&ratios),
            values: self
                .contenders()
                .map(|entry| (entry.name, self.median_of(entry.name)))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::cells::Work;

    fn report(better: Better, floor: f64, rounds: &[[f64; 4]]) -> Vec<CellReport> {
        let metrics = [Metric { name: "m", unit: "u", better, floor }];
        let cell = Cell { workload: "w", metrics: Box::leak(Box::new(metrics)), work: Work::Flood };
        let named = [("overtake", true), ("slow", true), ("peer", true), ("fifo", false)];
        let entry = |((name, priority), figure)| Entry { name, priority, figures: vec![figure] };
        let rounds: Vec<Round> =
            rounds.iter().map(|round| named.into_iter().zip(*round).map(entry).collect()).collect();
        lines(&cell, &rounds)
    }

    #[test]
    fn a_ratio_above_one_is_in_our_favour_either_way() {
        let rounds = [20.0, 40.0, 30.0].map(|peer| [10.0, 1_000.0, peer, 1.0]);
        let [lower, reference] = &report(Better::Lower, 0.0, &rounds)[..] else { panic!("two") };
        assert_eq!((lower.best_peer, lower.ratio, lower.spread), ("peer", 3.0, [2.0, 4.0]));
        assert_eq!((lower.reference, lower.interval), (false, [2.0, 4.0]));
        assert_eq!((reference.best_peer, reference.ratio), ("fifo", 0.1));
        assert!(reference.reference);
        let higher = &report(Better::Higher, 0.0, &rounds)[0];
        assert_eq!((higher.best_peer, higher.ratio), ("slow", 0.01));
        let values = [("fifo", 1.0), ("overtake", 10.0), ("peer", 30.0), ("slow", 1_000.0)];
        assert_eq!(higher.values, BTreeMap::from(values));
    }

    #[test]
    fn what_is_below_the_floor_is_level() {
        let line = &report(Better::Lower, 1.0, &[[0.0, 0.5, 8.0, 0.0]])[0];
        assert_eq!((line.best_peer, line.ratio, line.ours), ("slow", 1.0, 0.0));
        assert_eq!(report(Better::Lower, 1.0, &[[0.0, 9.0, 8.0, 0.0]])[0].ratio, 8.0);
        // A peer that was not let run for a whole round: the ratio stays a number.
        assert_eq!(report(Better::Higher, 0.5, &[[4.0, 0.0, 0.0, 0.0]])[0].ratio, 8.0);
    }
}
