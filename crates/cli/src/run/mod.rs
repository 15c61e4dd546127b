//! `overtake run`: from lines to jobs to a summary.
//!
//! lines → intake → [`Runtime`] → command → events, log, progress; at the end the summary, and a
//! file of what was not run.

mod command;
mod events;
mod intake;
mod letters;
mod lines;
mod log;
mod output;
mod outputs;
mod progress;
mod setup;
mod signals;
mod summary;
mod unfinished;

use std::sync::Arc;
use std::time::{Duration, Instant};

use overtake_runtime::{Body, Report, Runtime};

use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::job_line::{self, CommandJob, CommandSpec};
use crate::say;
use intake::{Intake, Taken};
use lines::{Input, Lines};
use setup::{Running, Setup};
use signals::Signals;
use summary::Summary;
use unfinished::Unfinished;

pub(crate) use letters::open_dead_letters;
pub(crate) use setup::retry_policy;

pub(crate) type Jobs = Runtime<CommandSpec>;

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let started = Instant::now();
    check_capacity(args)?;
    let input = Input::open(&args.file)?;
    outputs::check(args, input.identity.as_ref())?;
    let unfinished = Unfinished::check(args, input.identity.as_ref())?;
    let setup = Setup::open(args, started)?;
    let events = Arc::clone(&setup.events);
    let progress = Arc::clone(&setup.progress);
    let running = Arc::clone(&setup.running);

    // To open a named pipe may take for ever, so until here a signal ends the process. From here
    // on there are jobs that would be lost.
    let signals = Signals::watch(args.shutdown_timeout)?;
    let lines = Lines::new(input, signals.wake()?);
    let mut intake = Intake::new(lines, args.priorities as usize, &events);
    let held = if args.hold { intake.take_all() } else { Vec::new() };
    let runtime = Arc::new(setup.runtime(args, &capacities(args, &held))?);
    signals.control(&runtime);
    let watching = progress.watch(&runtime);
    if args.hold {
        intake.publish_all(&runtime, held);
        runtime.start_workers()?;
    } else {
        runtime.start_workers()?;
        intake.publish_each(&runtime);
    }
    let taken = intake.finish(&runtime);
    // A signal makes this end sooner.
    let report = runtime.drain(Duration::MAX);
    drop(watching);

    let summary = Summary::new(&report, &taken, started.elapsed());
    let failed = leave_nothing_behind(report, &taken, unfinished, &running);
    summary.print(args.json)?;
    events.finish()?;
    failed.map_or_else(|| Ok(summary.exit()), Err)
}

/// The memory for all places is had at once, and a machine may have less than it says it has.
fn check_capacity(args: &RunArgs) -> Result<(), Failure> {
    const MAX_PLACES: u64 = 4 * 1024 * 1024;
    let (capacity, priorities) = (u64::from(args.capacity), u64::from(args.priorities));
    if capacity * priorities <= MAX_PLACES {
        return Ok(());
    }
    Err(Failure::new(format!(
        "--capacity {capacity} for each of {priorities} priorities makes {} places for jobs; \
         there can be {MAX_PLACES}",
        capacity * priorities
    )))
}

/// How many jobs each priority has room for: with held jobs at least for those.
fn capacities(args: &RunArgs, held: &[CommandJob]) -> Vec<usize> {
    let mut jobs = vec![0; args.priorities as usize];
    for job in held {
        jobs[job.priority()] += 1;
    }
    jobs.into_iter().map(|jobs: usize| jobs.max(args.capacity as usize)).collect()
}

/// Sees to it that every job and every dead letter is in a file, or at least on the screen. Says
/// what went wrong.
fn leave_nothing_behind(
    report: Report<CommandSpec>,
    taken: &Taken,
    mut unfinished: Unfinished,
    running: &Running,
) -> Option<Failure> {
    let mut failed = taken.read_error.as_deref().map(Failure::new);
    if failed.is_some() {
        unfinished.keep_input();
    }
    let abandoned: Vec<_> =
        report.abandoned.iter().filter_map(|job| running.take(job.id)).collect();
    let jobs: Vec<_> = report.returned.iter().chain(&taken.late).chain(&abandoned).collect();
    if let Err(failure) = unfinished.write(&jobs) {
        say::note("these jobs are unfinished:");
        jobs.iter().for_each(|job| say::raw(&job_line::write(job)));
        failed = Some(failure);
    }
    for job in &report.abandoned {
        let name = say::one_line(&job.name);
        say::note(&format!("{name}: attempt {} did not end, and may still run", job.attempt));
    }
    for (letter, error) in &report.unwritten {
        say::note(&format!("dead letter {} was not written: {}", letter.name(), letter.error));
        match &letter.body {
            Body::Job(job) => say::raw(&job_line::write(job)),
            Body::Input { text, .. } => say::raw(&format!("{text}\n")),
        }
        failed = Some(Failure::because("dead letters were not written", error));
    }
    if let Some(error) = &report.unsynced {
        failed = Some(Failure::because("dead letters may not outlive a crash", error));
    }
    failed
}
