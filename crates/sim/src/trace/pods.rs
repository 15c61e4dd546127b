//! The lines of a pod list: a CSV, its columns found by the names in its header.
//!
//! The phase of a pod is the last one seen. `Succeeded` and `Failed` say how it ended. `Running`
//! does not: the pod ended, its outcome is unknown, and it is replayed as completed. `Pending`
//! means that it never ran: it was withdrawn, and is replayed as cancelled with a run time of zero.
//!
//! A record is a line: no field goes on over a line end, so that an open quote costs one line and
//! not the rest of the log.

use std::time::Duration;

use super::lines::Line;
use super::number;
use super::qos::QosClass;
use super::skip::{Field, SkipReason, shown};
use super::{LoggedOutcome, TraceJob};

/// Where the columns are.
pub(super) struct Columns {
    width: usize,
    name: Field,
    qos: Field,
    phase: Field,
    creation: Field,
    deletion: Field,
    scheduled: Field,
}

/// Whether a line is the header of a pod list, perhaps one with columns missing.
pub(super) fn looks_like_a_header(text: &str) -> bool {
    split(text).iter().any(|cell| cell == "qos" || cell == "pod_phase")
}

impl Columns {
    /// Finds the columns in the header line, or names the first one that it lacks.
    pub(super) fn find(header: &str) -> Result<Self, &'static str> {
        let cells = split(header);
        let column = |name| match cells.iter().position(|cell| cell == name) {
            Some(index) => Ok(Field { number: index + 1, name }),
            None => Err(name),
        };
        Ok(Self {
            width: cells.len(),
            name: column("name")?,
            qos: column("qos")?,
            phase: column("pod_phase")?,
            creation: column("creation_time")?,
            deletion: column("deletion_time")?,
            scheduled: column("scheduled_time")?,
        })
    }

    /// The job of a line; its submit time is the log's own.
    pub(super) fn job(&self, line: &Line<'_>) -> Result<TraceJob, SkipReason> {
        let cells = split(line.text()?);
        if cells.len() != self.width {
            return Err(line.wrong_count(cells.len(), self.width));
        }
        let word = |field: Field| &cells[field.number - 1];
        let submit = needed(self.creation, word(self.creation))?;
        let (run_time, outcome) = self.ending(&cells)?;
        let class = QosClass::from_name(word(self.qos)).ok_or_else(|| SkipReason::UnknownWord {
            field: self.qos,
            value: shown(word(self.qos)),
            known: "Guaranteed, LS, Burstable, BE",
        })?;
        Ok(TraceJob {
            line: line.number,
            name: word(self.name).to_owned(),
            submit,
            run_time,
            requested_time: None,
            queue: None,
            class: Some(class),
            outcome,
        })
    }

    /// How long the pod ran and how it ended.
    fn ending(&self, cells: &csv::StringRecord) -> Result<(Duration, LoggedOutcome), SkipReason> {
        let word = |field: Field| &cells[field.number - 1];
        let outcome = match word(self.phase) {
            "Succeeded" | "Running" => LoggedOutcome::Completed,
            "Failed" => LoggedOutcome::Failed,
            "Pending" => {
                for field in [self.deletion, self.scheduled] {
                    known(field, word(field))?;
                }
                return Ok((Duration::ZERO, LoggedOutcome::Cancelled));
            }
            other => {
                return Err(SkipReason::UnknownWord {
                    field: self.phase,
                    value: shown(other),
                    known: "Succeeded, Failed, Running, Pending",
                });
            }
        };
        let start = needed(self.scheduled, word(self.scheduled))?;
        let end = needed(self.deletion, word(self.deletion))?;
        match end.checked_sub(start) {
            Some(run_time) => Ok((run_time, outcome)),
            None => Err(SkipReason::EndBeforeStart {
                field: self.deletion,
                value: shown(word(self.deletion)),
                start: shown(word(self.scheduled)),
            }),
        }
    }
}

/// A time that may be empty or -1.
fn known(field: Field, value: &str) -> Result<Option<Duration>, SkipReason> {
    if value.is_empty() { Ok(None) } else { number::time(field, value) }
}

/// A time without which there is no job.
fn needed(field: Field, value: &str) -> Result<Duration, SkipReason> {
    if value.is_empty() {
        return Err(SkipReason::Missing { field });
    }
    known(field, value)?.ok_or(SkipReason::Unknown { field })
}

/// The cells of one line, blanks round them removed.
fn split(text: &str) -> csv::StringRecord {
    let mut record = csv::StringRecord::new();
    let read = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .terminator(csv::Terminator::Any(b'\n'))
        .buffer_capacity(text.len().max(1))
        .from_reader(text.as_bytes())
        .read_record(&mut record);
    // Text in memory can neither fail to be read nor be anything but UTF-8.
    debug_assert!(read.is_ok(), "{read:?}");
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "scheduled_time,name,extra,qos,pod_phase,creation_time,deletion_time";

    fn parse(text: &str) -> Result<TraceJob, SkipReason> {
        let line = Line { number: 2, bytes: text.as_bytes(), too_long: false, ended: true };
        Columns::find(HEADER).unwrap().job(&line)
    }

    #[test]
    fn columns_are_found_by_name_and_the_missing_one_is_named() {
        assert!(looks_like_a_header(HEADER) && looks_like_a_header("\"name\",\"qos\""));
        assert!(!looks_like_a_header("name,value") && !looks_like_a_header(""));
        let missing = |header| Columns::find(header).err();
        assert_eq!(missing("name,pod_phase"), Some("qos"));
        assert_eq!(missing(HEADER), None);
        assert_eq!(missing(HEADER.strip_suffix(",deletion_time").unwrap()), Some("deletion_time"));
    }

    #[test]
    fn each_phase_has_its_outcome_and_run_time() {
        let table = [
            ("7,p,,LS,Succeeded,5,9", 2, LoggedOutcome::Completed),
            ("7,p,,LS,Running,5,9", 2, LoggedOutcome::Completed),
            ("7,p,,LS,Failed,5,9", 2, LoggedOutcome::Failed),
            (",p,,LS,Pending,5,9", 0, LoggedOutcome::Cancelled),
            (",p,,LS,Pending,5,", 0, LoggedOutcome::Cancelled),
            ("7,p,,LS,Pending,5,9", 0, LoggedOutcome::Cancelled),
            ("7,\"p\",\",\",LS,Failed,5,7", 0, LoggedOutcome::Failed),
        ];
        for (text, run_time, outcome) in table {
            let job = parse(text).unwrap();
            assert_eq!(job.run_time, Duration::from_secs(run_time), "{text}");
            assert_eq!((job.outcome, job.name.as_str()), (outcome, "p"), "{text}");
            assert_eq!(job.submit, Duration::from_secs(5), "{text}");
            assert_eq!(job.class, Some(QosClass::LatencySensitive), "{text}");
        }
    }

    #[test]
    fn other_lines_are_skipped_with_column_and_value() {
        let table = [
            ("7,p,,Gold,Failed,5,9", "field 4 (qos): `Gold` is none of Guaranteed, LS"),
            ("7,p,,LS,Unknown,5,9", "field 5 (pod_phase): `Unknown` is none of Succeeded"),
            ("7,p,,LS,Failed,5,6", "field 7 (deletion_time): `6` is before the start at `7`"),
            (",p,,LS,Failed,5,6", "field 1 (scheduled_time): empty"),
            ("7,p,,LS,Running,5,", "field 7 (deletion_time): empty"),
            ("7,p,,LS,Running,-1,8", "field 6 (creation_time): `-1`, that is unknown"),
            ("7,p,,LS,Running,,8", "field 6 (creation_time): empty"),
            ("x,p,,LS,Pending,5,8", "field 1 (scheduled_time): `x` is not a number"),
            ("7,p,,LS,Running,5", "number of fields: 6 instead of 7"),
            ("\"7,p,,LS,Running,5,8", "number of fields: 1 instead of 7"),
        ];
        for (text, expected) in table {
            let reason = parse(text).unwrap_err().to_string();
            assert!(reason.starts_with(expected), "{text}: {reason}");
        }
    }
}
