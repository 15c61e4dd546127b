//! Coming to an end, in the phases S1 to S4 of `DESIGN.md`.
//!
//! One thread at a time carries a shutdown out; others that ask meanwhile may only make it come
//! sooner.

use std::time::Duration;

use crate::books::{FinalState, Writer};
use crate::clock::Clock;
use crate::engine::Engine;
use crate::event::{EventKind, Facts};

/// Who is to make the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Carried {
    /// This call carried the shutdown out.
    Out,
    /// Another call had done so.
    ByAnother,
}

/// Carries the shutdown out, or waits for the thread that does.
pub(crate) fn carry_out<P>(engine: &Engine<P>) -> Carried {
    let state = &*engine.shutdown;
    let mut progress = state.lock();
    while progress.supervised && !progress.finished {
        progress = state.wait(&engine.clock, progress, None);
    }
    if progress.finished {
        return Carried::ByAnother;
    }
    progress.supervised = true;
    drop(progress);

    engine.admission.close();
    engine.intake.close();
    drain(engine);
    hand_back_waiting(engine);
    wait_for_threads(engine);

    state.finish();
    Carried::Out
}

/// S2: until nothing is left that can end before the deadline.
fn drain<P>(engine: &Engine<P>) {
    let state = &*engine.shutdown;
    let mut progress = state.lock();
    while !progress.wish.stop && progress.threads > 0 {
        let deadline = progress.wish.cancel_at;
        if is_due(deadline, &engine.clock) || nothing_ends_before(engine, deadline) {
            break;
        }
        progress = state.wait(&engine.clock, progress, deadline);
    }
}

/// S4: until all threads have ended. At the deadline handlers are cancelled; those that take
/// longer than the grace are left behind.
fn wait_for_threads<P>(engine: &Engine<P>) {
    let state = &*engine.shutdown;
    let mut progress = state.lock();
    let mut give_up_at = None;
    while progress.waits_for_threads() {
        if give_up_at.is_none() && is_due(progress.wish.cancel_at, &engine.clock) {
            give_up_at = Some(engine.clock.now().saturating_add(state.grace));
            progress = state.unlocked(progress, || state.cancel());
        }
        if is_due(give_up_at, &engine.clock) {
            let workers = 0..state.workers();
            let mut left = Vec::new();
            progress = state.unlocked(progress, || {
                left.extend(workers.filter_map(|worker| abandon(engine, worker)));
            });
            progress.left_behind += left.len() as isize;
            progress.abandoned.append(&mut left);
            if progress.waits_for_threads() {
                // No other handler runs or begins: what is left to do is ours, and short.
                progress = state.wait(&engine.clock, progress, None);
            }
            continue;
        }
        let until = give_up_at.or(progress.wish.cancel_at);
        progress = state.wait(&engine.clock, progress, until);
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

/// Closes the account of a job whose handler does not return: it counts as handed back, though
/// nobody can have it while the handler does.
fn abandon<P>(engine: &Engine<P>, index: usize) -> Option<Facts> {
    let facts = engine.shutdown.slot(index).abandon()?;
    let error = Some("its handler did not return in time");
    engine.tell_facts(Writer::Outside, EventKind::Returned, &facts, error);
    engine.end(Writer::Outside, facts.priority, FinalState::Returned);
    Some(facts)
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
                carry_out(&engine)
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
