//! `overtake check`: is a queue, or a recorded history of one, linearizable to strict bands?

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use overtake_sim::check::{History, RecordOptions, Verdict, check, record};
use overtake_sim::contenders::{Contender, Visitor, for_each};
use serde_json::json;

use crate::args::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::say;

pub(crate) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let (name, history) = match (&args.history, &args.contender) {
        (Some(path), _) => (path.display().to_string(), read(path)?),
        (None, Some(name)) => (name.clone(), record_contender(name, args)?),
        (None, None) => return Err(Failure::new("name a history file, or a --contender")),
    };
    if let Some(path) = &args.record {
        write(path, &history)?;
    }
    let verdict = check(&history);
    let text = if args.json {
        as_json(&name, args, &history, &verdict)
    } else {
        in_words(&name, &verdict)
    };
    say::stdout(text.as_bytes())?;
    Ok(if verdict.is_linearizable() { Exit::Fine } else { Exit::WithLosses })
}

fn read(path: &Path) -> Result<History, Failure> {
    let name = path.display();
    let file = File::open(path)
        .map_err(|error| Failure::because(format!("cannot read {name}"), &error))?;
    History::read_csv(BufReader::new(file)).map_err(|error| Failure::because(name, &error))
}

fn write(path: &Path, history: &History) -> Result<(), Failure> {
    let what = || format!("cannot write to {}", path.display());
    let file = File::create(path).map_err(|error| Failure::because(what(), &error))?;
    let mut file = BufWriter::new(file);
    history.write_csv(&mut file).map_err(|error| Failure::because(what(), &error))?;
    file.flush().map_err(|error| Failure::because(what(), &error))
}

fn record_contender(name: &str, args: &CheckArgs) -> Result<History, Failure> {
    let options = RecordOptions {
        bands: args.bands as usize,
        capacity: args.capacity as usize,
        senders: args.senders as usize,
        receivers: args.receivers as usize,
        operations: args.ops as usize,
        restricted: args.restricted,
        seed: args.seed,
    };
    let mut search = Search { name, options, known: Vec::new(), history: None };
    for_each(&mut search);
    let known = search.known.join(", ");
    let unknown = || Failure::new(format!("`{name}` is no contender; the contenders are {known}"));
    search.history.ok_or_else(unknown)
}

/// Records the contender with this name.
struct Search<'a> {
    name: &'a str,
    options: RecordOptions,
    known: Vec<&'static str>,
    history: Option<History>,
}

impl Visitor for Search<'_> {
    fn visit<C: Contender>(&mut self) {
        self.known.push(C::NAME);
        if C::NAME != self.name {
            return;
        }
        if self.options.restricted && !C::RESTRICTS {
            say::note(&format!("{} cannot limit receivers to some bands; none is", C::NAME));
        }
        if !C::PRIORITY {
            say::note(&format!("{} has no priorities; it is checked with one band", C::NAME));
            self.options.bands = 1;
        }
        self.history = Some(record::<C>(&self.options));
    }
}

fn as_json(name: &str, args: &CheckArgs, history: &History, verdict: &Verdict) -> String {
    let bands = args.history.is_none().then_some(history.capacities.len());
    let object = json!({
        "checked": name,
        "linearizable": verdict.is_linearizable(),
        "ops": verdict.operations,
        "inversions": verdict.inversions(),
        "bands": bands,
        "restricted": args.restricted,
        "violations": verdict.violations,
        "witness": verdict.witness.as_ref().map(ToString::to_string),
    });
    object.to_string() + "\n"
}

fn in_words(name: &str, verdict: &Verdict) -> String {
    let calls = verdict.operations;
    let Some(witness) = &verdict.witness else {
        return format!("{name}: {calls} calls, linearizable\n");
    };
    let mut text = format!("{name}: {calls} calls, NOT linearizable\n");
    for (kind, count) in &verdict.violations {
        text += &format!("{count:>10} × {kind}\n");
    }
    text + &format!("\nthe shortest proof found:\n{witness}\n")
}
