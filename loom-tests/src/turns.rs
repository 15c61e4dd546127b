//! A scheduler that is told whose turn it is, and for how many steps.
//!
//! Some faults show in one order of a thousand billion, which chance does not find. Where it is
//! known who must be stopped where, up to a few steps, all orders of that kind can be tried.

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

/// A thread, numbered from 1, and how many steps it takes.
pub type Turn = (usize, usize);

/// For as long as the thread has something to do.
pub const ALL: usize = usize::MAX;

/// Runs each plan once: its turns in order, then whoever is left, the lowest number first.
#[derive(Debug)]
pub struct Turns {
    plans: Vec<Vec<Turn>>,
    /// Of the current run.
    turns: std::vec::IntoIter<Turn>,
    turn: Turn,
}

impl Turns {
    /// One run for each plan.
    #[must_use]
    pub fn new(plans: Vec<Vec<Turn>>) -> Self {
        Self { plans, turns: Vec::new().into_iter(), turn: (0, 0) }
    }
}

impl Scheduler for Turns {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.turns = self.plans.pop()?.into_iter();
        self.turn = (0, 0);
        Some(Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        _current: Option<TaskId>,
        _is_yielding: bool,
    ) -> Option<TaskId> {
        let may_run = |thread: usize| runnable.iter().any(|task| usize::from(task.id()) == thread);
        // The one that starts the others and waits for them.
        if may_run(0) {
            return Some(TaskId::from(0));
        }
        loop {
            let (thread, steps) = self.turn;
            if steps > 0 && may_run(thread) {
                self.turn.1 -= 1;
                return Some(TaskId::from(thread));
            }
            match self.turns.next() {
                Some(turn) => self.turn = turn,
                None => return runnable.iter().map(|task| task.id()).min(),
            }
        }
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}
