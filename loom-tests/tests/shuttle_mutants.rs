//! The programs of `programs` see what they are there for: with a rule switched off one of them
//! is not explained.
#![cfg(overtake_shuttle)]

mod programs;

use overtake_core::internals::Fault;
use programs::{BATCHES, CLOSING, ORDER, RING, explore, program};
use std::panic::{self, AssertUnwindSafe, catch_unwind};

type Programs = &'static [(&'static str, &'static str)];

/// Each fault, and the programs that are there to see it.
const FAULTS: &[(Fault, Programs)] = &[
    (Fault::PlainSweep, ORDER),
    (Fault::EmptyAtOnce, ORDER),
    (Fault::IgnoreClose, CLOSING),
    (Fault::FreeByStore, RING),
    (Fault::PublishByStore, RING),
    (Fault::TrustUnpublished, CLOSING),
    (Fault::CloseWithoutHelp, CLOSING),
    (Fault::CloseBeforeSeals, CLOSING),
    (Fault::PublishPastVoided, BATCHES),
    (Fault::LeaveClaim, BATCHES),
    (Fault::LateRun, BATCHES),
];

/// The first of the programs that does not hold with `fault` planted.
fn caught_by(fault: Fault, programs: Programs) -> Option<&'static str> {
    Fault::plant(Some(fault));
    let caught = programs.iter().find(|(_, text)| {
        catch_unwind(AssertUnwindSafe(|| explore(&program(text), 2_000))).is_err()
    });
    Fault::plant(None);
    caught.map(|(name, _)| *name)
}

/// One test, because a planted fault is the whole process's.
#[test]
fn every_mutant_is_caught() {
    panic::set_hook(Box::new(|_| ()));
    let mut missed = Vec::new();
    for &(fault, programs) in FAULTS {
        match caught_by(fault, programs) {
            Some(program) => println!("mutant {fault:?}: caught by {program}"),
            None => missed.push(fault),
        }
    }
    let _ = panic::take_hook();
    assert!(missed.is_empty(), "survived: {missed:?}");
}
