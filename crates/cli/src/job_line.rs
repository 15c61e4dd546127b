//! A job as a line of JSON.

use std::time::Duration;

use overtake_runtime::Job;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the handler works on: a command, not yet run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandSpec {
    pub(crate) command: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
}

/// A job of this command line.
pub(crate) type CommandJob = Job<CommandSpec>;

/// Why a line is no job.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineError {
    #[error("it is not UTF-8 from byte {0} on")]
    NotUtf8(usize),
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("it is JSON, but not an object: {0}")]
    NotAnObject(String),
    #[error("unknown field `{field}`; the fields are: {}", FIELDS.join(", "))]
    UnknownField { field: String },
    #[error("field `{field}` is missing")]
    Missing { field: &'static str },
    #[error("field `{field}`: {value} is not {expected}")]
    Bad { field: &'static str, value: String, expected: String },
    #[error(
        "field `priority`: {priority} is out of range; there are {priorities}, numbered from 0"
    )]
    Priority { priority: u64, priorities: usize },
    #[error("field `command` is empty; it needs at least a program")]
    EmptyCommand,
}

const FIELDS: [&str; 8] = [
    "name",
    "priority",
    "command",
    "max_retries",
    "timeout_ms",
    "expires_in_ms",
    "attempts_made",
    "generation",
];

/// Reads line number `line`. A job without a priority gets the least urgent of `priorities`.
pub(crate) fn parse(bytes: &[u8], line: u64, priorities: usize) -> Result<CommandJob, LineError> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| LineError::NotUtf8(error.valid_up_to()))?;
    // The parser counts lines itself, and there is only one.
    let not_json = |error: serde_json::Error| {
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or(&said).to_owned();
        LineError::NotJson(format!("{said} at column {}", error.column()))
    };
    let fields = match serde_json::from_str(text).map_err(not_json)? {
        Value::Object(fields) => Fields(fields),
        other => return Err(LineError::NotAnObject(shortened(&other))),
    };
    fields.all_known()?;
    let priority = fields.number("priority", u64::MAX)?.unwrap_or(priorities as u64 - 1);
    let in_range = usize::try_from(priority).ok().filter(|&priority| priority < priorities);
    let priority = in_range.ok_or(LineError::Priority { priority, priorities })?;
    let name = fields.text("name")?.unwrap_or_else(|| format!("job-{line}"));
    let spec = CommandSpec {
        command: fields.command()?,
        timeout_ms: fields.number("timeout_ms", u64::MAX)?,
    };
    let small = |field| Ok(fields.number(field, u64::from(u32::MAX))?.map(|number| number as u32));

    let mut job = Job::new(name, spec)
        .with_priority(priority)
        .with_attempts_made(small("attempts_made")?.unwrap_or(0))
        .with_generation(small("generation")?.unwrap_or(0));
    if let Some(max_retries) = small("max_retries")? {
        job = job.with_max_retries(max_retries);
    }
    if let Some(millis) = fields.number("expires_in_ms", u64::MAX)? {
        job = job.with_expiry(Duration::from_millis(millis));
    }
    Ok(job)
}

struct Fields(Map<String, Value>);

impl Fields {
    fn all_known(&self) -> Result<(), LineError> {
        match self.0.keys().find(|field| !FIELDS.contains(&field.as_str())) {
            Some(field) => Err(LineError::UnknownField { field: field.clone() }),
            None => Ok(()),
        }
    }

    /// A field that is there; `null` counts as absent.
    fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    fn number(&self, field: &'static str, max: u64) -> Result<Option<u64>, LineError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        let number = value.as_u64().filter(|&number| number <= max);
        number.map(Some).ok_or_else(|| {
            let expected = match max {
                u64::MAX => "a whole number from 0".to_owned(),
                max => format!("a whole number from 0 to {max}"),
            };
            LineError::Bad { field, value: shortened(value), expected }
        })
    }

    fn text(&self, field: &'static str) -> Result<Option<String>, LineError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::String(text)) if !text.contains('\0') => Ok(Some(text.clone())),
            Some(other) => {
                let expected = "a string, without zero bytes".to_owned();
                Err(LineError::Bad { field, value: shortened(other), expected })
            }
        }
    }

    fn command(&self) -> Result<Vec<String>, LineError> {
        let field = "command";
        let value = self.get(field).ok_or(LineError::Missing { field })?;
        let bad = |value: &Value| {
            let expected = "an array of strings, without zero bytes".to_owned();
            LineError::Bad { field, value: shortened(value), expected }
        };
        let words = value.as_array().ok_or_else(|| bad(value))?;
        let word = |word: &Value| {
            let text = word.as_str().filter(|text| !text.contains('\0'));
            text.map(str::to_owned).ok_or_else(|| bad(word))
        };
        let command = words.iter().map(word).collect::<Result<Vec<_>, _>>()?;
        if command.first().is_none_or(String::is_empty) {
            return Err(LineError::EmptyCommand);
        }
        Ok(command)
    }
}

/// A value as it stands in an error message.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    priority: usize,
    command: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_retries: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_ms: Option<u64>,
    #[serde(skip_serializing_if = "is_zero")]
    attempts_made: u32,
    #[serde(skip_serializing_if = "is_zero")]
    generation: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde calls")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The line, with its end, that [`parse`] makes the same job from.
pub(crate) fn write(job: &CommandJob) -> String {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let line = Line {
        name: job.name(),
        priority: job.priority(),
        command: &job.payload().command,
        max_retries: job.max_retries(),
        timeout_ms: job.payload().timeout_ms,
        expires_in_ms: job.expires_in().map(millis),
        attempts_made: job.attempts_made(),
        generation: job.generation(),
    };
    // Strings and numbers only: this cannot fail.
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &str) -> String {
        parse(line.as_bytes(), 7, 4).expect_err(line).to_string()
    }

    #[test]
    fn a_line_with_everything() {
        let line = r#"{"name": "a", "priority": 1, "command": ["sh", "-c", ""], "max_retries": 0,
            "timeout_ms": 5, "expires_in_ms": 6, "attempts_made": 2, "generation": 3}"#;
        let job = parse(line.as_bytes(), 1, 4).expect("valid");
        assert_eq!((job.name(), job.priority(), job.max_retries()), ("a", 1, Some(0)));
        assert_eq!((job.attempt(), job.generation()), (3, 3));
        assert_eq!(job.expires_in(), Some(Duration::from_millis(6)));
        let spec = CommandSpec {
            command: ["sh", "-c", ""].map(str::to_owned).into(),
            timeout_ms: Some(5),
        };
        assert_eq!(*job.payload(), spec);
        assert_eq!(parse(write(&job).trim_end().as_bytes(), 1, 4), Ok(job));
    }

    #[test]
    fn what_is_absent_has_a_default() {
        let job = parse(br#"{"command": ["true"], "name": null}"#, 7, 4).expect("valid");
        assert_eq!((job.name(), job.priority(), job.max_retries()), ("job-7", 3, None));
        assert_eq!(write(&job), "{\"name\":\"job-7\",\"priority\":3,\"command\":[\"true\"]}\n");
    }

    #[test]
    fn each_bad_line_is_named() {
        let table = [
            ("{", "it is not JSON: EOF while parsing an object at column 1"),
            ("[1]", "it is JSON, but not an object: [1]"),
            ("{}", "field `command` is missing"),
            (
                r#"{"comand": []}"#,
                "unknown field `comand`; the fields are: name, priority, command",
            ),
            (r#"{"command": []}"#, "field `command` is empty"),
            (r#"{"command": [""]}"#, "field `command` is empty"),
            (r#"{"command": "ls"}"#, r#"field `command`: "ls" is not an array of strings"#),
            (r#"{"command": ["a", 1]}"#, "field `command`: 1 is not an array of strings"),
            (r#"{"command": ["a\u0000b"]}"#, "without zero bytes"),
            (
                r#"{"command": ["a"], "priority": 4}"#,
                "field `priority`: 4 is out of range; there are 4",
            ),
            (
                r#"{"command": ["a"], "priority": -1}"#,
                "field `priority`: -1 is not a whole number from 0",
            ),
            (
                r#"{"command": ["a"], "priority": 1.5}"#,
                "field `priority`: 1.5 is not a whole number",
            ),
            (r#"{"command": ["a"], "max_retries": 4294967296}"#, "from 0 to 4294967295"),
            (r#"{"command": ["a"], "name": 3}"#, "field `name`: 3 is not a string"),
            (r#"{"command": ["a"], "name": "a\u0000b"}"#, "without zero bytes"),
        ];
        for (line, expected) in table {
            let said = error(line);
            assert!(said.contains(expected), "{line}\n  said: {said}\n  not:  {expected}");
        }
        let said = parse(b"{\"name\": \"\xff\"}", 1, 4).expect_err("not UTF-8").to_string();
        assert_eq!(said, "it is not UTF-8 from byte 10 on");
    }
}
