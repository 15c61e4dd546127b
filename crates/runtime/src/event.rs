//! Telling others what happens.

use std::fmt;
use std::time::Duration;

use crate::job::{Job, JobId};
use crate::panics::catch;

/// Something that happened to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// When, on the runtime's clock.
    pub at: Duration,
    /// What.
    pub kind: EventKind,
    /// The job's number.
    pub id: JobId,
    /// The job's name.
    pub name: &'a str,
    /// The job's priority.
    pub priority: usize,
    /// The attempt that runs, ran, or is next, from 1.
    pub attempt: u32,
    /// The worker it happened on, from 0; `None` for publishers, the retry timer and shutdown.
    pub worker: Option<usize>,
    /// What went wrong, for failures and dead letters.
    pub error: Option<&'a str>,
}

/// What can happen to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// It was accepted.
    Submitted,
    /// A handler begins.
    Started,
    /// A handler finished it.
    Succeeded,
    /// An attempt failed.
    Failed,
    /// It waits for its next attempt.
    Retrying,
    /// It became a dead letter.
    Dead,
    /// A handler found it no longer wanted.
    Discarded,
    /// It was handed back at shutdown.
    Returned,
}

impl EventKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Started => "started",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Retrying => "retrying",
            Self::Dead => "dead",
            Self::Discarded => "discarded",
            Self::Returned => "returned",
        }
    }
}

/// What is told of a job: it may be gone, or on its way, when it is told.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) id: JobId,
    pub(crate) name: std::borrow::Cow<'static, str>,
    pub(crate) priority: usize,
    pub(crate) attempt: u32,
}

impl<P> From<&Job<P>> for Facts {
    fn from(job: &Job<P>) -> Self {
        let attempt = job.attempt();
        Self { id: job.id, name: job.name.clone(), priority: job.priority, attempt }
    }
}

pub(crate) type Observe = Box<dyn Fn(&Event<'_>) + Send + Sync>;

/// Who is told of events, if anybody.
#[derive(Default)]
pub(crate) struct Observer {
    observe: Option<Observe>,
}

impl Observer {
    pub(crate) fn new(observe: Observe) -> Self {
        Self { observe: Some(observe) }
    }

    /// Whether facts for an event need to be gathered at all.
    pub(crate) fn listens(&self) -> bool {
        self.observe.is_some()
    }

    pub(crate) fn tell(&self, event: &Event<'_>) {
        if let Some(observe) = &self.observe {
            // An observer that panics must not take a worker, and with it a job, along.
            let _ = catch(|| observe(event));
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.listens() { "Observer(listening)" } else { "Observer(none)" })
    }
}
