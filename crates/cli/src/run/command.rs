//! The handler: one run of one command.

use std::cell::OnceCell;
use std::future::pending;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use overtake_runtime::{CancellationToken, Outcome};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use super::log::Log;
use crate::job_line::CommandJob;

/// How long a command may take to end once it is asked to.
const TERM_GRACE: Duration = Duration::from_millis(500);

/// How long output is waited for after a command has ended: something that it left running may
/// hold the pipe for ever.
const OUTPUT_GRACE: Duration = Duration::from_millis(100);

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
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let mut output = pin!(async {
        tokio::join!(copy_lines(out, job.name(), log), copy_lines(err, job.name(), log));
    });
    let mut has_output = true;
    let mut expiry = pin!(expiry(spec.timeout_ms.map(Duration::from_millis)));
    let ended = loop {
        tokio::select! {
            biased;
            () = &mut output, if has_output => has_output = false,
            status = child.wait() => break Ended::Exited(status),
            () = cancelled.cancelled() => break Ended::Cancelled,
            limit = &mut expiry => break Ended::TimedOut(limit),
        }
    };
    if !matches!(ended, Ended::Exited(_)) {
        end_group(&mut child, group).await;
    }
    if has_output {
        let _ = timeout(OUTPUT_GRACE, output).await;
    }
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

async fn copy_lines(from: Option<impl AsyncRead + Unpin>, name: &str, log: &Log) {
    let Some(from) = from else {
        return;
    };
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while let Ok(1..) = from.read_until(b'\n', &mut line).await {
        log.output(name, line.strip_suffix(b"\n").unwrap_or(&line));
        line.clear();
    }
}

/// Asks a command, and what it has started, to end; then ends it.
async fn end_group(child: &mut Child, group: Option<Pid>) {
    let kill = |signal| {
        if let Some(group) = group {
            // It may have ended by itself a moment ago.
            let _ = kill_process_group(group, signal);
        }
    };
    kill(Signal::TERM);
    let _ = timeout(TERM_GRACE, child.wait()).await;
    // Also if the command itself has ended: what it has started may not have.
    kill(Signal::KILL);
    let _ = child.wait().await;
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
