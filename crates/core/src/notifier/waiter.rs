//! One who waits: its cell, and the evidence of having announced.

use std::fmt;

use super::Notifier;
use crate::deadline::Deadline;
use crate::sync::{Arc, Condvar, Mutex, lock, wait, wait_for};

/// What a waiter was woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Something happened in this band.
    Band(usize),
    /// Closed or released.
    All,
}

/// How a park ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Woken {
    /// Somebody told this waiter.
    Told(Told),
    /// The deadline passed first.
    TimedOut,
}

/// Where one thread sleeps. Cells are used again; a late wake of an earlier use is harmless,
/// because a sleeper goes by what it was told, not by having been woken.
#[derive(Debug, Default)]
pub(super) struct Cell {
    told: Mutex<Option<Told>>,
    told_changed: Condvar,
}

impl Cell {
    /// Called under the list's lock, at most once between announcing and leaving.
    pub(super) fn tell(&self, told: Told) {
        let before = lock(&self.told).replace(told);
        debug_assert_eq!(before, None, "told twice");
    }

    pub(super) fn wake(&self) {
        self.told_changed.notify_one();
    }

    /// Called under the list's lock.
    pub(super) fn take_told(&self) -> Option<Told> {
        lock(&self.told).take()
    }

    fn sleep(&self, deadline: Deadline) -> Woken {
        let mut told = lock(&self.told);
        loop {
            if let Some(told) = *told {
                return Woken::Told(told);
            }
            told = match deadline.remaining() {
                None => wait(&self.told_changed, told),
                Some(rest) if rest.is_zero() => return Woken::TimedOut,
                Some(rest) => wait_for(&self.told_changed, told, rest),
            };
        }
    }
}

/// Evidence of having announced. Dropped without [`leave`](Self::leave) it passes a wake on, so
/// that no path out, not even an unwinding one, can swallow it.
#[must_use]
pub(crate) struct Waiter<'a> {
    notifier: &'a Notifier,
    /// `None` once it has left.
    cell: Option<Arc<Cell>>,
    seniority: u64,
}

impl<'a> Waiter<'a> {
    pub(super) fn new(notifier: &'a Notifier, cell: Arc<Cell>, seniority: u64) -> Self {
        Self { notifier, cell: Some(cell), seniority }
    }

    /// To be given to the next announcement of the same wait.
    pub(crate) fn seniority(&self) -> u64 {
        self.seniority
    }

    /// A4: sleeps until told or until the deadline.
    pub(crate) fn park(&self, deadline: Deadline) -> Woken {
        self.cell.as_ref().map_or(Woken::TimedOut, |cell| cell.sleep(deadline))
    }

    /// Waits no longer. Who was told a band owes it a last look (N3).
    #[must_use]
    pub(crate) fn leave(mut self) -> Option<Told> {
        self.leave_now()
    }

    fn leave_now(&mut self) -> Option<Told> {
        let cell = self.cell.take()?;
        self.notifier.leave(self.seniority, &cell)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Some(Told::Band(band)) = self.leave_now() {
            let _ = self.notifier.tell_one(band);
        }
    }
}

impl fmt::Debug for Waiter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("seniority", &self.seniority).finish_non_exhaustive()
    }
}
