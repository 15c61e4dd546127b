//! What a handler may answer.

use std::error::Error;
use std::time::Duration;

/// What is to become of a job after a run of its handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// The attempt failed. Tried again if the retry limit allows, else a dead letter.
    Retry {
        /// What went wrong.
        error: String,
        /// The delay before the next attempt, in place of the retry policy's.
        after: Option<Duration>,
    },
    /// Not now: run it again after the delay. Uses up no attempt.
    Snooze {
        /// How long to wait.
        after: Duration,
    },
    /// Not here: hand it to whoever is free. Uses up no attempt; at shutdown it is handed back.
    Release,
    /// Never again: straight to the dead letters.
    DeadLetter {
        /// Why, in the handler's words.
        reason: String,
    },
    /// It is no longer wanted: neither done nor dead.
    Discard,
}

impl Outcome {
    /// A failed attempt with the policy's delay; the causes of `error` are kept.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Retry { error: with_causes(&*error.into()), after: None }
    }
}

/// An error's message, followed by those of its causes.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    std::iter::successors(error.source(), |&cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// What a handler may return: an [`Outcome`], or a `Result` whose error means a failed attempt.
pub trait IntoOutcome {
    /// The outcome meant.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Outcome::Done
    }
}

impl<T: IntoOutcome, E: Into<Box<dyn Error + Send + Sync>>> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> Outcome {
        match self {
            Ok(value) => value.into_outcome(),
            Err(error) => Outcome::failed(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot resize")]
    struct Outer(#[source] std::num::ParseIntError);

    #[test]
    fn an_error_keeps_its_causes() {
        let parse = "x".parse::<u8>().expect_err("no number");
        let outcome = Err::<(), _>(Outer(parse)).into_outcome();
        let error = "cannot resize: invalid digit found in string".to_owned();
        assert_eq!(outcome, Outcome::Retry { error, after: None });
        assert_eq!(Ok::<_, String>(Outcome::Discard).into_outcome(), Outcome::Discard);
    }
}
