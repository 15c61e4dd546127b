//! Who may come in: one permit per job, kept until the job is settled for good.
//!
//! The permits of a priority are the places of one band of a channel that carries nothing: a
//! permit is a sent `()`. So waiting for one, giving up, and closing are the channel's.

use overtake_core::{
    BandSet, BuildError, Builder, Receiver, SendTimeoutError, Sender, TrySendError,
};
use std::time::Instant;

#[derive(Debug)]
pub(crate) struct Admission {
    permits: Sender<()>,
    /// One receiver per priority, to give permits back with.
    returns: Vec<Receiver<()>>,
}

/// How long to wait for a permit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    None,
    Until(Instant),
    Endless,
}

/// Why there is no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    Full,
    Closed,
}

impl Admission {
    pub(crate) fn new(capacities: &[usize]) -> Result<Self, BuildError> {
        let (permits, all) = Builder::new().bands(capacities).build()?;
        let of = |priority| all.clone().only(BandSet::only(priority));
        let returns = (0..capacities.len()).map(of).collect();
        Ok(Self { permits, returns })
    }

    pub(crate) fn admit(&self, priority: usize, patience: Patience) -> Result<(), NotAdmitted> {
        match patience {
            Patience::None => self.permits.try_send(priority, ()).map_err(|error| match error {
                TrySendError::Full(()) => NotAdmitted::Full,
                TrySendError::Closed(()) => NotAdmitted::Closed,
            }),
            Patience::Until(deadline) => {
                self.permits.send_deadline(priority, (), deadline).map_err(|error| match error {
                    SendTimeoutError::Timeout(()) => NotAdmitted::Full,
                    SendTimeoutError::Closed(()) => NotAdmitted::Closed,
                })
            }
            Patience::Endless => self.permits.send(priority, ()).map_err(|_| NotAdmitted::Closed),
        }
    }

    /// Gives the permit of one settled job back.
    pub(crate) fn give_back(&self, priority: usize) {
        let returned = self.returns[priority].try_recv();
        debug_assert_eq!(returned, Ok(()), "more permits came back than were given");
    }

    /// No more permits; those who wait for one are told.
    pub(crate) fn close(&self) {
        self.permits.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.permits.is_closed()
    }

    /// How many jobs are in the runtime.
    pub(crate) fn held(&self) -> usize {
        self.permits.len()
    }

    pub(crate) fn held_of(&self, priority: usize) -> usize {
        self.permits.len_of(priority)
    }

    pub(crate) fn capacity_of(&self, priority: usize) -> usize {
        self.permits.capacity_of(priority)
    }

    pub(crate) fn priorities(&self) -> usize {
        self.returns.len()
    }
}
