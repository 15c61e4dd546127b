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

/// Whether this play or scene fails with `fault` planted.
fn is_caught(fault: Fault, by: &str) -> bool {
    let play_of = PLAYS.iter().find(|(name, _)| *name == by);
    let scene_of = SCENES.iter().find(|(name, _)| *name == by);
    Fault::plant(Some(fault));
    let explored = catch_unwind(AssertUnwindSafe(|| match (play_of, scene_of) {
        (Some((_, text)), _) => explore_play(5_000, play(text)),
        (None, Some((_, scene))) => explore(30_000, *scene),
        (None, None) => 0,
    }));
    Fault::plant(None);
    explored.is_err()
}

#[test]
fn every_mutant_is_caught() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    panic::set_hook(Box::new(|_| ()));
    let faults = [
        (Fault::ParkWithoutLook, "one_each"),
        (Fault::WakeBeforePublish, "one_each"),
        (Fault::RoomWithoutWake, "each_in_turn"),
        (Fault::SwallowWake, "dropped_again"),
        (Fault::LateEpoch, "a_release_of_one_seen_waiting"),
        (Fault::ClearAfterReturn, "two_receivers"),
        (Fault::ClearAfterLeaving, "three_sets"),
        (Fault::CountAfterBit, "one_each"),
        (Fault::TrustFirstSet, "a_cell_gets_another_set"),
        (Fault::LeaveDespiteBorrowers, "one_each"),
        (Fault::ToldCountsAsServed, "two_sets"),
        (Fault::TellByStore, "one_each"),
        (Fault::WakeBeforeTell, "one_each"),
        (Fault::LeaveByStore, "one_each"),
        (Fault::FirstSegmentOnly, "more_than_a_segment"),
        (Fault::BlindTell, "three_sets"),
        (Fault::KeepGoneCells, "one_each"),
        (Fault::FreeBeforeTaking, "two_receivers"),
        (Fault::KeepOldWaker, "three_sets"),
        (Fault::ReleaseAsPulse, "a_release_beside_a_poll"),
        (Fault::TakeWhenReleased, "a_release_is_exact"),
        (Fault::EpochAfterWaking, "a_release_beside_a_poll"),
        (Fault::CloseWakesOne, "all_are_closed"),
        (Fault::PanicCountsAsWake, "a_waker_panics"),
        (Fault::PanicGoesOn, "a_waker_panics_when_dropped"),
        (Fault::ForgetDeepWakes, "wakers_send"),
        (Fault::YoungestIsOldest, "the_first_in_line_is_told"),
    ];
    let mut missed = Vec::new();
    for (fault, by) in faults {
        if is_caught(fault, by) {
            println!("mutant {fault:?}: caught by {by}");
        } else {
            missed.push(fault);
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
