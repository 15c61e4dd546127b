//! Why one line of a log is skipped.

use std::fmt;

use thiserror::Error;

/// A data line that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// Its number, the first line of the file being 1.
    pub line: u64,
    /// Why it is skipped.
    pub reason: SkipReason,
}

/// A field of a line, by its number (the first is 1) and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its place in the line; the first is 1.
    pub number: usize,
    /// What the format calls it.
    pub name: &'static str,
}

/// Why a data line is skipped. Values are cut to a readable length and escaped.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// The line has too few or too many fields.
    #[error("number of fields: {found} instead of {expected}")]
    FieldCount {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The last line has the wrong number of fields and no line end.
    #[error("cut off, without a line end; number of fields: {found} instead of {expected}")]
    CutOff {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The line is longer than any job line can be.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// The largest length that is read.
        limit: usize,
    },
    /// The line is not UTF-8.
    #[error("not UTF-8 from byte {byte} of the line on")]
    NotUtf8 {
        /// The first byte that is not, counted from 1.
        byte: usize,
    },
    /// A field that should be a number is not.
    #[error("{field}: `{value}` is not a number")]
    NotANumber {
        /// The field.
        field: Field,
        /// What it holds.
        value: String,
    },
    /// A number that is not finite, as written or because it is too large.
    #[error("{field}: `{value}` is not a finite number")]
    NotFinite {
        /// The field.
        field: Field,
        /// What it holds.
        value: String,
    },
    /// A fraction where only a whole number makes sense.
    #[error("{field}: `{value}` is not a whole number")]
    NotWhole {
        /// The field.
        field: Field,
        /// What it holds.
        value: String,
    },
    /// A negative number other than -1, which would mean unknown.
    #[error("{field}: `{value}` is negative")]
    Negative {
        /// The field.
        field: Field,
        /// What it holds.
        value: String,
    },
    /// A number that is too large to be kept exactly.
    #[error("{field}: `{value}` is too large to be kept exactly")]
    TooLarge {
        /// The field.
        field: Field,
        /// What it holds.
        value: String,
    },
    /// A field without which the job cannot be replayed is -1.
    #[error("{field}: `-1`, that is unknown, and the job cannot be replayed without it")]
    Unknown {
        /// The field.
        field: Field,
    },
    /// A field without which the job cannot be replayed is empty.
    #[error("{field}: empty, and the job cannot be replayed without it")]
    Missing {
        /// The field.
        field: Field,
    },
    /// The line is a part of a job that has a line of its own for the whole.
    #[error("{field}: `{status}` marks a partial execution; the job has a line for the whole")]
    PartialExecution {
        /// The field.
        field: Field,
        /// The status: 2, 3 or 4.
        status: i64,
    },
    /// The status says nothing about how the job ended.
    #[error("{field}: `{status}` is none of 0 (failed), 1 (completed), 5 (cancelled)")]
    Status {
        /// The field.
        field: Field,
        /// The status.
        status: i64,
    },
    /// A word that the format does not have.
    #[error("{field}: `{value}` is none of {known}")]
    UnknownWord {
        /// The field.
        field: Field,
        /// What it holds.
        value: String,
        /// The words that are known.
        known: &'static str,
    },
    /// The job ends before it starts.
    #[error("{field}: `{value}` is before the start at `{start}`")]
    EndBeforeStart {
        /// The field with the end.
        field: Field,
        /// The end.
        value: String,
        /// The start.
        start: String,
    },
}

/// What of a value is shown: its beginning, with escapes for what cannot be printed.
pub(super) fn shown(value: &str) -> String {
    const LIMIT: usize = 60;
    let mut short: String = value.chars().take(LIMIT).flat_map(char::escape_debug).collect();
    if value.chars().nth(LIMIT).is_some() {
        short.push('…');
    }
    short
}

impl fmt::Display for SkippedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {} ({})", self.number, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_line_names_line_field_and_value() {
        let field = Field { number: 4, name: "run time" };
        let reason = SkipReason::NotANumber { field, value: shown("ab\tc") };
        assert_eq!(
            SkippedLine { line: 7, reason }.to_string(),
            "line 7: field 4 (run time): `ab\\tc` is not a number"
        );
    }

    #[test]
    fn a_long_value_is_cut() {
        assert_eq!(shown(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(shown(&"é".repeat(61)), "é".repeat(60) + "…");
    }
}
