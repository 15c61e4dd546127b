//! The one decision after each run.

use std::time::Duration;

use crate::dead_letters::Reason;
use crate::outcome::Outcome;
use crate::retry::RetryPolicy;

/// How a run of a handler ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The handler returned.
    Answered(Outcome),
    /// The handler panicked, with this message and place.
    Panicked(String),
}

/// What is done with the job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Settlement {
    Done,
    Discard,
    /// A failed attempt is followed by another.
    RetryAfter {
        delay: Duration,
        error: String,
    },
    /// It comes back without having used up an attempt.
    ComeBackAfter(Duration),
    Dead {
        reason: Reason,
        error: String,
    },
}

/// Decides. `attempt` is the number of the attempt that ended, from 1.
pub(crate) fn settle(
    ended: Ended,
    attempt: u32,
    max_retries: u32,
    policy: &RetryPolicy,
) -> Settlement {
    let (error, after, last_reason) = match ended {
        Ended::Answered(Outcome::Done) => return Settlement::Done,
        Ended::Answered(Outcome::Discard) => return Settlement::Discard,
        Ended::Answered(Outcome::Release) => return Settlement::ComeBackAfter(Duration::ZERO),
        Ended::Answered(Outcome::Snooze { after }) => return Settlement::ComeBackAfter(after),
        Ended::Answered(Outcome::DeadLetter { reason }) => {
            return Settlement::Dead { reason: Reason::Handler, error: reason };
        }
        Ended::Answered(Outcome::Retry { error, after }) => (error, after, Reason::RetriesUsedUp),
        Ended::Panicked(message) => (message, None, Reason::Panicked),
    };
    if attempt > max_retries {
        return Settlement::Dead { reason: last_reason, error };
    }
    let delay = after.unwrap_or_else(|| policy.delay_after(attempt));
    Settlement::RetryAfter { delay, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed_at(attempt: u32, max_retries: u32) -> Settlement {
        let ended = Ended::Answered(Outcome::failed("no"));
        settle(ended, attempt, max_retries, &RetryPolicy::fixed(Duration::from_secs(1)))
    }

    #[test]
    fn kind_23_runs_are_the_limit_plus_one() {
        for limit in [0, 1, 3, 1_000] {
            let runs =
                (1..).find(|&attempt| matches!(failed_at(attempt, limit), Settlement::Dead { .. }));
            assert_eq!(runs, Some(limit + 1));
        }
        assert!(matches!(failed_at(1_000, u32::MAX), Settlement::RetryAfter { .. }));
    }

    #[test]
    fn what_uses_up_no_attempt_never_dies() {
        let policy = RetryPolicy::none();
        let after = Duration::from_secs(5);
        for (outcome, delay) in
            [(Outcome::Snooze { after }, after), (Outcome::Release, Duration::ZERO)]
        {
            let settled = settle(Ended::Answered(outcome), u32::MAX, 0, &policy);
            assert_eq!(settled, Settlement::ComeBackAfter(delay));
        }
    }

    #[test]
    fn a_panic_is_a_failed_attempt_with_its_own_reason() {
        let panicked =
            |attempt| settle(Ended::Panicked("boom".into()), attempt, 1, &RetryPolicy::default());
        assert!(matches!(panicked(1), Settlement::RetryAfter { .. }));
        assert!(matches!(panicked(2), Settlement::Dead { reason: Reason::Panicked, .. }));
    }

    #[test]
    fn a_handler_may_choose_the_delay() {
        let after = Some(Duration::from_millis(7));
        let ended = Ended::Answered(Outcome::Retry { error: "busy".into(), after });
        let settled = settle(ended, 1, 3, &RetryPolicy::default());
        assert_eq!(
            settled,
            Settlement::RetryAfter { delay: Duration::from_millis(7), error: "busy".into() }
        );
    }
}
