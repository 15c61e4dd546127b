//! What a check found, in words.

use std::fmt;

use serde::Serialize;

use super::history::Operation;

/// A way in which a history can fail to be linearizable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// A value was popped that was not pushed, not yet, twice, or to another band.
    Fresh,
    /// Two values of one band came out against the order in which they went in.
    Fifo,
    /// A pop passed a more urgent value that was there all the time.
    Inversion,
    /// A pop had no moment left: the order inside its band and more urgent values together leave
    /// none.
    NoMoment,
    /// A pop found nothing although something was there all the time.
    NotEmpty,
    /// A push found no room although there was some all the time.
    NotFull,
    /// A band held more than its capacity.
    OverCapacity,
    /// A call answered as if the queue were closed before, or open after, it was.
    Closing,
}

impl ViolationKind {
    const fn in_words(self) -> &'static str {
        match self {
            Self::Fresh => "a value was popped that was not pushed, or twice, or elsewhere",
            Self::Fifo => "two values of one band came out in the wrong order",
            Self::Inversion => "a pop passed something more urgent that was there all the time",
            Self::NoMoment => "no moment is left at which this pop could have happened",
            Self::NotEmpty => "a pop found nothing although something was there all the time",
            Self::NotFull => "a push found no room although there was some all the time",
            Self::OverCapacity => "a band held more than its capacity",
            Self::Closing => "a call answered against the state of closing",
        }
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.in_words())
    }
}

/// One violation, with the calls that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong.
    pub kind: ViolationKind,
    /// The call that cannot be explained.
    pub culprit: Operation,
    /// The calls that leave it no explanation, in order of time.
    pub because: Vec<Operation>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.kind)?;
        write!(f, "  {}", self.culprit)?;
        for operation in &self.because {
            write!(f, "\n  while {operation}")?;
        }
        Ok(())
    }
}

/// What a check came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// How many calls were judged.
    pub operations: usize,
    /// How many violations of each kind there are.
    pub violations: std::collections::BTreeMap<ViolationKind, u64>,
    /// The one with the fewest calls to prove it.
    pub witness: Option<Violation>,
}

impl Verdict {
    /// Whether the history is linearizable, as far as the patterns tell: they are complete for
    /// pushes, pops and empty answers of unrestricted receivers, and sound for the rest.
    #[must_use]
    pub fn is_linearizable(&self) -> bool {
        self.violations.is_empty()
    }

    /// How many pops passed something more urgent.
    #[must_use]
    pub fn inversions(&self) -> u64 {
        self.violations.get(&ViolationKind::Inversion).copied().unwrap_or(0)
    }

    pub(super) fn add(&mut self, kind: ViolationKind, proof: impl FnOnce() -> Violation) {
        let count = self.violations.entry(kind).or_default();
        *count += 1;
        // Proofs can be long to find; the first few of a kind hold a short one.
        const LOOKED_AT: u64 = 200;
        if *count > LOOKED_AT {
            return;
        }
        let violation = proof();
        let length = |violation: &Violation| violation.because.len();
        if self.witness.as_ref().is_none_or(|best| length(&violation) < length(best)) {
            self.witness = Some(violation);
        }
    }
}
