//! A unit of work and its history.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// Names one accepted job within its runtime, in order of acceptance.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct JobId(pub(crate) u64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// One failed attempt, as kept in a job's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedAttempt {
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The error and its causes, or the panic's message and place.
    pub error: String,
    /// When it ended, on the wall clock.
    #[serde(with = "crate::wall_time")]
    pub at: SystemTime,
    /// How long the handler ran.
    #[serde(with = "crate::millis")]
    pub ran_for: Duration,
}

/// A unit of work: a payload with a name, a priority, a retry limit and the history of its failed
/// attempts.
///
/// Handlers see it unchanged; only the runtime makes the next attempt out of it.
///
/// ```
/// use std::time::Duration;
/// use overtake_runtime::Job;
///
/// let job = Job::new("resize", "cat.png").with_priority(2).with_max_retries(5);
/// assert_eq!((job.name(), job.priority(), *job.payload()), ("resize", 2, "cat.png"));
/// assert_eq!(job.attempt(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job<P> {
    pub(crate) id: JobId,
    pub(crate) name: Cow<'static, str>,
    pub(crate) priority: usize,
    pub(crate) payload: P,
    pub(crate) attempts_made: u32,
    pub(crate) max_retries: Option<u32>,
    pub(crate) expires_in: Option<Duration>,
    pub(crate) generation: u32,
    pub(crate) history: Vec<FailedAttempt>,
    pub(crate) timing: Timing,
}

/// Where a job stands on the runtime's clock. Not kept in dead letters: another process has
/// another clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timing {
    pub(crate) submitted_at: Duration,
    pub(crate) started_before: bool,
}

impl<P> Job<P> {
    /// A job of priority 0, the most urgent, with the runtime's retry limit and without expiry.
    pub fn new(name: impl Into<Cow<'static, str>>, payload: P) -> Self {
        Self {
            id: JobId::default(),
            name: name.into(),
            priority: 0,
            payload,
            attempts_made: 0,
            max_retries: None,
            expires_in: None,
            generation: 0,
            history: Vec::new(),
            timing: Timing::default(),
        }
    }

    /// Sets the priority; 0 is the most urgent.
    #[must_use]
    pub fn with_priority(mut self, priority: usize) -> Self {
        self.priority = priority;
        self
    }

    /// Sets how many times it is tried again after a failed attempt, in place of the runtime's
    /// limit: a job that always fails runs `max_retries + 1` times.
    #[must_use]
    pub fn with_max_retries(mut self, max_retries: u32) -> Self {
        self.max_retries = Some(max_retries);
        self
    }

    /// Sets how long after its submission the job may still be started.
    #[must_use]
    pub fn with_expiry(mut self, expires_in: Duration) -> Self {
        self.expires_in = Some(expires_in);
        self
    }

    /// Says that this many attempts were made elsewhere already; they count against the limit.
    #[must_use]
    pub fn with_attempts_made(mut self, attempts: u32) -> Self {
        self.attempts_made = attempts;
        self
    }

    /// Says how often it came back from the dead letters before.
    #[must_use]
    pub fn with_generation(mut self, generation: u32) -> Self {
        self.generation = generation;
        self
    }

    /// Its number in the runtime that accepted it; `#0` before.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its priority; 0 is the most urgent.
    pub fn priority(&self) -> usize {
        self.priority
    }

    /// What the handler works on.
    pub fn payload(&self) -> &P {
        &self.payload
    }

    /// Takes the payload out.
    pub fn into_payload(self) -> P {
        self.payload
    }

    /// The number of the attempt that runs or is next, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempts_made.saturating_add(1)
    }

    /// How many attempts were made and failed.
    pub fn attempts_made(&self) -> u32 {
        self.attempts_made
    }

    /// Its own retry limit, if it has one. A runtime that accepts a job fills its limit in.
    pub fn max_retries(&self) -> Option<u32> {
        self.max_retries
    }

    /// How long after its submission it may still be started.
    pub fn expires_in(&self) -> Option<Duration> {
        self.expires_in
    }

    /// How often it came back from the dead letters.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Its failed attempts, oldest first.
    pub fn history(&self) -> &[FailedAttempt] {
        &self.history
    }

    /// When it was submitted, on the clock of the runtime that accepted it.
    pub fn submitted_at(&self) -> Duration {
        self.timing.submitted_at
    }

    pub(crate) fn has_expired(&self, now: Duration) -> bool {
        self.expires_in.is_some_and(|limit| now > self.timing.submitted_at.saturating_add(limit))
    }

    /// The job as it begins anew after the dead letters: attempts from 1, one generation on. The
    /// history stays, so that a later reader sees every failure.
    #[must_use]
    pub fn reborn(mut self) -> Self {
        self.attempts_made = 0;
        self.generation = self.generation.saturating_add(1);
        self.timing = Timing::default();
        self
    }
}
