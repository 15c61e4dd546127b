//! The handler: one run of one command.

use std::cell::OnceCell;
use std::future::pending;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use overtake_runtime::{CancellationToken, Outcome};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, Command};
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep};

use super::log::Log;
use super::output::{self, Output};
use crate::job_line::CommandJob;

/// How long a command may take to end once it is asked to.
const TERM_GRACE: Duration = Duration::from_millis(500);

/// How often it is looked whether it has.
const TERM_STEP: Duration = Duration::from_millis(5);

thread_local! {
    /// The reactor of one worker. What it waits for is one command at a time.
    static REACTOR: OnceCell<Runtime> = const { OnceCell::new() };
}

/// Runs a job's command to its end. It gets no input, a process group of its own, and its output
/// goes to the log with the job's name.
pub(super) fn run_command(job: &CommandJob, cancelled: &CancellationToken, log: &Log) -> Outcome {
    REACTOR.with(|reactor| {
        let reactor = match reactor.get() {
            Some(reactor) => reactor,
            None => match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(new) => reactor.get_or_init(|| new),
                Err(error) => {
                    return Outcome::failed(format!("cannot wait for a command: {error}"));
                }
            },
        };
        reactor.block_on(attempt(job, cancelled, log))
    })
}

/// How a command ended, or why it is to be ended.
enum Ended {
    Exited(io::Result<ExitStatus>),
    TimedOut(Duration),
    Cancelled,
}

async fn attempt(job: &CommandJob, cancelled: &CancellationToken, log: &Log) -> Outcome {
    let spec = job.payload();
    let Some((program, arguments)) = spec.command.split_first() else {
        return Outcome::DeadLetter { reason: "there is no program to run".to_owned() };
    };
    let spawned = Command::new(program)
        .args(arguments)
        .env("OVERTAKE_NAME", job.name())
        .env("OVERTAKE_PRIORITY", job.priority().to_string())
        .env("OVERTAKE_ATTEMPT", job.attempt().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return not_started(program, &error),
    };
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let mut out = Output::new(child.stdout.take(), job.name(), log);
    let mut err = Output::new(child.stderr.take(), job.name(), log);
    let limit = spec.timeout_ms.map(Duration::from_millis);
    let ended = {
        let mut output = pin!(async {
            tokio::join!(out.copy(), err.copy());
        });
        let mut has_output = true;
        let mut expiry = pin!(expiry(limit));
        let ended = loop {
            tokio::select! {
                biased;
                status = child.wait() => break Ended::Exited(status),
                () = cancelled.cancelled() => break Ended::Cancelled,
                limit = &mut expiry => break Ended::TimedOut(limit),
                () = &mut output, if has_output => has_output = false,
            }
        };
        if !matches!(ended, Ended::Exited(_)) {
            end_group(&mut child, group).await;
        }
        if has_output {
            output::for_a_while(output).await;
        }
        ended
    };
    out.take_rest();
    err.take_rest();
    outcome_of(ended)
}

/// Ends after `limit`, or never.
async fn expiry(limit: Option<Duration>) -> Duration {
    match limit {
        Some(limit) => {
            sleep(limit).await;
            limit
        }
        None => pending().await,
    }
}

/// Asks a command, and what it has started, to end; then ends it.
async fn end_group(child: &mut Child, group: Option<Pid>) {
    if let Some(group) = group {
        // It may have ended by itself a moment ago.
        let _ = kill_process_group(group, Signal::TERM);
        let give_up_at = Instant::now() + TERM_GRACE;
        while !has_ended(group) && Instant::now() < give_up_at {
            sleep(TERM_STEP).await;
        }
        // Also if the command itself has ended: what it has started may not have.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait().await;
}

/// Whether a command has ended. It is not reaped yet, so its number still names its group and
/// cannot be that of a stranger.
fn has_ended(leader: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(leader), options), Ok(None))
}

fn not_started(program: &str, error: &io::Error) -> Outcome {
    let text = format!("cannot start `{program}`: {error}");
    match error.kind() {
        // Trying again would find the same.
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput => {
            Outcome::DeadLetter { reason: text }
        }
        _ => Outcome::failed(text),
    }
}

fn outcome_of(ended: Ended) -> Outcome {
    let error = match ended {
        Ended::Exited(Ok(status)) => match (status.code(), status.signal()) {
            (Some(0), _) => return Outcome::Done,
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => format!("ended with {status}"),
        },
        Ended::Exited(Err(error)) => format!("cannot wait for it: {error}"),
        Ended::TimedOut(limit) => {
            format!("took longer than {} ms and was killed", limit.as_millis())
        }
        Ended::Cancelled => return Outcome::Release,
    };
    Outcome::failed(error)
}
