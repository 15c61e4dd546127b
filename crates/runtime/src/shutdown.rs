//! Coming to an end: what was asked for, and how far it got.
//!
//! One thread at a time carries a shutdown out, in the phases S1 to S4 of `DESIGN.md`; others
//! that ask meanwhile may only make it come sooner.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::books::Writer;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::event::Facts;
use crate::lock::lock;
use crate::panics::catch;
use crate::worker::{Slot, abandon};

/// What was asked for so far. Requests only ever tighten it.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    /// Waiting jobs are not started any more.
    stop: bool,
    /// When running handlers are asked to come to an end, on the runtime's clock.
    cancel_at: Option<Duration>,
}

#[derive(Debug, Default)]
struct Progress {
    wish: Wish,
    /// Threads of the runtime that have not ended.
    threads: isize,
    /// Some thread carries the shutdown out.
    supervised: bool,
    finished: bool,
    /// Jobs whose handlers are not waited for any more.
    abandoned: Vec<Facts>,
    /// Threads that run those handlers. For a moment below zero where such a thread ends between
    /// being left behind and being counted as such.
    left_behind: isize,
}

impl Progress {
    fn waits_for_threads(&self) -> bool {
        self.threads > self.left_behind
    }
}

#[derive(Debug)]
pub(crate) struct Shutdown {
    progress: Mutex<Progress>,
    changed: Condvar,
    slots: Vec<Slot>,
    cancellation: CancellationToken,
    /// How long a cancelled handler may still take.
    grace: Duration,
}

/// Who is to make the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Carried {
    /// This call carried the shutdown out.
    Out,
    /// Another call had done so.
    ByAnother,
}

impl Shutdown {
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

    /// Carries the shutdown out, or waits for the thread that does.
    pub(crate) fn carry_out<P>(&self, engine: &Engine<P>) -> Carried {
        let mut progress = lock(&self.progress);
        while progress.supervised && !progress.finished {
            progress = engine.clock.wait(&self.changed, progress, None);
        }
        if progress.finished {
            return Carried::ByAnother;
        }
        progress.supervised = true;
        drop(progress);

        engine.admission.close();
        engine.intake.close();
        self.drain(engine);
        hand_back_waiting(engine);
        self.wait_for_threads(engine);

        lock(&self.progress).finished = true;
        self.changed.notify_all();
        Carried::Out
    }

    /// S2: until nothing is left that can end before the deadline.
    fn drain<P>(&self, engine: &Engine<P>) {
        let mut progress = lock(&self.progress);
        while !progress.wish.stop && progress.threads > 0 {
            let deadline = progress.wish.cancel_at;
            if is_due(deadline, &engine.clock) || nothing_ends_before(engine, deadline) {
                break;
            }
            progress = engine.clock.wait(&self.changed, progress, deadline);
        }
    }

    /// S4: until all threads have ended. At the deadline handlers are cancelled; those that take
    /// longer than the grace are left behind.
    fn wait_for_threads<P>(&self, engine: &Engine<P>) {
        let mut progress = lock(&self.progress);
        let mut give_up_at = None;
        while progress.waits_for_threads() {
            if give_up_at.is_none() && is_due(progress.wish.cancel_at, &engine.clock) {
                give_up_at = Some(engine.clock.now().saturating_add(self.grace));
                progress = self.unlocked(progress, || self.cancel());
            }
            if is_due(give_up_at, &engine.clock) {
                let workers = 0..self.slots.len();
                let mut left = Vec::new();
                progress = self.unlocked(progress, || {
                    left.extend(workers.filter_map(|worker| abandon(engine, worker)));
                });
                progress.left_behind += left.len() as isize;
                progress.abandoned.append(&mut left);
                if progress.waits_for_threads() {
                    // No other handler runs or begins: what is left to do is ours, and short.
                    progress = engine.clock.wait(&self.changed, progress, None);
                }
                continue;
            }
            let until = give_up_at.or(progress.wish.cancel_at);
            progress = engine.clock.wait(&self.changed, progress, until);
        }
    }

    /// Runs `body`, which calls others, without the lock.
    fn unlocked<'a>(
        &'a self,
        progress: MutexGuard<'a, Progress>,
        body: impl FnOnce(),
    ) -> MutexGuard<'a, Progress> {
        drop(progress);
        body();
        lock(&self.progress)
    }
}

fn is_due(time: Option<Duration>, clock: &Clock) -> bool {
    time.is_some_and(|time| clock.now() >= time)
}

/// Whether every job left waits for a time that comes after the deadline.
fn nothing_ends_before<P>(engine: &Engine<P>, deadline: Option<Duration>) -> bool {
    // In this order: no job comes in any more, so the first number only falls, and it is never
    // below the second. Equal means that all were in the timer when it was looked at.
    let held = engine.admission.held();
    let (in_timer, next_due) = engine.timer.look();
    // Without a deadline the end of the clock is it, and nothing is due after that.
    let deadline = deadline.unwrap_or(Duration::MAX);
    held == in_timer && next_due.is_none_or(|due| due >= deadline)
}

/// S3: what waits is handed back, in the order in which it would have been run, by whoever takes
/// it: the threads of the runtime do the same.
fn hand_back_waiting<P>(engine: &Engine<P>) {
    engine.lanes.close();
    // Not before it is certain that nothing is on its way into the lanes.
    while let Some(job) = engine.lanes.next() {
        engine.hand_back(Writer::Outside, job);
    }
    engine.hand_back_timed();
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::admission::Patience;
    use crate::builder::Builder;

    #[track_caller]
    fn until(what: &str, condition: impl Fn() -> bool) {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < Duration::from_secs(10), "never: {what}");
            thread::yield_now();
        }
    }

    /// Whether a thread sleeps; asked many times over it does not just wait for a lock.
    fn sleeps(thread: &Path) -> bool {
        (0..50).all(|_| {
            thread::yield_now();
            fs::read_to_string(thread.join("stat")).is_ok_and(|stat| stat.contains(") S "))
        })
    }

    #[test]
    fn kind_25_a_permit_that_came_too_late_does_not_leave_a_drain_waiting() {
        let engine = Builder::<()>::new().capacities(&[1]).engine(1).expect("valid");
        let engine = Arc::new(engine);
        engine.shutdown.thread_started();
        // A publisher has its permit, and does not get further before intake is closed.
        engine.admission.admit(0, Patience::None).expect("room");
        let (sent, thread) = mpsc::channel::<PathBuf>();
        let drain = thread::spawn({
            let engine = Arc::clone(&engine);
            move || {
                let this = fs::read_link("/proc/thread-self").expect("procfs");
                sent.send(Path::new("/proc").join(this)).expect("the test waits");
                engine.shutdown.carry_out(&engine)
            }
        });
        let thread = thread.recv().expect("it runs");
        until("it drains", || engine.admission.is_closed() && sleeps(&thread));
        assert!(!engine.lanes.is_closed());
        engine.give_back(0);
        until("the drain goes on", || engine.lanes.is_closed());
        engine.shutdown.thread_ended(None);
        assert_eq!(drain.join().expect("no panic"), Carried::Out);
    }
}
