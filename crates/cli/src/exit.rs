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
        Self(format!("{what}: {}", with_causes(why)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(with_causes(&error))
    }
}

/// An error's message, followed by those of its causes.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    std::iter::successors(error.source(), |&cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
