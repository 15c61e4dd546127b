//! How a dead letter stands in a file: one JSON object a line.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Body, DeadLetter, EntryId, Reason};
use crate::job::{FailedAttempt, Job, JobId, Timing};

/// A line of the file: a letter, or the note that an earlier one is gone.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line<J, T> {
    Gone {
        gone: EntryId,
        #[serde(with = "crate::wall_time")]
        at: SystemTime,
    },
    Letter(Record<J, T>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record<J, T> {
    entry: EntryId,
    #[serde(with = "crate::wall_time")]
    at: SystemTime,
    reason: Reason,
    error: T,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    job: Option<JobRecord<J, T>>,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    input: Option<InputRecord<T>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct JobRecord<J, T> {
    id: JobId,
    name: T,
    priority: usize,
    attempts_made: u32,
    max_retries: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_in_ms: Option<u64>,
    generation: u32,
    payload: J,
    history: Vec<FailedAttempt>,
}

#[derive(Debug, Serialize, Deserialize)]
struct InputRecord<T> {
    place: T,
    text: T,
}

impl<P: DeserializeOwned> Line<P, String> {
    /// Reads a line, or says what is wrong with it.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|_| Self::what_is_wrong(bytes))
    }

    /// Either kind of line having been tried, the error of trying both says little.
    #[cold]
    fn what_is_wrong(bytes: &[u8]) -> String {
        let fields = match serde_json::from_slice(bytes) {
            Ok(serde_json::Value::Object(fields)) => fields,
            Ok(_) => return "it is JSON, but not an object".to_owned(),
            Err(error) => return error.to_string(),
        };
        if fields.contains_key("gone") {
            return "`gone` and `at` are not numbers".to_owned();
        }
        if !fields.contains_key("entry") {
            return "it has neither `entry` nor `gone`".to_owned();
        }
        match serde_json::from_slice::<Record<P, String>>(bytes) {
            Ok(_) => "it changed while it was read".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

impl<'a, P> Record<&'a P, &'a str> {
    pub(super) fn of(letter: &'a DeadLetter<P>) -> Self {
        let (job, input) = match &letter.body {
            Body::Job(job) => (Some(JobRecord::of(job)), None),
            Body::Input { place, text } => (None, Some(InputRecord { place: &**place, text })),
        };
        let DeadLetter { entry, at, reason, ref error, .. } = *letter;
        Self { entry, at, reason, error, job, input }
    }
}

impl<'a, P> JobRecord<&'a P, &'a str> {
    fn of(job: &'a Job<P>) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            id: job.id,
            name: &job.name,
            priority: job.priority,
            attempts_made: job.attempts_made,
            max_retries: job.max_retries,
            expires_in_ms: job.expires_in.map(millis),
            generation: job.generation,
            payload: &job.payload,
            history: job.history.clone(),
        }
    }
}

impl<P> Record<P, String> {
    /// The letter, or what is missing.
    pub(super) fn into_letter(self) -> Result<DeadLetter<P>, &'static str> {
        let Self { entry, at, reason, error, job, input } = self;
        let body = match (job, input) {
            (Some(job), None) => Body::Job(job.into_job()),
            (None, Some(InputRecord { place, text })) => Body::Input { place, text },
            _ => return Err("it needs either `job` or `input`"),
        };
        Ok(DeadLetter { entry, at, reason, error, body })
    }
}

impl<P> JobRecord<P, String> {
    fn into_job(self) -> Job<P> {
        Job {
            id: self.id,
            name: Cow::Owned(self.name),
            priority: self.priority,
            payload: self.payload,
            attempts_made: self.attempts_made,
            max_retries: self.max_retries,
            expires_in: self.expires_in_ms.map(Duration::from_millis),
            generation: self.generation,
            history: self.history,
            timing: Timing::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_line_is_named() {
        let table = [
            ("{", "EOF while parsing"),
            ("[1]", "not an object"),
            (r#"{"name": "x"}"#, "neither `entry` nor `gone`"),
            (r#"{"gone": "x"}"#, "not numbers"),
            (r#"{"entry": 1, "at": 2, "error": "e"}"#, "missing field `reason`"),
            (
                r#"{"entry": 1, "at": 2, "error": "e", "reason": "bored"}"#,
                "unknown variant `bored`",
            ),
        ];
        for (line, expected) in table {
            let said = Line::<u32, String>::parse(line.as_bytes()).expect_err(line);
            assert!(said.contains(expected), "{line}: {said}");
        }
    }
}
