//! Wakers that send: how deep a thread is inside the wakes of one wait set.
//!
//! A waker may send on the same channel, whose notify wakes the next waiter, whose waker sends, and
//! so on. Beyond a depth the innermost notify leaves its waiter to the outermost one.

use std::cell::RefCell;

use crate::sync::{DEEPEST_WAKE, thread_local};

/// For so many wait sets at once the depth is kept; beyond, wakes nest as they come.
const SETS: usize = 8;

// The outermost wake helps from one deeper, which must not be too deep.
const _: () = assert!(DEEPEST_WAKE >= 2);

#[derive(Clone, Copy, Default)]
struct Level {
    /// The address of a wait set; 0 where the place is free.
    set: usize,
    depth: u32,
    /// Somebody was left to the outermost wake.
    left_some: bool,
}

thread_local! {
    static LEVELS: RefCell<[Level; SETS]> = RefCell::new([Level::default(); SETS]);
}

/// One wake under way in this thread.
#[must_use]
pub(super) struct Frame {
    /// 0 where the depth is not kept.
    set: usize,
    is_outermost: bool,
}

impl Frame {
    /// Goes one deeper; `None` if that would be too deep: then the outermost is told to go on.
    pub(super) fn enter(set: usize) -> Option<Self> {
        let entered = with_level(set, true, |level| {
            if level.depth == DEEPEST_WAKE {
                level.left_some = true;
                return None;
            }
            level.set = set;
            level.depth += 1;
            Some(Self { set, is_outermost: level.depth == 1 })
        });
        // No place to keep the depth: more wait sets than places, or a thread that is ending.
        entered.unwrap_or(Some(Self { set: 0, is_outermost: false }))
    }

    /// Whether a deeper wake left somebody to this one. Asked until it says no.
    pub(super) fn must_go_on(&self) -> bool {
        self.is_outermost
            && with_level(self.set, false, |level| std::mem::take(&mut level.left_some))
                .unwrap_or(false)
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        with_level(self.set, false, |level| {
            level.depth -= 1;
            if level.depth == 0 {
                *level = Level::default();
            }
        });
    }
}

/// Runs on the level of a wait set in this thread, or on a free one if `make` says so.
fn with_level<R>(set: usize, make: bool, run: impl FnOnce(&mut Level) -> R) -> Option<R> {
    if set == 0 {
        return None;
    }
    LEVELS
        .try_with(|levels| {
            let mut levels = levels.borrow_mut();
            let place = levels
                .iter()
                .position(|level| level.set == set)
                .or_else(|| levels.iter().position(|level| make && level.set == 0))?;
            Some(run(&mut levels[place]))
        })
        .ok()
        .flatten()
}
