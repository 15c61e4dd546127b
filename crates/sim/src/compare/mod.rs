//! The comparison: every contender does the same work, in rounds that take turns.
//!
//! A figure of ours is always shown beside the best peer's from the same run. What is compared is
//! the ratio within a round, where the machine is as fast or slow for both; its median and its
//! spread over the rounds are what is worth quoting.

mod cells;
mod machine;
mod report;
mod statistics;

use serde::Serialize;

use crate::contenders::{Contender, Overtake, Visitor, for_each};

pub use cells::{CELLS, Cell, Metric};
pub use machine::Machine;
pub use report::CellReport;

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
    /// How many rounds count, at least one; one more comes before, as warm-up.
    pub rounds: usize,
    /// How much each round does, 1 being a quick look.
    pub scale: u32,
    /// Whether the designs without priority do everything, or only what is quickly done.
    pub references: bool,
}

impl Effort {
    /// Under a minute on two cores.
    pub const QUICK: Self = Self { rounds: 4, scale: 1, references: false };
    /// Some minutes.
    pub const FULL: Self = Self { rounds: 11, scale: 3, references: true };
}

/// What to compare: everything where nothing is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only cells whose workload contains one of these.
    pub only: Vec<String>,
    /// Only these contenders, and ours.
    pub against: Vec<String>,
}

impl Selection {
    /// The cells that were asked for.
    #[must_use]
    pub fn cells(&self) -> Vec<&'static Cell> {
        let named = |cell: &Cell| self.only.iter().any(|part| cell.workload.contains(part));
        CELLS.iter().filter(|cell| self.only.is_empty() || named(cell)).collect()
    }

    fn holds(&self, name: &str) -> bool {
        self.against.is_empty() || name == Overtake::NAME || self.against.iter().any(|n| n == name)
    }
}

/// A whole comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Where it ran.
    pub machine: Machine,
    /// How many rounds each figure is the median of.
    pub rounds: usize,
    /// The lines.
    pub cells: Vec<CellReport>,
}

/// Compares. `progress` is told of each step: how many are done, and how many there are.
pub fn compare(
    effort: Effort,
    selection: &Selection,
    mut progress: impl FnMut(usize, usize),
) -> Comparison {
    let machine = Machine::here();
    let cells = selection.cells();
    // The first round of each warms caches, allocators and clocks up.
    let turns = 1 + effort.rounds;
    let steps = cells.len() * turns;
    let mut lines = Vec::new();
    for (index, cell) in cells.into_iter().enumerate() {
        let mut rounds = Vec::new();
        for turn in 0..turns {
            progress(index * turns + turn, steps);
            let round = one_round(cell, effort, selection, turn);
            rounds.extend((turn > 0).then_some(round));
        }
        lines.extend(report::lines(cell, &rounds));
    }
    progress(steps, steps);
    Comparison { machine, rounds: effort.rounds, cells: lines }
}

/// What one contender did in one round.
#[derive(Clone, Debug)]
struct Entry {
    name: &'static str,
    priority: bool,
    /// One for each metric.
    figures: Vec<f64>,
}

/// Of all contenders that could do it.
type Round = Vec<Entry>;

/// Each round has an order of its own, so that none always comes first, or after the same one. The
/// entries are in the order of the list all the same.
fn one_round(cell: &Cell, effort: Effort, selection: &Selection, turn: usize) -> Round {
    let mut counted = Counted(0);
    for_each(&mut counted);
    let mut round = vec![None; counted.0];
    for which in statistics::shuffled(counted.0, turn as u64) {
        let mut one = One { cell, effort, selection, which, nth: 0, entry: None };
        for_each(&mut one);
        round[which] = one.entry;
    }
    round.into_iter().flatten().collect()
}

struct Counted(usize);

impl Visitor for Counted {
    fn visit<C: Contender>(&mut self) {
        self.0 += 1;
    }
}

/// Measures one contender of the list.
struct One<'a> {
    cell: &'a Cell,
    effort: Effort,
    selection: &'a Selection,
    which: usize,
    nth: usize,
    entry: Option<Entry>,
}

impl Visitor for One<'_> {
    fn visit<C: Contender>(&mut self) {
        let here = self.nth == self.which;
        self.nth += 1;
        let wanted = C::PRIORITY || self.effort.references || self.cell.is_for_scale();
        if here && wanted && self.selection.holds(C::NAME) {
            let entry = |figures| Entry { name: C::NAME, priority: C::PRIORITY, figures };
            self.entry = self.cell.measure::<C>(self.effort).map(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_names_cells_by_a_part_and_contenders_in_full() {
        let select = |only: &[&str]| {
            let only = only.iter().map(|&part| part.to_owned()).collect();
            Selection { only, against: vec!["mutex_map".to_owned()] }
        };
        assert_eq!(select(&[]).cells().len(), CELLS.len());
        assert_eq!(select(&["flood", "2 to 2"]).cells().len(), 2);
        assert!(select(&["no such"]).cells().is_empty());
        let held = ["overtake", "mutex_map", "mutex"].map(|name| select(&[]).holds(name));
        assert_eq!(held, [true, true, false]);
    }

    #[test]
    fn every_contender_is_measured_once_a_round_wherever_it_begins() {
        let selection = Selection { against: vec!["mutex_map".to_owned()], ..Selection::default() };
        for turn in 0..5 {
            let round = one_round(&CELLS[0], Effort::QUICK, &selection, turn);
            let names: Vec<_> = round.iter().map(|entry| entry.name).collect();
            assert_eq!(names, ["overtake", "mutex_map"], "{turn}");
        }
    }

    #[test]
    fn every_cell_has_a_line_for_each_metric() {
        let selection =
            Selection { against: vec!["mutex_bands".to_owned()], ..Selection::default() };
        let effort = Effort { rounds: 1, ..Effort::QUICK };
        let comparison = compare(effort, &selection, |_, _| {});
        for cell in CELLS {
            let lines = || comparison.cells.iter().filter(|line| line.workload == cell.workload);
            // A machine that is busy enough lets no urgent item through in time.
            let expected = if matches!(cell.work, cells::Work::Flood) { 0 } else { 1 };
            for metric in cell.metrics {
                let line = |line: &&CellReport| line.metric == metric.name;
                assert!(lines().filter(line).count() >= expected, "{}", cell.workload);
            }
            assert!(lines().all(|line| line.ours.is_finite() && line.ratio >= 0.0));
        }
    }
}
