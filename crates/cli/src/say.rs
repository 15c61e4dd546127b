//! Printing that outlives its reader: a closed pipe is no reason to panic.

use std::borrow::Cow;
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

/// A text with what would break its line, or command the terminal, written as escapes.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = |character: char| {
        let escape = character.is_control().then(|| character.escape_debug());
        let plain = (!character.is_control()).then_some(character);
        escape.into_iter().flatten().chain(plain)
    };
    Cow::Owned(text.chars().flat_map(escaped).collect())
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(one_line("plain \"é\" \\"), "plain \"é\" \\");
        assert_eq!(one_line("a\nb\u{1b}[31m \"é\""), "a\\nb\\u{1b}[31m \"é\"");
    }
}
