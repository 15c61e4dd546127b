//! What the waits of both sides have in common: who waits, and what a try that did not end comes to.

use std::task::Waker;

use crate::deadline::Deadline;
use crate::fault::Fault;
use crate::notifier::{Seat, Sleeper, WaitSet};
use crate::sync::{current, park, park_timeout};

/// Who waits: the calling thread, or the task of a future.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Caller<'a> {
    Thread,
    Task(&'a Waker),
}

impl Caller<'_> {
    pub(super) fn sleeper(self) -> Sleeper {
        match self {
            Self::Thread => Sleeper::Thread(current()),
            Self::Task(waker) => Sleeper::Task(waker.clone()),
        }
    }

    /// Whether a wake of this seat reaches the caller. A task may poll with another waker each time.
    pub(super) fn is_reached_by(self, waiting: &WaitSet, seat: &Seat) -> bool {
        match self {
            Self::Thread => true,
            Self::Task(waker) => waiting.would_wake(seat, waker) || Fault::KeepOldWaker.planted(),
        }
    }
}

/// What one round of a wait came to.
#[must_use]
#[derive(Debug)]
pub(crate) enum Step<R> {
    /// The call is over.
    Done(R),
    /// Announced, and nothing to do: sleep until told.
    Sleep,
    /// No wake will come, and yet it is not over: let others run, and try again.
    Yield,
}

/// How a sleep ended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slept {
    Told,
    TimedOut,
}

/// The calling thread sleeps until its seat is told or the deadline passes.
pub(super) fn sleep_until_told(waiting: &WaitSet, seat: &Seat, deadline: Deadline) -> Slept {
    while waiting.told(seat).is_none() {
        match deadline.remaining() {
            None => park(),
            Some(rest) if rest.is_zero() => return Slept::TimedOut,
            Some(rest) => park_timeout(rest),
        }
    }
    Slept::Told
}

/// Whether a look may be left out: only where a model asks for it.
pub(super) fn sleeps_without_a_look() -> bool {
    Fault::ParkWithoutLook.planted()
}
