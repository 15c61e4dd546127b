//! What was asked of a shutdown, and how far it got.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::event::Facts;
use crate::lock::lock;
use crate::panics::catch;
use crate::slot::Slot;

/// What was asked for so far. Requests only ever tighten it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish {
    /// Waiting jobs are not started any more.
    pub(crate) stop: bool,
    /// When running handlers are asked to come to an end, on the runtime's clock.
    pub(crate) cancel_at: Option<Duration>,
}

#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) wish: Wish,
    /// Threads of the runtime that have not ended.
    pub(crate) threads: isize,
    /// Some thread carries the shutdown out.
    pub(crate) supervised: bool,
    pub(crate) finished: bool,
    /// Jobs whose handlers are not waited for any more.
    pub(crate) abandoned: Vec<Facts>,
    /// Threads that run those handlers. For a moment below zero where such a thread ends between
    /// being left behind and being counted as such.
    pub(crate) left_behind: isize,
}

impl Progress {
    pub(crate) fn waits_for_threads(&self) -> bool {
        self.threads > self.left_behind
    }
}

#[derive(Debug)]
pub(crate) struct ShutdownState {
    progress: Mutex<Progress>,
    changed: Condvar,
    slots: Vec<Slot>,
    cancellation: CancellationToken,
    /// How long a cancelled handler may still take.
    pub(crate) grace: Duration,
}

impl ShutdownState {
    pub(crate) fn new(workers: usize, grace: Duration) -> Self {
        Self {
            progress: Mutex::default(),
            changed: Condvar::new(),
            slots: (0..workers).map(|_| Slot::default()).collect(),
            cancellation: CancellationToken::new(),
            grace,
        }
    }

    pub(crate) fn slot(&self, worker: usize) -> &Slot {
        &self.slots[worker]
    }

    pub(crate) fn workers(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn running(&self) -> usize {
        self.slots.iter().filter(|slot| slot.is_occupied()).count()
    }

    pub(crate) fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// Asks the handlers that run to come to an end.
    pub(crate) fn cancel(&self) {
        // Wakes whoever waits for the token, and a waker may panic.
        let _ = catch(|| self.cancellation.cancel());
    }

    pub(crate) fn abandoned(&self) -> Vec<Facts> {
        lock(&self.progress).abandoned.clone()
    }

    pub(crate) fn thread_started(&self) {
        lock(&self.progress).threads += 1;
    }

    /// `worker` is the index of a worker thread; the retry timer's has none.
    pub(crate) fn thread_ended(&self, worker: Option<usize>) {
        let was_left = worker.is_some_and(|worker| self.slots[worker].is_abandoned());
        let mut progress = lock(&self.progress);
        progress.threads -= 1;
        progress.left_behind -= isize::from(was_left);
        drop(progress);
        self.changed.notify_all();
    }

    /// Wakes whoever waits for the runtime to get further.
    pub(crate) fn something_changed(&self) {
        // Taken and left: whoever looked before the change has begun to wait by now.
        drop(lock(&self.progress));
        self.changed.notify_all();
    }

    /// Asks for an end: at `cancel_at` running handlers are cancelled, and with `stop` no waiting
    /// job is started any more.
    pub(crate) fn wish(&self, stop: bool, cancel_at: Option<Duration>) {
        let mut progress = lock(&self.progress);
        let wish = &mut progress.wish;
        wish.stop |= stop;
        wish.cancel_at = match (wish.cancel_at, cancel_at) {
            (Some(before), Some(now)) => Some(before.min(now)),
            (before, now) => before.or(now),
        };
        drop(progress);
        self.changed.notify_all();
    }

    pub(crate) fn is_finished(&self) -> bool {
        lock(&self.progress).finished
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }

    /// Waits until something changes, or until `until` on `clock`.
    pub(crate) fn wait<'a>(
        &self,
        clock: &Clock,
        progress: MutexGuard<'a, Progress>,
        until: Option<Duration>,
    ) -> MutexGuard<'a, Progress> {
        clock.wait(&self.changed, progress, until)
    }

    /// No shutdown is carried out any more.
    pub(crate) fn finish(&self) {
        lock(&self.progress).finished = true;
        self.changed.notify_all();
    }

    /// Runs `body`, which calls others, without the lock.
    pub(crate) fn unlocked<'a>(
        &'a self,
        progress: MutexGuard<'a, Progress>,
        body: impl FnOnce(),
    ) -> MutexGuard<'a, Progress> {
        drop(progress);
        body();
        lock(&self.progress)
    }
}
