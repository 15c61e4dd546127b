//! What can be asked for.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use overtake_runtime::{EntryId, Filter, Reason, RetryPolicy};
use overtake_sim::replay::Policy;
use overtake_sim::trace::BandsBy;

use crate::retry_text;

const EXIT_CODES: &str = "\
Exit codes:
  0  everything was done
  1  it ran to its end, but something is dead, refused or skipped
  2  bad usage, or a file that cannot be used
  3  stopped before the end; unfinished jobs were handed back";

/// Run jobs with strict priorities: urgent work overtakes bulk work.
#[derive(Debug, Parser)]
#[command(name = "overtake", version, propagate_version = true, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(RunArgs),
    DeadLetters(DeadLettersArgs),
    Replay(ReplayArgs),
    Compare(CompareArgs),
    Check(CheckArgs),
    /// Print a completion script for a shell
    ///
    /// Example: overtake completions bash > ~/.local/share/bash-completion/completions/overtake
    Completions {
        /// Which shell
        shell: Shell,
    },
}

const RUN_HELP: &str = r#"A job is a line of JSON:
  {"name": "reindex", "priority": 0, "command": ["sh", "-c", "make index"], "max_retries": 3}

  command        the program and its arguments; required. No shell is involved unless it is named
  name           for logs and events; `job-LINE` if absent
  priority       0 is the most urgent; the least urgent one if absent
  max_retries    how often it is tried again after a failed attempt; --max-retries if absent
  timeout_ms     an attempt that takes longer is killed and has failed
  expires_in_ms  not started within this time after it was read, it becomes a dead letter
  attempts_made, generation  written by overtake itself into unfinished and redriven lines

The command finds OVERTAKE_NAME, OVERTAKE_PRIORITY and OVERTAKE_ATTEMPT (from 1) in its environment,
and no input. What it prints goes to the log with its name.

An attempt fails if the exit code is not 0, on a signal, or on a timeout. A line that is no job is
refused with its number and put into the dead letters; the rest goes on.

Ctrl-C (SIGINT) or SIGTERM: no more jobs are taken in, what is inside runs on for up to the shutdown
timeout. A second one: what runs may end, nothing more is started. A third one: what runs is killed.
Jobs that were not run to their end are written to the unfinished file, which is input for `run`.

Examples:
  overtake run jobs.jsonl --workers 4
  overtake run jobs.jsonl --dead-letters dead.jsonl --retry exponential:100ms..30s
  tail -f jobs.jsonl | overtake run - --workers 2      # urgent lines overtake the backlog
  overtake run jobs.jsonl --json --events events.jsonl > summary.json"#;

/// Run the jobs of a file, or of standard input while they arrive
#[derive(Debug, clap::Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunArgs {
    /// JSON Lines, one job a line; `-` is standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// How many jobs run at once [default: the number of cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: Option<u32>,

    /// How many priorities there are, numbered from 0
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub(crate) priorities: u32,

    /// How many jobs of each priority are held at once. While one is full reading waits, and urgent
    /// lines further on are not seen. With --hold at least as many as the input has
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub(crate) capacity: u32,

    /// Start the first job only when the input has ended
    #[arg(long)]
    pub(crate) hold: bool,

    /// When failed jobs are tried again: none, fixed:DELAY or exponential:BASE..CAP
    #[arg(long, value_name = "POLICY", default_value = "fixed:1s", value_parser = retry_text::parse)]
    pub(crate) retry: RetryPolicy,

    /// How often a job is tried again if its line does not say [default: 3, with --retry none 0]
    #[arg(long, value_name = "N")]
    pub(crate) max_retries: Option<u32>,

    /// How long jobs may go on after the first signal
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = retry_text::duration)]
    pub(crate) shutdown_timeout: Duration,

    /// Append dead letters to this file [default: only count and name them]
    #[arg(long, value_name = "FILE")]
    pub(crate) dead_letters: Option<PathBuf>,

    /// Write jobs that were not run to their end to this file [default: INPUT.unfinished.jsonl,
    /// made only if there are any]
    #[arg(long, value_name = "FILE")]
    pub(crate) unfinished: Option<PathBuf>,

    /// Write everything that happens to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,

    /// Append what jobs print to this file [default: standard error]
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,

    /// Print the summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Look into a file of dead letters, and empty it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  overtake dead-letters list dead.jsonl
  overtake dead-letters list dead.jsonl --reason retries-used-up --priority 0
  overtake dead-letters show dead.jsonl 17
  overtake dead-letters redrive dead.jsonl | overtake run - --dead-letters dead.jsonl
  overtake dead-letters redrive dead.jsonl --name nightly --output again.jsonl
  overtake dead-letters purge dead.jsonl --reason refused")]
pub(crate) struct DeadLettersArgs {
    #[command(subcommand)]
    pub(crate) command: DeadLettersCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeadLettersCommand {
    /// List the letters, a line each
    List {
        #[command(flatten)]
        which: Which,
        /// Print each letter as a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show one letter whole, with all its failed attempts
    Show {
        /// The file
        file: PathBuf,
        /// The letter's number
        #[arg(value_parser = entry)]
        entry: EntryId,
        /// Print it as a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Take jobs out and write them as lines for `overtake run`, with attempts from 1
    Redrive {
        #[command(flatten)]
        which: Which,
        /// Append the lines to this file [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove letters for good
    Purge {
        #[command(flatten)]
        which: Which,
    },
}

/// Which letters of which file.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// The file
    pub(crate) file: PathBuf,
    /// Only the letter with this number
    #[arg(long, value_name = "N", value_parser = entry)]
    entry: Option<EntryId>,
    /// Only letters with this reason
    #[arg(long)]
    reason: Option<Reason>,
    /// Only jobs of this priority
    #[arg(long, value_name = "N")]
    priority: Option<usize>,
    /// Only jobs with this name
    #[arg(long)]
    name: Option<String>,
}

impl Which {
    pub(crate) fn filter(&self) -> Filter {
        let Self { file: _, entry, reason, priority, ref name } = *self;
        Filter { entry, reason, priority, name: name.clone() }
    }
}

fn entry(text: &str) -> Result<EntryId, String> {
    text.parse().map(EntryId).map_err(|error| format!("`{text}` is no number of a letter: {error}"))
}

const REPLAY_HELP: &str = "\
Formats: the Standard Workload Format (.swf, also gzipped) and pod lists (.csv with a header).

Each job is submitted when the log says, holds a worker for as long as it ran, and ends as it ended:
failed jobs fail in every run, are retried, and become dead letters; cancelled ones are discarded after
the time they ran. Time is simulated: a year takes seconds, and the figures are the same each time.

Bands:
  queue           the log's queue number, ascending
  requested-time  short (up to 4 h), medium (up to 15 h), long
  qos             Guaranteed, LS, Burstable, BE
  auto            qos for pod lists; queue if the log's header names them, else requested-time

Without --policy, strict bands and a single FIFO queue are shown side by side.

Examples:
  overtake replay log.swf.gz
  overtake replay log.swf --bands-by queue --workers 64 --policy strict --json";

/// Replay a workload log through the runtime in simulated time
#[derive(Debug, clap::Args)]
#[command(after_help = REPLAY_HELP)]
pub(crate) struct ReplayArgs {
    /// The log
    pub(crate) trace: PathBuf,

    /// What makes a job urgent: queue, requested-time, qos or auto
    #[arg(long, value_name = "WHAT", default_value_t = BandsBy::Auto)]
    pub(crate) bands_by: BandsBy,

    /// How many jobs run at once [default: as many as the log keeps busy 90 % of the
    /// time]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) workers: Option<u32>,

    /// In which order waiting jobs start: strict or fifo [default: both; with --json strict]
    #[arg(long)]
    pub(crate) policy: Option<Policy>,

    /// When failed jobs are tried again: none, fixed:DELAY or exponential:BASE..CAP
    #[arg(long, value_name = "POLICY", default_value = "fixed:1s", value_parser = retry_text::parse)]
    pub(crate) retry: RetryPolicy,

    /// How often a failed job is tried again [default: 3, with --retry none 0]
    #[arg(long, value_name = "N")]
    pub(crate) max_retries: Option<u32>,

    /// Print the figures as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Compare our channel with other queue designs, in one run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
All designs do the same work in rounds that take turns. A ratio above 1 is in our favour. The best
peer is the best design with priorities; those without are shown for scale, marked by a star.

Examples:
  overtake compare --quick
  overtake compare --quick --only flood wake --all
  overtake compare --only '1 to 1' --against mutex_bands kanal_fifo --rounds 30
  overtake compare --json > comparison.json
  overtake compare --list")]
pub(crate) struct CompareArgs {
    /// Take under a minute, for a first look
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only the workloads whose name contains one of these
    #[arg(long, value_name = "CELL", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Only these designs beside ours
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) against: Vec<String>,
    /// How many rounds count [default: 11, with --quick 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: Option<u32>,
    /// Show the figures of every design, not only the best
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Print the comparison as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Only list the designs
    #[arg(long)]
    pub(crate) list: bool,
}

const CHECK_HELP: &str = "\
With --contender, real threads push to and pop from a queue of that design, every call is written
down with its times, and the history is judged: is there an order of the calls, respecting real time,
in which every pop takes the oldest item of the most urgent band that holds one? Without, a history
is read from a file with the columns thread,op,band,value,call,ret,set.

Examples:
  overtake check --contender overtake --ops 2000000 --bands 4
  overtake check --contender ring_sweep --json
  overtake check --contender overtake --record history.csv
  overtake check history.csv";

/// Check that a queue is linearizable to strict bands
#[derive(Debug, clap::Args)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct CheckArgs {
    /// A recorded history
    pub(crate) history: Option<PathBuf>,

    /// Record this design: see `overtake compare --list`
    #[arg(long, value_name = "NAME", conflicts_with = "history")]
    pub(crate) contender: Option<String>,

    /// How many calls to record
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) ops: u32,

    /// How many bands
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) bands: u32,

    /// How many items each band holds
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub(crate) capacity: u32,

    /// How many threads push
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) senders: u32,

    /// How many threads pop
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) receivers: u32,

    /// Limit every second receiver to every second band, where the design can
    #[arg(long)]
    pub(crate) restricted: bool,

    /// Which bands are pushed to, in which order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Write the history to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Print the verdict as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
