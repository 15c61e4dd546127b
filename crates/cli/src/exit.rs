//! Exit codes, and why the command as a whole could not do its work.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// How the command ended. Printed in `--help`; other programs rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything asked for was done.
    Fine = 0,
    /// It ran to its end, but something is dead, refused or skipped.
    WithLosses = 1,
    /// It could not run: bad usage, or a file that cannot be used.
    Failed = 2,
    /// It was asked to stop before the end, and has handed jobs back.
    Interrupted = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why nothing more could be done: what was tried, and the causes.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }

    /// What was tried, followed by why it failed.
    pub(crate) fn because(what: impl fmt::Display, why: &(dyn Error + 'static)) -> Self {
        let mut text = format!("{what}: {why}");
        let mut cause = why.source();
        while let Some(why) = cause {
            text.push_str(": ");
            text.push_str(&why.to_string());
            cause = why.source();
        }
        Self(text)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(why) = cause {
            text.push_str(": ");
            text.push_str(&why.to_string());
            cause = why.source();
        }
        Self(text)
    }
}
