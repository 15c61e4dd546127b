//! What a run writes to, opened before the first job, and the runtime made with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use overtake_runtime::{Builder, Context, Event, EventKind, JobId, RetryPolicy};

use super::Jobs;
use super::command::run_command;
use super::events::{EventLine, Events};
use super::letters::RunLetters;
use super::log::Log;
use super::progress::Progress;
use crate::args::RunArgs;
use crate::exit::Failure;
use crate::job_line::{CommandJob, CommandSpec};

/// A cancelled command is killed well within this time.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// The jobs whose commands run, by their numbers: if a command cannot be ended, its worker has
/// its job.
#[derive(Default)]
pub(super) struct Running(Mutex<HashMap<JobId, CommandJob>>);

impl Running {
    fn during<R>(&self, job: &CommandJob, run: impl FnOnce() -> R) -> R {
        self.jobs().insert(job.id(), job.clone());
        let result = run();
        self.jobs().remove(&job.id());
        result
    }

    pub(super) fn take(&self, id: JobId) -> Option<CommandJob> {
        self.jobs().remove(&id)
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, HashMap<JobId, CommandJob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Setup {
    pub(super) events: Arc<Events>,
    pub(super) progress: Arc<Progress>,
    pub(super) running: Arc<Running>,
    log: Arc<Log>,
    dead_letters: Option<RunLetters>,
}

impl Setup {
    pub(super) fn open(args: &RunArgs, started: Instant) -> Result<Self, Failure> {
        let progress = Progress::new();
        let log = Log::open(args.log.as_deref(), progress.bars())?;
        let events = Events::open(args.events.as_deref(), started)?;
        let dead_letters = args.dead_letters.as_deref();
        let reads_a_pipe = args.file.as_os_str() == "-";
        let dead_letters =
            dead_letters.map(|path| RunLetters::new(path, reads_a_pipe)).transpose()?;
        let progress = Arc::new(progress);
        let (events, log) = (Arc::new(events), Arc::new(log));
        Ok(Self { events, progress, running: Arc::default(), log, dead_letters })
    }

    /// The runtime, its workers not yet started.
    pub(super) fn runtime(self, args: &RunArgs, capacities: &[usize]) -> Result<Jobs, Failure> {
        let Self { events, progress: _, running, log, dead_letters } = self;
        let mut builder = Builder::new()
            .capacities(capacities)
            .retry(retry_policy(&args.retry, args.max_retries))
            .cancel_grace(CANCEL_GRACE);
        if let Some(workers) = args.workers {
            builder = builder.workers(workers as usize);
        }
        if let Some(letters) = dead_letters {
            builder = builder.dead_letters(letters);
        }
        let remarks = Arc::clone(&log);
        let builder = builder.observer(move |event| observe(event, &events, &remarks));
        let handler = move |job: &CommandJob, context: &Context<'_, CommandSpec>| {
            running.during(job, || run_command(job, context.cancellation(), &log))
        };
        Ok(builder.hold(handler)?)
    }
}

/// The policy with the limit of the command line, if there is one.
pub(crate) fn retry_policy(policy: &RetryPolicy, max_retries: Option<u32>) -> RetryPolicy {
    match max_retries {
        Some(limit) => policy.clone().with_max_retries(limit),
        None => policy.clone(),
    }
}

fn observe(event: &Event<'_>, events: &Events, log: &Log) {
    let error = event.error.unwrap_or_default();
    match event.kind {
        EventKind::Failed => {
            log.remark(event.name, &format!("attempt {} failed: {error}", event.attempt));
        }
        EventKind::Dead => log.remark(event.name, &format!("dead: {error}")),
        _ => {}
    }
    events.tell(&EventLine {
        event: event.kind.name(),
        name: event.name,
        priority: Some(event.priority),
        attempt: event.attempt,
        worker: event.worker,
        error: event.error,
    });
}
