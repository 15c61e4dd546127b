//! One way to run a model, and one to show that it can fail.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use loom::thread::JoinHandle;
use overtake_core::internals::{Fault, name_thread, use_shadows};

/// Names the mutant that a child process is to run.
const MUTANT: &str = "OVERTAKE_MUTANT";

/// Explores `body` at a preemption bound, and prints and returns the number of executions.
///
/// # Panics
///
/// If an execution panics, deadlocks, or leaks.
pub fn check(name: &str, bound: usize, body: fn()) -> usize {
    let executions = explore(bound, true, body);
    println!("model {name}: {executions} executions");
    executions
}

/// As [`check`], but the words have no shadows: for a scenario that is about the notifiers and would
/// be too big otherwise. Its mutants show that it sees.
///
/// # Panics
///
/// As [`check`].
pub fn check_plain(name: &str, bound: usize, body: fn()) -> usize {
    let executions = explore(bound, false, body);
    println!("model {name}: {executions} executions");
    executions
}

/// Explores `body` with `fault` planted, which some execution must not survive. `name` is the
/// name of the test that calls this.
///
/// It runs in a process of its own: a planted fault is the whole process's, and an execution that
/// deadlocks may abort, because unwinding it drops handles whose world is gone.
///
/// # Panics
///
/// If every execution survives: then the model does not see what it is there for.
pub fn must_fail(name: &str, fault: Fault, bound: usize, body: fn()) {
    fail_as_asked(name, fault, bound, true, body);
}

/// As [`must_fail`], for a scenario that [`check_plain`] explores.
///
/// # Panics
///
/// As [`must_fail`].
pub fn must_fail_plain(name: &str, fault: Fault, bound: usize, body: fn()) {
    fail_as_asked(name, fault, bound, false, body);
}

fn fail_as_asked(name: &str, fault: Fault, bound: usize, shadows: bool, body: fn()) {
    if env::var_os(MUTANT).is_some_and(|mutant| mutant == name) {
        Fault::plant(Some(fault));
        explore(bound, shadows, body);
        return;
    }
    let child = Command::new(env::current_exe().expect("a test binary has a path"))
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .envs([(MUTANT, name), ("RUST_BACKTRACE", "0")])
        .output()
        .expect("a test binary can run itself");
    let said = String::from_utf8_lossy(&child.stderr).into_owned();
    let reason = said.lines().skip_while(|line| !line.contains("panicked at")).nth(1);
    match reason {
        Some(reason) if !child.status.success() => println!("mutant {name}: caught by {reason}"),
        _ => panic!("mutant {name}: {fault:?} survived ({}): {said}", child.status),
    }
}

/// Starts a thread of a model; `ordinal`, counted from 1, tells it from the others, so that the
/// search sees what it reads before it writes. The model's own thread is number 0.
pub fn spawn<R: 'static>(ordinal: usize, body: impl FnOnce() -> R + 'static) -> JoinHandle<R> {
    loom::thread::spawn(move || {
        name_thread(ordinal);
        body()
    })
}

fn explore(bound: usize, shadows: bool, body: fn()) -> usize {
    use_shadows(shadows);
    let executions = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&executions);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(bound);
    // Shadows are branches too. What still runs out of them waits in a loop for another thread.
    builder.max_branches = 10_000;
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    });
    executions.load(Ordering::Relaxed)
}

/// The outcomes a model had over all its executions, kept outside the checker's world.
#[derive(Debug, Default)]
pub struct Seen<T>(Mutex<BTreeSet<T>>);

impl<T: Ord + Clone> Seen<T> {
    /// No outcome yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }

    /// Adds the outcome of one execution.
    pub fn add(&self, outcome: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(outcome);
    }

    /// All of them, in order.
    #[must_use]
    pub fn all(&self) -> Vec<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
