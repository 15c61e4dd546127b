//! Why a whole log cannot be read.

use std::io;

use thiserror::Error;

/// Why a log could not be read at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file is missing or cannot be opened.
    #[error("cannot open {name}: {source}")]
    Open {
        /// The file.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// Reading or unpacking failed.
    #[error("cannot read line {line} of {name}: {source}")]
    Read {
        /// The log.
        name: String,
        /// The line that could not be read.
        line: u64,
        /// What the system or the unpacker said.
        source: io::Error,
    },
    /// The first line that is not blank fits neither format.
    #[error(
        "{name} is no workload log: line {line} is neither an SWF comment or job nor the header \
         of a pod list, but `{found}`"
    )]
    NotATrace {
        /// The log.
        name: String,
        /// The line.
        line: u64,
        /// The beginning of the line, with escapes for what cannot be printed.
        found: String,
    },
    /// A pod list without a column that is needed.
    #[error("{name} lacks the column `{column}` in its header, line {line}")]
    MissingColumn {
        /// The log.
        name: String,
        /// The header's line.
        line: u64,
        /// The name of the column.
        column: &'static str,
    },
    /// There is no data line.
    #[error("{name} holds no job: all of its {lines} lines are blank, comments or the header")]
    Empty {
        /// The log.
        name: String,
        /// How many lines there are.
        lines: u64,
    },
}
