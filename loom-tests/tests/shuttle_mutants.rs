//! The programs of `programs` see what they are there for: with a rule switched off one of them
//! is not explained.
#![cfg(overtake_shuttle)]

mod programs;

use overtake_core::internals::Fault;
use programs::{BATCHES, CLOSING, ORDER, RING, explore, program};
use std::panic::{self, AssertUnwindSafe, catch_unwind};

/// The first program that does not hold with `fault` planted.
fn caught_by(fault: Fault) -> Option<&'static str> {
    Fault::plant(Some(fault));
    let caught = ORDER.iter().chain(RING).chain(CLOSING).chain(BATCHES).find(|(_, text)| {
        catch_unwind(AssertUnwindSafe(|| explore(&program(text), 2_000))).is_err()
    });
    Fault::plant(None);
    caught.map(|(name, _)| *name)
}

/// One test, because a planted fault is the whole process's.
#[test]
fn every_mutant_is_caught() {
    panic::set_hook(Box::new(|_| ()));
    let faults = [
        Fault::PlainSweep,
        Fault::EmptyAtOnce,
        Fault::FreeByStore,
        Fault::TrustUnpublished,
        Fault::CloseWithoutHelp,
        Fault::CloseBeforeSeals,
        Fault::PublishByStore,
        Fault::FullWithoutHelp,
        Fault::IgnoreClose,
        Fault::PublishPastVoided,
        Fault::LeaveClaim,
        Fault::LateRun,
    ];
    let mut missed = Vec::new();
    for fault in faults {
        match caught_by(fault) {
            Some(program) => println!("mutant {fault:?}: caught by {program}"),
            None => missed.push(fault),
        }
    }
    let _ = panic::take_hook();
    assert!(missed.is_empty(), "survived: {missed:?}");
}
