//! The place of one waiter. The unsafe code of the notifier's waking lives here.
//!
//! Ownership rule (N9): the sleeper is written only by
//! - the owner of the cell while the state is `Idle`: it has set the used bit, and no one borrows
//!   an idle cell;
//! - the last borrower of a `Gone` cell: the owner never touches it again.
//!
//! It is read by the owner, or by borrowers, of whom the state counts each.

use std::fmt;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::task::Waker;

use super::word::{Phase, StateWord, Told};
use crate::fault::Fault;
use crate::sync::{Ordering, Thread, UnsafeCell, Word};

/// Whom to wake.
#[derive(Debug)]
pub(crate) enum Sleeper {
    Thread(Thread),
    Task(Waker),
}

impl Sleeper {
    /// Drops it. A waker that panics in its `Drop` harms nobody: not the notifier that happens to
    /// be the last with it, nor the wake that the leaving one still has to pass on.
    pub(super) fn discard(self) {
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(self)));
        // The payload may panic in its own `Drop`: rather leaked than that.
        dropped.unwrap_or_else(std::mem::forget);
    }
}

#[repr(align(64))]
pub(super) struct Cell {
    state: Word,
    sleeper: UnsafeCell<Option<Sleeper>>,
}

// SAFETY: N9 says who may touch the sleeper, and each hand-over is a release of the state, or of the
// used bit, followed by an acquire of it. `Sleeper` itself is `Send` and `Sync`.
unsafe impl Sync for Cell {}
// SAFETY: as above; a cell that is moved is not shared.
unsafe impl Send for Cell {}

// A waker that panics leaves the cell as it was: all that follows is done after the panic is caught.
impl UnwindSafe for Cell {}
impl RefUnwindSafe for Cell {}

/// What a leaving owner finds.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) told: Option<Told>,
    /// Nobody borrows the cell: its owner frees it. Otherwise the last borrower will.
    pub(super) is_alone: bool,
}

impl Cell {
    pub(super) fn new() -> Self {
        Self { state: Word::new(StateWord::IDLE.bits()), sleeper: UnsafeCell::new(None) }
    }

    /// A2 and A3.
    ///
    /// # Safety
    ///
    /// The caller has set the used bit of this idle cell.
    pub(super) unsafe fn make_ready(&self, sleeper: Sleeper) {
        // SAFETY: N9: idle, and the caller's.
        self.sleeper.with_mut(|place| unsafe { *place = Some(sleeper) });
        // ORDERING: E9, releases the sleeper to those who borrow.
        let order = Fault::ReadyWithoutRelease.relaxes(Ordering::Release);
        self.state.store(StateWord::UNTOLD.bits(), order);
    }

    fn state(&self) -> StateWord {
        // ORDERING: E9, and E7: who sees that it was told sees what it was told of.
        StateWord::from_bits(self.state.load(Ordering::Acquire))
    }

    pub(super) fn told(&self) -> Option<Told> {
        self.state().told()
    }

    pub(super) fn is_untold(&self) -> bool {
        self.state() == StateWord::UNTOLD
    }

    /// T3: tells, if nobody has told and the owner has not left.
    pub(super) fn tell(&self, told: Told) -> Option<Borrow<'_>> {
        let (from, to) = (StateWord::UNTOLD, StateWord::told_by_one(told));
        if Fault::WakeBeforeTell.planted() && self.is_untold() {
            let _ = Borrow { cell: self }.wake_now();
        }
        if Fault::TellByStore.planted() {
            return self.change_by_store(from, to).then_some(Borrow { cell: self });
        }
        self.change(from, to).then_some(Borrow { cell: self })
    }

    /// H1: borrows a cell that was told already.
    ///
    /// Tries again where another borrows or returns it meanwhile: that one may be stopped before it
    /// wakes. Each such change is another notify's, and each of those makes two at most.
    pub(super) fn help(&self) -> Option<Borrow<'_>> {
        loop {
            let state = self.state();
            if !state.can_be_helped() {
                return None;
            }
            if self.change(state, state.borrowed_once_more()) {
                return Some(Borrow { cell: self });
            }
            if Fault::HelpOnce.planted() {
                return None;
            }
        }
    }

    fn change(&self, from: StateWord, to: StateWord) -> bool {
        // ORDERING: E9 acquires the sleeper of this very announcement; E7 releases to the waiter.
        let order = Fault::TellWithoutAcquire.relaxes(Ordering::AcqRel);
        let changed = self.state.compare_exchange(from.bits(), to.bits(), order, Ordering::Relaxed);
        changed.is_ok()
    }

    /// What the exchange is there to be better than.
    fn change_by_store(&self, from: StateWord, to: StateWord) -> bool {
        let as_expected = self.state() == from;
        if as_expected {
            self.state.store(to.bits(), Ordering::Release);
        }
        as_expected
    }

    /// L2: after it the cell may be another's, unless the owner is alone.
    pub(super) fn leave(&self) -> Left {
        loop {
            let state = self.state();
            debug_assert_eq!(state.phase(), Phase::Ready, "only its owner leaves: {state:?}");
            let left =
                if Fault::LeaveDespiteBorrowers.planted() { StateWord::IDLE } else { state.left() };
            let changed = if Fault::LeaveByStore.planted() {
                self.change_by_store(state, left)
            } else {
                self.change(state, left)
            };
            if changed {
                return Left { told: state.told(), is_alone: left == StateWord::IDLE };
            }
        }
    }

    /// Takes the sleeper out, to be dropped once the cell is free.
    ///
    /// # Safety
    ///
    /// The caller is alone with the cell: its owner that has left it idle, or the last borrower.
    pub(super) unsafe fn take_sleeper(&self) -> Option<Sleeper> {
        // SAFETY: N9, as the caller says.
        self.sleeper.with_mut(|place| unsafe { (*place).take() })
    }

    /// Whether a wake of this cell reaches the same task as `waker`.
    ///
    /// # Safety
    ///
    /// The caller owns the cell and has not left it.
    pub(super) unsafe fn would_wake(&self, waker: &Waker) -> bool {
        // SAFETY: N9: while the owner has not left nobody writes.
        self.sleeper.with(|place| match unsafe { &*place } {
            Some(Sleeper::Task(own)) => own.will_wake(waker),
            Some(Sleeper::Thread(_)) | None => false,
        })
    }
}

/// The right to use a cell's sleeper.
#[must_use]
pub(super) struct Borrow<'a> {
    cell: &'a Cell,
}

impl Borrow<'_> {
    /// Whether waking runs code that is not ours.
    pub(super) fn runs_user_code(&self) -> bool {
        self.read(|sleeper| matches!(sleeper, Some(Sleeper::Task(_))))
    }

    /// T5: says whether it went well. A waker that panics harms nobody but its own task.
    pub(super) fn wake(&self) -> bool {
        Fault::WakeBeforeTell.planted() || self.wake_now()
    }

    fn wake_now(&self) -> bool {
        self.read(|sleeper| match sleeper {
            Some(Sleeper::Thread(thread)) => {
                thread.unpark();
                true
            }
            Some(Sleeper::Task(waker)) => {
                let woken = catch_unwind(AssertUnwindSafe(|| waker.wake_by_ref()));
                // The payload may panic in its own `Drop`: rather leaked than that.
                woken.map_err(std::mem::forget).is_ok() || Fault::PanicCountsAsWake.planted()
            }
            None => {
                debug_assert!(Fault::any_planted(), "N9: no sleeper in a borrowed cell");
                true
            }
        })
    }

    fn read<R>(&self, use_it: impl FnOnce(&Option<Sleeper>) -> R) -> R {
        // SAFETY: N9: borrowed, so nobody writes until this borrow has ended.
        self.cell.sleeper.with(|place| use_it(unsafe { &*place }))
    }

    /// T7: says whether the caller is the last of a cell whose owner has gone, and must free it.
    #[must_use]
    pub(super) fn end(self) -> bool {
        // ORDERING: E9: all that borrowers read comes before the last one's, or the owner's, write.
        let order = Fault::EndWithoutRelease.relaxes(Ordering::AcqRel);
        let before = StateWord::from_bits(self.cell.state.fetch_sub(StateWord::BORROWER, order));
        let last = before.phase() == Phase::Gone && before.borrowers() == 1;
        if last {
            // Nobody else is in here: the state is this thread's.
            self.cell.state.store(StateWord::IDLE.bits(), Ordering::Relaxed);
        }
        last
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cell({:?})", self.state())
    }
}
