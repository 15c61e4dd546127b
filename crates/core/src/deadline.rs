//! How long a blocking call may wait.

use std::time::{Duration, Instant};

/// The end of a wait. A timeout too long for the clock means for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    Never,
    At(Instant),
}

impl Deadline {
    pub(crate) fn after(timeout: Duration) -> Self {
        Instant::now().checked_add(timeout).map_or(Self::Never, Self::At)
    }

    /// What is left: `None` without an end, zero once it has passed.
    pub(crate) fn remaining(self) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::At(end) => Some(end.saturating_duration_since(Instant::now())),
        }
    }

    /// Whether it is over.
    pub(crate) fn has_passed(self) -> bool {
        self.remaining().is_some_and(|rest| rest.is_zero())
    }
}
