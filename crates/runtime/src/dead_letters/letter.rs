//! One dead letter, and how to choose among them.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::job::Job;

/// Names one letter within its keeper, in order of arrival, from 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EntryId(pub u64);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a job will not be run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// Every attempt that the retry limit allows has failed.
    RetriesUsedUp,
    /// The last attempt that the retry limit allows has panicked.
    Panicked,
    /// The handler asked for it.
    Handler,
    /// It was not started in time.
    Expired,
    /// No routing rule fits it.
    NoRoute,
    /// The input it should have been made from is not valid; it was never a job.
    Refused,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::RetriesUsedUp,
        Self::Panicked,
        Self::Handler,
        Self::Expired,
        Self::NoRoute,
        Self::Refused,
    ];

    /// Its name, as written in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RetriesUsedUp => "retries-used-up",
            Self::Panicked => "panicked",
            Self::Handler => "handler",
            Self::Expired => "expired",
            Self::NoRoute => "no-route",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no [`Reason`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no reason for a dead letter; the reasons are: {}", Reason::ALL.map(Reason::name).join(", "))]
pub struct UnknownReason {
    text: String,
}

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, UnknownReason> {
        Self::ALL
            .into_iter()
            .find(|reason| reason.name() == text)
            .ok_or_else(|| UnknownReason { text: text.to_owned() })
    }
}

/// A job that will not be run again, with the reason and the last error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter<P> {
    /// Its number; set by the keeper.
    pub entry: EntryId,
    /// When it died, on the wall clock.
    pub at: SystemTime,
    /// Why, as a code.
    pub reason: Reason,
    /// Why, in words.
    pub error: String,
    /// What died.
    pub body: Body<P>,
}

/// What a dead letter is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<P> {
    /// A whole job, with the history of its failed attempts.
    Job(Job<P>),
    /// Input that was refused, as it came.
    Input {
        /// Where it stood, such as `jobs.jsonl:17`.
        place: String,
        /// The input itself.
        text: String,
    },
}

impl<P> DeadLetter<P> {
    /// The job, if there is one.
    pub fn job(&self) -> Option<&Job<P>> {
        match &self.body {
            Body::Job(job) => Some(job),
            Body::Input { .. } => None,
        }
    }

    /// The job's name, or the place of the refused input.
    pub fn name(&self) -> &str {
        match &self.body {
            Body::Job(job) => job.name(),
            Body::Input { place, .. } => place,
        }
    }
}

/// Chooses dead letters; what is not set matches everything.
///
/// ```
/// use overtake_runtime::{Filter, Reason};
///
/// let filter = Filter { reason: Some(Reason::Panicked), priority: Some(0), ..Filter::default() };
/// assert_eq!(filter.entry, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only this entry.
    pub entry: Option<EntryId>,
    /// Only this reason.
    pub reason: Option<Reason>,
    /// Only jobs of this priority.
    pub priority: Option<usize>,
    /// Only jobs with this name.
    pub name: Option<String>,
}

impl Filter {
    /// Whether a letter is chosen.
    #[must_use]
    pub fn matches<P>(&self, letter: &DeadLetter<P>) -> bool {
        let priority = letter.job().map(Job::priority);
        self.entry.is_none_or(|entry| entry == letter.entry)
            && self.reason.is_none_or(|reason| reason == letter.reason)
            && self.priority.is_none_or(|wanted| Some(wanted) == priority)
            && self.name.as_deref().is_none_or(|name| name == letter.name())
    }
}
