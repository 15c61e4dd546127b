//! `overtake compare`: ours beside the other designs, in one run.

use std::fmt::Write as _;

use indicatif::{ProgressBar, ProgressStyle};
use overtake_sim::compare::{CELLS, CellReport, Comparison, Effort, Selection, compare};
use overtake_sim::contenders::{Contender, Visitor, for_each};

use crate::args::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::say;

pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    if args.list {
        say::stdout(list().as_bytes())?;
        return Ok(Exit::Fine);
    }
    let selection = Selection { only: args.only.clone(), against: args.against.clone() };
    refuse_unknown(&selection)?;
    let mut effort = if args.quick { Effort::QUICK } else { Effort::FULL };
    effort.rounds = args.rounds.map_or(effort.rounds, |rounds| rounds as usize);
    // Drawn only where standard error is a terminal.
    let bar = ProgressBar::new(0).with_style(style());
    let comparison = compare(effort, &selection, |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let text = if args.json {
        serde_json::to_string(&comparison)? + "\n"
    } else {
        as_table(&comparison, args.all)
    };
    say::stdout(text.as_bytes())?;
    Ok(Exit::Fine)
}

fn refuse_unknown(selection: &Selection) -> Result<(), Failure> {
    let Designs(designs) = Designs::all();
    let names: Vec<_> = designs.iter().map(|design| design.name).collect();
    if let Some(name) = selection.against.iter().find(|name| !names.contains(&name.as_str())) {
        let names = names.join(", ");
        return Err(Failure::new(format!("`{name}` is no contender; the contenders are {names}")));
    }
    if selection.cells().is_empty() {
        let workloads: Vec<_> = CELLS.iter().map(|cell| format!("`{}`", cell.workload)).collect();
        let (only, workloads) = (selection.only.join(" "), workloads.join(", "));
        return Err(Failure::new(format!("no workload contains `{only}`; there are {workloads}")));
    }
    Ok(())
}

struct Design {
    name: &'static str,
    design: &'static str,
    cannot: Vec<&'static str>,
}

struct Designs(Vec<Design>);

impl Designs {
    fn all() -> Self {
        let mut designs = Self(Vec::new());
        for_each(&mut designs);
        designs
    }
}

impl Visitor for Designs {
    fn visit<C: Contender>(&mut self) {
        let abilities = [
            (C::PRIORITY, "no priority"),
            (C::STRICT || !C::PRIORITY, "may pass urgent items"),
            (C::FIFO, "no order among equals"),
            (C::CAPACITY_PER_BAND || !C::PRIORITY, "one capacity for all bands"),
            (C::BLOCKS, "polls"),
            (C::MANY_RECEIVERS, "one receiver"),
        ];
        let cannot = abilities.into_iter().filter(|(can, _)| !can).map(|(_, lack)| lack).collect();
        self.0.push(Design { name: C::NAME, design: C::DESIGN, cannot });
    }
}

fn list() -> String {
    let mut text = String::new();
    for Design { name, design, cannot } in Designs::all().0 {
        let lacks =
            if cannot.is_empty() { String::new() } else { format!(" ({})", cannot.join(", ")) };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<18}{design}{lacks}");
    }
    text
}

fn style() -> ProgressStyle {
    // The template is a constant; should it ever be wrong, the default bar is shown.
    ProgressStyle::with_template("comparing [{bar:40}] {pos}/{len}, about {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn as_table(comparison: &Comparison, all: bool) -> String {
    let machine = &comparison.machine;
    let kind = if machine.virtual_machine { "virtual machine" } else { "machine" };
    let mut text = format!(
        "{}, {} cores, {kind}, Linux {}; {} rounds\n\n{:<28} {:<26} {:>10} {:>10}  {:<18} {:>7}  {}\n",
        machine.processor,
        machine.cores,
        machine.kernel,
        comparison.rounds,
        "workload",
        "metric",
        "ours",
        "best peer",
        "which",
        "ratio",
        "spread"
    );
    for cell in &comparison.cells {
        text += &as_row(cell);
        if all && !cell.reference {
            text += &as_values(cell);
        }
    }
    text + "\nA ratio above 1 is in our favour: the median over the rounds, each of which all took part in.\n\
            * has no priorities and is shown for scale.\n"
}

fn as_row(cell: &CellReport) -> String {
    let CellReport { workload, metric, unit, ours, best_peer, best_value, ratio, spread, .. } =
        cell;
    let metric = format!("{metric}, {unit}");
    let peer = if cell.reference { format!("{best_peer} *") } else { (*best_peer).to_owned() };
    let [low, high] = spread;
    format!(
        "{workload:<28} {metric:<26} {ours:>10.2} {best_value:>10.2}  {peer:<18} {ratio:>6.2}×  \
         {low:.2} to {high:.2}\n"
    )
}

/// The figures of all designs, in the order of their names.
fn as_values(cell: &CellReport) -> String {
    let value = |(name, value): (&&str, &f64)| format!("{:>56}{value:>10.2}  {name}\n", "");
    cell.values.iter().map(value).collect()
}
