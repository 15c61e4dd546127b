//! Printing that outlives its reader: a closed pipe is no reason to panic.

use std::io::{self, Write};

use crate::exit::Failure;

/// Writes to standard output. A reader that went away is told of, once, as a failure.
pub(crate) fn stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|error| Failure::because("cannot write to standard output", &error))
}

/// Writes a line to standard error, for people. If nobody reads it, so be it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "overtake: {text}");
}

/// Writes to standard error as it is.
pub(crate) fn raw(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes an error to standard error.
pub(crate) fn error(text: &str) {
    note(&format!("error: {text}"));
}
