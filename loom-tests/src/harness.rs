//! One way to run a model, and one to show that it can fail.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use overtake_core::internals::Fault;

/// Names the mutant that a child process is to run.
const MUTANT: &str = "OVERTAKE_MUTANT";

/// Explores `body` at a preemption bound, and prints and returns the number of executions.
///
/// # Panics
///
/// If an execution panics, deadlocks, or leaks.
pub fn check(name: &str, bound: usize, body: fn()) -> usize {
    let executions = explore(bound, body);
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
    if env::var_os(MUTANT).is_some_and(|mutant| mutant == name) {
        Fault::plant(Some(fault));
        explore(bound, body);
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

fn explore(bound: usize, body: fn()) -> usize {
    let executions = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&executions);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(bound);
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
