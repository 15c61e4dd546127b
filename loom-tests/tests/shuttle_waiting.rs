//! G3 and G4 with up to five threads: whoever waits, as a thread or as a task, does not sleep beside
//! what it waits for, in any schedule tried; and with a rule switched off somebody does.
#![cfg(overtake_shuttle)]

#[path = "programs/waiting.rs"]
mod waiting;

use overtake_core::internals::Fault;
use overtake_loom_tests::{Act, Play, Way};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use waiting::{PLAYS, SCENES, explore, explore_play, play};

/// A planted fault is the whole process's, so one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn nobody_sleeps_beside_what_it_waits_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, text) in PLAYS {
        let explored = explore_play(1_000, play(text));
        println!("waiting {name}: {explored} schedules");
    }
}

#[test]
fn whatever_wakers_do() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, scene) in SCENES {
        let explored = explore(2_000, scene);
        println!("waiting {name}: {explored} schedules");
    }
}

#[test]
fn nor_in_random_plays() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..400 {
        explore_play(25, random_play(&mut dice));
    }
    println!("waiting random: 400 plays");
}

/// The first play or scene that does not hold with `fault` planted.
fn caught_by(fault: Fault) -> Option<&'static str> {
    let fails = |body: &dyn Fn() -> usize| catch_unwind(AssertUnwindSafe(body)).is_err();
    Fault::plant(Some(fault));
    let play =
        PLAYS.iter().find(|(_, text)| fails(&|| explore_play(1_500, play(text)))).map(|p| p.0);
    let caught = play.or_else(|| {
        SCENES.iter().find(|(_, scene)| fails(&|| explore(8_000, *scene))).map(|s| s.0)
    });
    Fault::plant(None);
    caught
}

#[test]
fn every_mutant_is_caught() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    panic::set_hook(Box::new(|_| ()));
    let faults = [
        Fault::ParkWithoutLook,
        Fault::WakeBeforePublish,
        Fault::RoomWithoutWake,
        Fault::SwallowWake,
        Fault::LateEpoch,
        Fault::ClearAfterReturn,
        Fault::ClearAfterLeaving,
        Fault::CountAfterBit,
        Fault::TrustFirstSet,
        Fault::LeaveDespiteBorrowers,
        Fault::ToldCountsAsServed,
        Fault::TellByStore,
        Fault::WakeBeforeTell,
        Fault::LeaveByStore,
        Fault::FirstSegmentOnly,
        Fault::BlindTell,
        Fault::KeepGoneCells,
        Fault::FreeBeforeTaking,
        Fault::KeepOldWaker,
        Fault::ReleaseAsPulse,
        Fault::TakeWhenReleased,
        Fault::EpochAfterWaking,
        Fault::CloseWakesOne,
        Fault::PanicCountsAsWake,
        Fault::ForgetDeepWakes,
        Fault::YoungestIsOldest,
    ];
    let mut missed = Vec::new();
    for fault in faults {
        match caught_by(fault) {
            Some(by) => println!("mutant {fault:?}: caught by {by}"),
            None => missed.push(fault),
        }
    }
    let _ = panic::take_hook();
    assert!(missed.is_empty(), "survived: {missed:?}");
}

/// A small generator of pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Three to five threads with one to three acts each, on one or two bands.
fn random_play(dice: &mut Dice) -> Play {
    let capacities: Vec<_> = (0..=dice.below(2)).map(|_| 1 + dice.below(2)).collect();
    let bands = capacities.len();
    let one = |dice: &mut Dice| {
        const WAYS: [Way; 9] = [
            Way::Try,
            Way::Try,
            Way::Block,
            Way::Block,
            Way::Task,
            Way::Changing,
            Way::Expired,
            Way::Dropped,
            Way::Dormant,
        ];
        let way = WAYS[dice.below(WAYS.len())];
        match dice.below(16) {
            0 => Act::Release,
            1 if dice.below(3) == 0 => Act::Close,
            1..9 => Act::Send(dice.below(bands), way),
            _ if dice.below(2) == 0 => Act::Receive((0..bands).collect(), way),
            _ => Act::Receive(vec![dice.below(bands)], way),
        }
    };
    let actors = (0..3 + dice.below(3))
        .map(|_| (0..1 + dice.below(3)).map(|_| one(dice)).collect())
        .collect();
    Play { capacities, before: Vec::new(), actors }
}
