//! `overtake compare`: ours beside the other designs, in one run.

use std::fmt::Write as _;

use indicatif::{ProgressBar, ProgressStyle};
use overtake_sim::compare::{CellReport, Comparison, Effort, compare};
use overtake_sim::contenders::{Contender, Visitor, for_each};

use crate::args::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::say;

pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    if args.list {
        let mut list = List(String::new());
        for_each(&mut list);
        say::stdout(list.0.as_bytes())?;
        return Ok(Exit::Fine);
    }
    let effort = if args.quick { Effort::QUICK } else { Effort::FULL };
    // Drawn only where standard error is a terminal.
    let bar = ProgressBar::new(0).with_style(style());
    let comparison = compare(effort, |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let text =
        if args.json { serde_json::to_string(&comparison)? + "\n" } else { as_table(&comparison) };
    say::stdout(text.as_bytes())?;
    Ok(Exit::Fine)
}

struct List(String);

impl Visitor for List {
    fn visit<C: Contender>(&mut self) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{:<18}{}", C::NAME, C::DESIGN);
    }
}

fn style() -> ProgressStyle {
    // The template is a constant; should it ever be wrong, the default bar is shown.
    ProgressStyle::with_template("comparing [{bar:40}] {pos}/{len}, about {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn as_table(comparison: &Comparison) -> String {
    let machine = &comparison.machine;
    let kind = if machine.virtual_machine { "virtual machine" } else { "machine" };
    let mut text = format!(
        "{}, {} cores, {kind}, Linux {}\n\n{:<28} {:<17} {:>10} {:>10}  {:<18} {:>6}  {}\n",
        machine.processor,
        machine.cores,
        machine.kernel,
        "workload",
        "metric",
        "ours",
        "best peer",
        "which",
        "ratio",
        "spread"
    );
    for cell in &comparison.cells {
        let CellReport {
            workload, metric, unit, ours, best_peer, best_value, ratio, spread, ..
        } = cell;
        let metric = format!("{metric}, {unit}");
        let [low, high] = spread;
        let _ = writeln!(
            text,
            "{workload:<28} {metric:<17} {ours:>10.2} {best_value:>10.2}  {best_peer:<18} \
             {ratio:>5.2}×  {low:.2} to {high:.2}"
        );
    }
    text + "\nA ratio above 1 is in our favour: the median over the rounds, each of which all took part in.\n"
}
