//! G5: no call to the system where nobody waits, and nobody is woken who is not meant.
//!
//! The work runs in a child process that the kernel kills at its first call to the system, except
//! its end. The controls show that it does.
#![cfg(target_os = "linux")]

mod common;

use common::{join, parked, within};
use overtake_core::{BandSet, Receiver, Sender, bounded};
use std::ffi::{c_int, c_long};
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use std::{fs, hint, process, thread};

/// Rounds of two sends and two receives: a million calls, beside those that are refused.
const ROUNDS: u64 = 250_000;

// ---- the meter ---------------------------------------------------------------------------------

/// How a child ended that was not allowed to call the system.
#[derive(Debug, PartialEq)]
enum Ended {
    /// It did its work, which said whether it went well.
    Well(bool),
    /// The kernel killed it.
    Killed,
}

/// The child's end. Only these few calls are left to it, and this one must not return.
fn leave(status: c_int) -> ! {
    loop {
        // SAFETY: ends the child's only thread, and so the child.
        unsafe { libc::syscall(libc::SYS_exit, c_long::from(status)) };
    }
}

/// Does `work` in a child that may not call the system. The child has this thread alone, and
/// whatever locks others held stay locked: so `work` may not allocate, print or panic.
fn without_system_calls(work: impl FnOnce() -> bool) -> Ended {
    const WELL: c_int = 10;
    const BADLY: c_int = 11;
    const NO_FILTER: c_int = 12;
    // SAFETY: the child keeps to the above, and ends before it returns from here.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no child process");
    if child == 0 {
        // SAFETY: takes away from this child all calls but read, write and exit.
        let strict = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT) };
        if strict != 0 {
            leave(NO_FILTER);
        }
        leave(if work() { WELL } else { BADLY });
    }
    let mut status = 0;
    // SAFETY: our own child, and a place for its status.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child, "the child is waited for");
    if libc::WIFSIGNALED(status) {
        assert_eq!(libc::WTERMSIG(status), libc::SIGKILL, "the child ended by another signal");
        return Ended::Killed;
    }
    match libc::WEXITSTATUS(status) {
        WELL => Ended::Well(true),
        BADLY => Ended::Well(false),
        other => panic!("the child ended with {other}; {NO_FILTER}: no strict mode in this kernel"),
    }
}

/// Sends and receives in every way that need not wait, and says whether all went well.
fn there_and_back(tx: &Sender<u64>, rx: &Receiver<u64>) -> bool {
    (0..ROUNDS).all(|number| {
        let sent = tx.try_send(1, number).is_ok() && tx.send(0, number).is_ok();
        let refused = tx.try_send(0, number).is_err();
        let received = rx.recv() == Ok(number) && rx.try_recv() == Ok(number);
        sent && refused && received && rx.try_recv().is_err()
    })
}

// ---- sends and receives ------------------------------------------------------------------------

#[test]
fn g5_a_million_sends_and_receives_make_no_system_call() {
    within(60, || {
        let (tx, rx) = bounded(&[1, 1]);
        assert_eq!(without_system_calls(|| there_and_back(&tx, &rx)), Ended::Well(true));
    });
}

#[test]
fn g5_a_send_to_a_band_that_nobody_waits_for_makes_no_system_call() {
    within(60, || {
        let (tx, rx) = bounded(&[1, 1, 1]);
        let lower = rx.clone().only(BandSet::only(2));
        let waiting = parked(move || lower.recv());
        assert_eq!(without_system_calls(|| there_and_back(&tx, &rx)), Ended::Well(true));
        tx.try_send(2, 7).unwrap();
        assert_eq!(join(waiting), Ok(7));
    });
}

#[test]
fn g5_closing_and_looking_make_no_system_call_where_nobody_waits() {
    within(60, || {
        let (tx, rx) = bounded(&[2, 2]);
        let ended = without_system_calls(|| {
            let sent = tx.try_send(1, 1).is_ok() && tx.len() == 1 && !tx.is_full(1);
            rx.release();
            let closed = tx.close() && !rx.close() && tx.try_send(0, 2).is_err();
            sent && closed && rx.recv() == Ok(1) && rx.recv().is_err()
        });
        assert_eq!(ended, Ended::Well(true));
    });
}

/// The meter sees the one call that a wake needs: made by hand, and by a send to who waits.
#[test]
fn control_g5_a_wake_is_seen_as_a_system_call() {
    within(60, || {
        let word = AtomicU32::new(0);
        let by_hand = without_system_calls(|| {
            // SAFETY: wakes nobody at a word of our own.
            unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) == 0 }
        });
        assert_eq!(by_hand, Ended::Killed);

        let (tx, rx) = bounded(&[1]);
        let waiting = parked(move || rx.recv());
        assert_eq!(without_system_calls(|| tx.try_send(0, 1).is_ok()), Ended::Killed);
        // The child had a copy of the channel: here nothing was sent yet.
        tx.try_send(0, 2).unwrap();
        assert_eq!(join(waiting), Ok(2));
    });
}

// ---- who waits ---------------------------------------------------------------------------------

/// A receiver that waits, and where the kernel counts how often it was on a processor.
struct Waiting {
    thread: thread::JoinHandle<u64>,
    status: String,
}

/// Starts `wait` and returns once it has been seen to wait.
fn watched(wait: impl FnOnce() -> u64 + Send + 'static) -> Waiting {
    let (name, named) = std::sync::mpsc::channel();
    let thread = parked(move || {
        // SAFETY: only asks for the number of this thread.
        name.send(unsafe { libc::gettid() }).expect("the starter waits");
        wait()
    });
    let number = named.recv().expect("the thread runs");
    Waiting { thread, status: format!("/proc/{}/task/{number}/status", process::id()) }
}

impl Waiting {
    /// How often it went to sleep. One that sleeps all the time never does so again.
    fn sleeps(&self) -> u64 {
        let status = fs::read_to_string(&self.status).expect("a thread that runs");
        let counts =
            status.lines().filter_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        counts.map(|count| count.trim().parse::<u64>().expect("a number")).sum()
    }
}

/// Eight receivers sleep through a lot of traffic that is not theirs.
#[test]
fn g5_who_waits_for_another_band_is_not_woken() {
    within(60, || {
        let (tx, rx) = bounded(&[1, 1, 1]);
        let waiting: Vec<_> = (0..8)
            .map(|_| {
                let lower = rx.clone().only(BandSet::only(2));
                watched(move || lower.recv().expect("an item for each"))
            })
            .collect();
        let before: Vec<_> = waiting.iter().map(Waiting::sleeps).collect();
        assert!(hint::black_box(there_and_back(&tx, &rx)));
        let after: Vec<_> = waiting.iter().map(Waiting::sleeps).collect();
        assert_eq!(before, after, "a receiver was woken for nothing");
        (0..8).for_each(|number| tx.send(2, number).unwrap());
        assert_eq!(waiting.into_iter().map(|one| join(one.thread)).sum::<u64>(), 28);
    });
}

/// The meter sees one that wakes up without being told to.
#[test]
fn control_g5_who_wakes_up_by_a_timer_is_seen() {
    within(60, || {
        let (tx, rx) = bounded::<u64>(&[1]);
        let waiting = watched(move || {
            loop {
                match rx.recv_timeout(Duration::from_millis(1)) {
                    Err(error) if error.is_timeout() => {}
                    other => return other.expect("an item"),
                }
            }
        });
        let before = waiting.sleeps();
        while waiting.sleeps() < before + 10 {
            thread::yield_now();
        }
        tx.send(0, 5).unwrap();
        assert_eq!(join(waiting.thread), 5);
    });
}
