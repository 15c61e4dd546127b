//! From lines to accepted jobs; what is no job is refused, what comes too late is handed back.

use overtake_runtime::PublishError;

use super::Jobs;
use super::events::{EventLine, Events};
use super::lines::{Line, LineEnd, Lines, MAX_LINE};
use crate::job_line::{self, CommandJob};
use crate::say;

pub(super) struct Intake<'a> {
    lines: Lines,
    priorities: usize,
    events: &'a Events,
    /// Refused lines that are not in the dead letters yet.
    refused: Vec<Refused>,
    taken: Taken,
}

/// What the input came to.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// How many lines were no jobs.
    pub(super) refused: u64,
    /// Jobs that were read when the runtime took nothing in any more.
    pub(super) late: Vec<CommandJob>,
    /// Why the input could not be read to its end.
    pub(super) read_error: Option<String>,
}

/// A line that is no job.
#[derive(Debug)]
struct Refused {
    place: String,
    text: String,
    error: String,
}

impl<'a> Intake<'a> {
    pub(super) fn new(lines: Lines, priorities: usize, events: &'a Events) -> Self {
        Self { lines, priorities, events, refused: Vec::new(), taken: Taken::default() }
    }

    /// Reads to the end without publishing anything.
    pub(super) fn take_all(&mut self) -> Vec<CommandJob> {
        std::iter::from_fn(|| self.next_job()).collect()
    }

    /// Publishes jobs that were read before.
    pub(super) fn publish_all(&mut self, runtime: &Jobs, jobs: Vec<CommandJob>) {
        for job in jobs {
            self.publish(runtime, job);
        }
    }

    /// Publishes each job as it is read, and waits while its priority is full.
    pub(super) fn publish_each(&mut self, runtime: &Jobs) {
        while let Some(job) = self.next_job() {
            self.publish(runtime, job);
            self.bury_refused(runtime);
        }
    }

    pub(super) fn finish(mut self, runtime: &Jobs) -> Taken {
        self.bury_refused(runtime);
        self.taken
    }

    fn publish(&mut self, runtime: &Jobs, job: CommandJob) {
        let Err(error) = runtime.publish(job) else {
            return;
        };
        debug_assert!(error.is_closed(), "the priority was checked and room was waited for");
        let job = PublishError::into_job(error);
        for event in ["submitted", "returned"] {
            self.tell(event, job.name(), Some(job.priority()), job.attempt(), None);
        }
        self.taken.late.push(job);
    }

    fn next_job(&mut self) -> Option<CommandJob> {
        loop {
            match self.lines.next() {
                Ok(None) => return None,
                Ok(Some(line)) => match self.parse(&line) {
                    Ok(job) => return Some(job),
                    Err(error) => self.refuse(&line, error),
                },
                Err(error) => {
                    self.taken.read_error =
                        Some(format!("cannot read {}: {error}", self.lines.name()));
                    return None;
                }
            }
        }
    }

    fn parse(&self, line: &Line) -> Result<CommandJob, String> {
        match line.end {
            LineEnd::TooLong => return Err(format!("it is longer than {MAX_LINE} bytes")),
            LineEnd::Interrupted => return Err("a signal came before its end".to_owned()),
            LineEnd::Whole | LineEnd::InputEnded => {}
        }
        job_line::parse(&line.bytes, line.number, self.priorities).map_err(|error| {
            let cut_off =
                if line.end == LineEnd::InputEnded { "the input ends in it; " } else { "" };
            format!("{cut_off}{error}")
        })
    }

    fn refuse(&mut self, line: &Line, error: String) {
        self.taken.refused += 1;
        let place = format!("{}:{}", self.lines.name(), line.number);
        say::note(&format!("{place}: refused: {error}"));
        self.tell("refused", &place, None, 0, Some(&error));
        let text = String::from_utf8_lossy(&line.bytes).into_owned();
        self.refused.push(Refused { place, text, error });
    }

    fn bury_refused(&mut self, runtime: &Jobs) {
        for Refused { place, text, error } in self.refused.drain(..) {
            runtime.refuse(place, text, error);
        }
    }

    fn tell(
        &self,
        event: &'static str,
        name: &str,
        priority: Option<usize>,
        attempt: u32,
        error: Option<&str>,
    ) {
        self.events.tell(&EventLine { event, name, priority, attempt, worker: None, error });
    }
}
