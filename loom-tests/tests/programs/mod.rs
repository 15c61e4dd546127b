//! Programs on a channel, written in a line each, and how they are explored.

use overtake_loom_tests::{Call, Program, Thread, run_program};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};
use std::sync::Arc;

type Named = (&'static str, &'static str);

/// Capacities, then the calls before, then those of each thread. `s0` sends to band 0, `r01`
/// receives from bands 0 and 1, `c` closes; `S30` sends 3 to band 0 by one call, `R301` receives up
/// to 3 from bands 0 and 1.
pub(super) const ORDER: &[Named] = &[
    ("overtaken", "1 1 | s1 r01 | s0 s1 | r01"),
    ("overtaken_in_used_bands", "1 1 | s1 r01 s0 r01 | s0 s1 | r01"),
    ("never_empty", "1 1 | s1 | s0 r1 | r01"),
    ("each_looks_at_the_other", "2 2 | | s0 r1 | s1 r0"),
    ("three_bands", "1 1 1 | s2 | s0 s1 r2 | r012 | s1 r01"),
    ("clear_and_send", "2 2 | s0 r0 s1 | s0 r01 | r01 r01 | s0"),
    ("two_clears", "1 1 | s0 r0 s1 | s0 r1 | r01 | r01"),
    ("many_words", "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 | sg | s0 sg r0 | r0g | r0g"),
];
pub(super) const RING: &[Named] = &[
    ("late_sender", "2 | | s0 s0 | s0 r0 | r0"),
    ("late_receiver", "1 | s0 | r0 | s0 r0 s0 r0"),
    ("two_laps", "1 | s0 | r0 r0 | s0 r0 s0 | s0 r0"),
    ("four_threads", "2 | | s0 s0 | s0 s0 | r0 r0 | r0 r0"),
    ("full", "2 | s0 s0 | r0 s0 | s0 r0 | s0"),
    ("full_behind_a_dead_head", "1 2 | | s1 s1 | s1 s0 | r01"),
];
pub(super) const CLOSING: &[Named] = &[
    ("refused_then_accepted", "1 1 | | c | s0 s1"),
    ("closed_then_accepted", "1 1 | | c | r01 s0"),
    ("urgent_beside_close", "1 1 | s1 | s0 | c r01 r01"),
    ("two_closers", "2 1 | s0 | c | c r01 | s1 r0"),
    ("close_beside_a_clear", "2 2 | s0 r0 s1 | r01 | s0 | c r01"),
    ("empty_or_closed", "1 | s0 | r0 | c r0"),
    ("close_beside_all", "1 2 | | s0 s1 | r01 r01 | c | s1 r1"),
];

/// Of a capacity of 4, one claim takes 2.
pub(super) const BATCHES: &[Named] = &[
    ("batch_beside_a_send", "4 | | S20 | s0 r0 r0"),
    ("batch_passed", "4 | | S20 S20 | s0 s0 | r0 R30"),
    ("batches_meet", "4 | | S30 | S30 | R30 R30"),
    ("urgent_beside_a_run", "1 4 | s1 | s0 s1 | R301"),
    ("urgent_beside_runs", "2 4 | s0 r0 S31 | s0 S21 | R401 | s0 r1"),
    ("two_laps_of_runs", "4 | S40 | R20 R20 | S40 R40 S40"),
    ("runs_taken_by_three", "4 | S40 | R30 | R20 s0 | S20 r0"),
    ("batch_beside_a_close", "4 4 | S21 | S40 | c R401"),
];

/// Reads a program; items are numbered in the order of the text.
pub(super) fn program(text: &str) -> Program {
    let mut parts = text.split('|');
    let capacities = parts.next().unwrap_or_default();
    let capacities = capacities.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let mut number = 0;
    let mut calls = |part: &str| -> Thread {
        part.split_whitespace().map(|word| call(word, &mut number)).collect()
    };
    let before = calls(parts.next().unwrap_or_default());
    Program { capacities, before, threads: parts.map(calls).collect() }
}

fn call(word: &str, number: &mut u8) -> Call {
    let bands: Vec<_> =
        word.chars().skip(1).map(|band| band.to_digit(36).unwrap() as usize).collect();
    match word.as_bytes()[0] {
        b's' => {
            *number += 1;
            Call::Send(bands[0], *number)
        }
        b'S' => {
            let first = *number + 1;
            *number += bands[0] as u8;
            Call::SendMany(bands[1], (first..=*number).collect())
        }
        b'R' => Call::ReceiveMany(bands[1..].to_vec(), bands[0]),
        b'r' => Call::Receive(bands),
        _ => Call::Close,
    }
}

/// Runs a program in `runs` schedules of each kind; says in how many altogether.
pub(super) fn explore(program: &Program, runs: usize) -> usize {
    let seed = 7;
    explore_by(RandomScheduler::new_from_seed(seed, runs), program)
        + explore_by(PctScheduler::new_from_seed(seed, 3, runs), program)
        + explore_by(PctScheduler::new_from_seed(seed, 6, runs), program)
}

fn explore_by(scheduler: impl Scheduler + 'static, program: &Program) -> usize {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(20_000);
    config.silence_warnings = true;
    let program = Arc::new(program.clone());
    Runner::new(scheduler, config).run(move || run_program(&program))
}
