//! Dead letters: kept within limits, never lost once acknowledged, redriven by one.

#[path = "../common/mod.rs"]
mod common;
mod crash;
mod file;
mod file_errors;
mod memory;
mod redrive;

use std::time::{Duration, UNIX_EPOCH};

use overtake_runtime::{
    Added, Body, Builder, DeadLetter, DeadLetters, EntryId, Job, ManualRuntime, Outcome, Reason,
};

/// A letter about a job.
fn letter<P>(name: &str, payload: P) -> DeadLetter<P> {
    DeadLetter {
        entry: EntryId::default(),
        at: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        reason: Reason::RetriesUsedUp,
        error: "no route to host".to_owned(),
        body: Body::Job(Job::new(name.to_owned(), payload).with_priority(1)),
    }
}

/// Adds a letter that must be kept.
#[track_caller]
fn keep<P>(keeper: &impl DeadLetters<P>, letter: DeadLetter<P>) -> EntryId {
    match keeper.add(letter) {
        Added::Kept(entry) => entry,
        Added::KeptForOldest(_) | Added::RefusedFull => panic!("full"),
        Added::NotWritten(_, error) => panic!("{error}"),
    }
}

/// A runtime of two priorities with room for one job each, and no retries.
fn small_runtime<P: Send + 'static>(keeper: impl DeadLetters<P> + 'static) -> ManualRuntime<P> {
    Builder::new().capacities(&[1, 1]).dead_letters(keeper).manual().expect("valid")
}

/// Runs the next job so many times as it is tried, failing each time; the number of runs.
fn fail_until_dead<P>(runtime: &ManualRuntime<P>) -> usize {
    let mut runs = 0;
    loop {
        if let Some(delivery) = runtime.take() {
            runs += 1;
            delivery.settle(Outcome::failed("no"));
        } else if let Some(due) = runtime.next_due() {
            runtime.advance_to(due);
        } else {
            return runs;
        }
    }
}
