//! The comparison: every contender does the same work, in rounds that take turns.
//!
//! A figure of ours is always shown beside the best peer's from the same run. What is compared is
//! the ratio within a round, where the machine is as fast or slow for both; its median and its
//! spread over the rounds are what is worth quoting.

mod cells;
mod machine;

use serde::Serialize;

use crate::contenders::{Contender, Overtake, Visitor, for_each};

pub use cells::{CELLS, Cell};
pub use machine::Machine;

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Times.
    Lower,
    /// Rates.
    Higher,
}

/// How much to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many rounds; the first is thrown away as warm-up.
    pub rounds: usize,
    /// How much each round does, 1 being a quick look.
    pub scale: u32,
}

impl Effort {
    /// Under a minute on two cores.
    pub const QUICK: Self = Self { rounds: 6, scale: 1 };
    /// Some minutes.
    pub const FULL: Self = Self { rounds: 16, scale: 4 };
}

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
    /// The median of each contender.
    pub all: Vec<(&'static str, f64)>,
}

/// A whole comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Where it ran.
    pub machine: Machine,
    /// The lines.
    pub cells: Vec<CellReport>,
}

/// Compares. `progress` is told of each step: how many are done, and how many there are.
pub fn compare(effort: Effort, mut progress: impl FnMut(usize, usize)) -> Comparison {
    let machine = Machine::here();
    let steps = CELLS.len() * effort.rounds;
    let mut cells = Vec::new();
    for (index, cell) in CELLS.iter().enumerate() {
        let mut rounds = Vec::new();
        for round in 0..effort.rounds {
            progress(index * effort.rounds + round, steps);
            let mut one = Round { cell, scale: effort.scale, values: Vec::new() };
            for_each(&mut one);
            // The first round warms caches, allocators and clocks up.
            if round > 0 {
                rounds.push(one.values);
            }
        }
        cells.extend(cell.metrics.iter().enumerate().map(|(m, _)| report(cell, m, &rounds)));
    }
    progress(steps, steps);
    Comparison { machine, cells }
}

/// The figures of one round: contender by contender, metric by metric.
type Values = Vec<(&'static str, Vec<f64>)>;

struct Round<'a> {
    cell: &'a Cell,
    scale: u32,
    values: Values,
}

impl Visitor for Round<'_> {
    fn visit<C: Contender>(&mut self) {
        self.values.push((C::NAME, self.cell.measure::<C>(self.scale)));
    }
}

fn report(cell: &Cell, metric: usize, rounds: &[Values]) -> CellReport {
    let (name, unit, better) = cell.metrics[metric];
    let contenders = rounds.first().map_or(0, Vec::len);
    let of = |contender: usize| rounds.iter().map(move |round| round[contender].1[metric]);
    let all: Vec<_> = (0..contenders).map(|c| (rounds[0][c].0, median(of(c).collect()))).collect();
    let is_better = |a: f64, b: f64| match better {
        Better::Lower => a < b,
        Better::Higher => a > b,
    };
    let ours = all.iter().position(|(name, _)| *name == Overtake::NAME).unwrap_or(0);
    let best = (0..contenders)
        .filter(|&contender| contender != ours)
        .reduce(|best, next| if is_better(all[next].1, all[best].1) { next } else { best })
        .unwrap_or(ours);
    let mut ratios: Vec<_> = of(ours)
        .zip(of(best))
        .map(|(ours, peer)| match better {
            Better::Lower => peer / ours,
            Better::Higher => ours / peer,
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    CellReport {
        workload: cell.workload,
        metric: name,
        unit,
        better,
        ours: all[ours].1,
        best_peer: all[best].0,
        best_value: all[best].1,
        ratio: median(ratios.clone()),
        spread: [ratios.first().copied().unwrap_or(1.0), ratios.last().copied().unwrap_or(1.0)],
        all,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_above_one_is_in_our_favour_either_way() {
        let cell = |better| Cell {
            workload: "w",
            metrics: match better {
                Better::Lower => &[("m", "ns", Better::Lower)],
                Better::Higher => &[("m", "M/s", Better::Higher)],
            },
            work: cells::Work::Pair { bands: 1 },
        };
        let rounds: Vec<Values> = [(10.0, 20.0), (10.0, 40.0), (10.0, 30.0)]
            .map(|(ours, peer)| {
                vec![("overtake", vec![ours]), ("slow", vec![1_000.0]), ("peer", vec![peer])]
            })
            .into();
        let lower = report(&cell(Better::Lower), 0, &rounds);
        assert_eq!((lower.best_peer, lower.ratio, lower.spread), ("peer", 3.0, [2.0, 4.0]));
        let higher = report(&cell(Better::Higher), 0, &rounds);
        assert_eq!((higher.best_peer, higher.ratio), ("slow", 0.01));
        assert_eq!(higher.all, [("overtake", 10.0), ("slow", 1_000.0), ("peer", 30.0)]);
    }
}
