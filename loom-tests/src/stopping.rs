//! A scheduler that stops one thread for ever, and the others must finish without it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

thread_local! {
    // Not the checker's: its threads all run on the thread that called it.
    static VICTIM: Cell<usize> = const { Cell::new(0) };
    static SECOND: Cell<Option<usize>> = const { Cell::new(None) };
    static STOPPED: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Which thread is stopped, for whom a model must not wait. Its own thread is number 0.
#[must_use]
pub fn victim() -> usize {
    VICTIM.get()
}

/// Whether this thread is stopped, or one of two that are.
#[must_use]
pub fn is_victim(thread: usize) -> bool {
    VICTIM.get() == thread || SECOND.get() == Some(thread)
}

/// Said by a model: the victim is stopped now, wherever it is.
pub fn stop_victim() {
    STOPPED.set(Some(true));
}

/// Said by a model once all others are through: the victim may go on.
pub fn let_victim_go() {
    STOPPED.set(Some(false));
}

/// What the runs of one victim and one stop came to.
#[derive(Debug, Default)]
pub struct Stopped {
    /// Runs in which the victim was stopped before it was through.
    pub runs: AtomicUsize,
    /// Of those, how many did not finish within the bound.
    pub hung: AtomicUsize,
    /// The most steps that all others took together after the stop.
    pub longest: AtomicUsize,
}

/// Never runs the victim after its `stop_after`-th step before the others are through. Chooses
/// among the others at random, in some runs evenly, in others one at a time for long.
#[derive(Debug)]
pub struct Stopping {
    victim: TaskId,
    stop_after: usize,
    /// Stopped beside the victim.
    second: Option<(TaskId, usize)>,
    bound: usize,
    runs_left: usize,
    random: u64,
    outcome: Arc<Stopped>,
    /// Of the current run.
    taken: usize,
    taken_by_second: usize,
    since: usize,
    stay: u64,
}

impl Stopping {
    /// `bound` is the number of steps that the others may take after the stop.
    #[must_use]
    pub fn new(
        victim: usize,
        stop_after: usize,
        bound: usize,
        runs: usize,
        outcome: Arc<Stopped>,
    ) -> Self {
        let random = 0x9e37_79b9_7f4a_7c15 ^ (((victim as u64) << 32) | (stop_after as u64 + 1));
        Self {
            victim: TaskId::from(victim),
            stop_after,
            second: None,
            bound,
            runs_left: runs,
            random,
            outcome,
            taken: 0,
            taken_by_second: 0,
            since: 0,
            stay: 0,
        }
    }

    /// Stops another thread as well, after its own steps.
    #[must_use]
    pub fn and(mut self, victim: usize, stop_after: usize) -> Self {
        self.second = Some((TaskId::from(victim), stop_after));
        self.random ^= (stop_after as u64 + 1) << 16;
        self
    }

    fn is_stopped(&self, task: TaskId) -> bool {
        let is_past =
            |taken: usize, stop_after: usize| STOPPED.get().unwrap_or(taken >= stop_after);
        let second = self.second.filter(|&(second, _)| second == task);
        (task == self.victim && is_past(self.taken, self.stop_after))
            || second.is_some_and(|(_, stop_after)| is_past(self.taken_by_second, stop_after))
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % end
    }
}

impl Scheduler for Stopping {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.runs_left = self.runs_left.checked_sub(1)?;
        VICTIM.set(self.victim.into());
        SECOND.set(self.second.map(|(second, _)| second.into()));
        STOPPED.set(None);
        (self.taken, self.taken_by_second, self.since) = (0, 0, 0);
        // Of sixteen: how often the thread that runs goes on.
        self.stay = [0, 8, 14, 15][self.below(4) as usize];
        Some(Schedule::new(self.random))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        _is_yielding: bool,
    ) -> Option<TaskId> {
        let may_run: Vec<_> =
            runnable.iter().map(|task| task.id()).filter(|&task| !self.is_stopped(task)).collect();
        if may_run.len() < runnable.len() {
            if self.since == 0 {
                self.outcome.runs.fetch_add(1, Ordering::Relaxed);
            }
            self.since += 1;
            if may_run.is_empty() || self.since > self.bound {
                self.outcome.hung.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            self.outcome.longest.fetch_max(self.since, Ordering::Relaxed);
        }
        let chosen = match current {
            Some(current) if may_run.contains(&current) && self.below(16) < self.stay => current,
            _ => may_run[self.below(may_run.len() as u64) as usize],
        };
        self.taken += usize::from(chosen == self.victim);
        let is_second = self.second.is_some_and(|(second, _)| second == chosen);
        self.taken_by_second += usize::from(is_second);
        Some(chosen)
    }

    fn next_u64(&mut self) -> u64 {
        self.below(u64::MAX)
    }
}
