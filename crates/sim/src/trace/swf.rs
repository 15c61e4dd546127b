//! The job lines of an SWF log: 18 blank-separated numbers.
//!
//! What is used is the job number (as a label), the times of submit, run and request, the status
//! and the queue. The other fields only have to be numbers: how long a job waited, or on how many
//! processors, says something about the machine of the log and nothing about a replay.

use std::time::Duration;

use super::lines::Line;
use super::number;
use super::skip::{Field, SkipReason, shown};
use super::{LoggedOutcome, TraceJob};

const NAMES: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

const JOB_NUMBER: usize = 1;
const SUBMIT_TIME: usize = 2;
const RUN_TIME: usize = 4;
const REQUESTED_TIME: usize = 9;
const STATUS: usize = 11;
const QUEUE: usize = 15;

const fn field(number: usize) -> Field {
    Field { number, name: NAMES[number - 1] }
}

/// Whether a line without a header above it looks like a job line.
pub(super) fn looks_like_a_job(text: &str) -> bool {
    let first = text.split_ascii_whitespace().next();
    first.is_some_and(|first| number::check(field(JOB_NUMBER), first).is_ok())
}

/// The job of a line; its submit time is the log's own.
pub(super) fn job(line: &Line<'_>) -> Result<TraceJob, SkipReason> {
    let mut values = [""; NAMES.len()];
    let mut found = 0;
    for value in line.text()?.split_ascii_whitespace() {
        if let Some(place) = values.get_mut(found) {
            *place = value;
        }
        found += 1;
    }
    if found != NAMES.len() {
        return Err(line.wrong_count(found, NAMES.len()));
    }
    for (index, value) in values.iter().enumerate() {
        number::check(field(index + 1), value)?;
    }

    let time = |number| number::time(field(number), values[number - 1]);
    let (run_time, outcome) = ending(values[STATUS - 1], time(RUN_TIME)?)?;
    Ok(TraceJob {
        line: line.number,
        name: values[JOB_NUMBER - 1].to_owned(),
        submit: time(SUBMIT_TIME)?.ok_or(SkipReason::Unknown { field: field(SUBMIT_TIME) })?,
        run_time,
        requested_time: time(REQUESTED_TIME)?,
        queue: queue(values[QUEUE - 1])?,
        class: None,
        outcome,
    })
}

/// How long the job ran and how it ended. Only one that was cancelled while it waited has a right
/// to an unknown run time.
fn ending(
    status: &str,
    run_time: Option<Duration>,
) -> Result<(Duration, LoggedOutcome), SkipReason> {
    let field_of_status = field(STATUS);
    let outcome = match number::whole(field_of_status, status)? {
        0 => LoggedOutcome::Failed,
        1 => LoggedOutcome::Completed,
        5 => LoggedOutcome::Cancelled,
        status @ 2..=4 => {
            return Err(SkipReason::PartialExecution { field: field_of_status, status });
        }
        status => return Err(SkipReason::Status { field: field_of_status, status }),
    };
    match run_time {
        Some(run_time) => Ok((run_time, outcome)),
        None if outcome == LoggedOutcome::Cancelled => Ok((Duration::ZERO, outcome)),
        None => Err(SkipReason::Unknown { field: field(RUN_TIME) }),
    }
}

fn queue(value: &str) -> Result<Option<i64>, SkipReason> {
    match number::whole(field(QUEUE), value)? {
        -1 => Ok(None),
        queue if queue < 0 => {
            Err(SkipReason::Negative { field: field(QUEUE), value: shown(value) })
        }
        queue => Ok(Some(queue)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<TraceJob, SkipReason> {
        job(&Line { number: 3, bytes: text.as_bytes(), too_long: false, ended: true })
    }

    #[test]
    fn every_used_field_is_found() {
        let parsed = parse(" 9\t5 1  2.5 4 -1 -1 4 60 -1 0 7 8 -1 2 -1 -1 -1 ");
        let expected = TraceJob {
            line: 3,
            name: "9".to_owned(),
            submit: Duration::from_secs(5),
            run_time: Duration::from_millis(2_500),
            requested_time: Some(Duration::from_secs(60)),
            queue: Some(2),
            class: None,
            outcome: LoggedOutcome::Failed,
        };
        assert_eq!(parsed, Ok(expected));
    }

    #[test]
    fn a_job_line_is_told_from_prose() {
        assert!(looks_like_a_job("  15   599850 1"));
        assert!(!looks_like_a_job("# A heading"));
        assert!(!looks_like_a_job("nan 1 2"));
        assert!(!looks_like_a_job(""));
    }

    #[test]
    fn every_field_has_its_number_and_name_in_a_reason() {
        for index in 0..NAMES.len() {
            let mut values = ["1"; NAMES.len()];
            values[index] = "?";
            let reason = parse(&values.join(" ")).unwrap_err().to_string();
            let (number, name) = (index + 1, NAMES[index]);
            assert_eq!(reason, format!("field {number} ({name}): `?` is not a number"));
        }
    }
}
