//! What a worker is at, and who decides about it.

use std::sync::Mutex;

use crate::event::Facts;
use crate::lock::lock;

/// What a worker is at. Worker and shutdown both may want to decide about the job that runs;
/// whoever changes the slot first does.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
enum Running {
    #[default]
    Nothing,
    Job(Facts),
    /// Shutdown waits no longer for this handler and has closed its job's account.
    Abandoned,
    /// Shutdown waits no longer, and nothing ran: no handler begins here any more.
    Shut,
}

/// Whether a handler may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Begins {
    Now,
    NotAnyMore,
}

/// Who decides about a job whose handler has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Decides {
    Worker,
    ShutdownDid,
}

impl Slot {
    pub(crate) fn occupy(&self, facts: Facts) -> Begins {
        let mut running = lock(&self.running);
        match &*running {
            Running::Shut | Running::Abandoned => Begins::NotAnyMore,
            Running::Nothing | Running::Job(_) => {
                *running = Running::Job(facts);
                Begins::Now
            }
        }
    }

    pub(crate) fn vacate(&self) -> Decides {
        let mut running = lock(&self.running);
        match &*running {
            Running::Abandoned => Decides::ShutdownDid,
            Running::Job(_) | Running::Nothing | Running::Shut => {
                *running = Running::Nothing;
                Decides::Worker
            }
        }
    }

    /// Takes the decision about a running job away from its worker. Where none runs, none begins
    /// any more.
    pub(crate) fn abandon(&self) -> Option<Facts> {
        let mut running = lock(&self.running);
        let (now, facts) = match std::mem::take(&mut *running) {
            Running::Nothing | Running::Shut => (Running::Shut, None),
            Running::Job(facts) => (Running::Abandoned, Some(facts)),
            Running::Abandoned => (Running::Abandoned, None),
        };
        *running = now;
        facts
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        matches!(&*lock(&self.running), Running::Abandoned)
    }

    pub(crate) fn is_occupied(&self) -> bool {
        matches!(&*lock(&self.running), Running::Job(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;

    fn facts() -> Facts {
        Facts::from(&Job::new("job", ()))
    }

    #[test]
    fn kind_26_worker_and_shutdown_never_both_decide() {
        let slot = Slot::default();
        assert_eq!(slot.occupy(facts()), Begins::Now);
        assert_eq!(slot.vacate(), Decides::Worker);
        assert_eq!(slot.occupy(facts()), Begins::Now);
        assert!(slot.abandon().is_some() && slot.abandon().is_none());
        assert_eq!(slot.vacate(), Decides::ShutdownDid);
    }

    #[test]
    fn kind_25_no_handler_begins_once_shutdown_has_given_up() {
        let slot = Slot::default();
        assert!(slot.abandon().is_none());
        assert_eq!(slot.occupy(facts()), Begins::NotAnyMore);
        assert!(!slot.is_abandoned(), "no thread is left behind in a handler");
    }
}
