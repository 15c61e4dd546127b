//! Why a job was not accepted.

use std::fmt;

use crate::job::Job;

/// Why a job was not accepted. The job is inside.
#[derive(Clone, PartialEq, Eq)]
pub enum PublishError<P> {
    /// Its priority has no room now (or had none up to the deadline).
    Full(Box<Job<P>>),
    /// The runtime takes nothing in any more.
    Closed(Box<Job<P>>),
    /// The runtime has no such priority.
    NoSuchPriority {
        /// The job.
        job: Box<Job<P>>,
        /// How many priorities the runtime has; they are numbered from 0.
        priorities: usize,
    },
}

impl<P> PublishError<P> {
    /// Whether there was no room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether nothing is taken in any more.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// The job that was not accepted.
    pub fn into_job(self) -> Job<P> {
        match self {
            Self::Full(job) | Self::Closed(job) | Self::NoSuchPriority { job, .. } => *job,
        }
    }
}

impl<P> fmt::Display for PublishError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(job) => write!(f, "priority {} is full", job.priority()),
            Self::Closed(_) => f.write_str("the runtime takes no more jobs"),
            Self::NoSuchPriority { job, priorities } => write!(
                f,
                "priority {} is out of range; there are {priorities}, numbered from 0",
                job.priority()
            ),
        }
    }
}

impl<P> fmt::Debug for PublishError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
            Self::NoSuchPriority { .. } => "NoSuchPriority { .. }",
        })
    }
}

impl<P> std::error::Error for PublishError<P> {}
