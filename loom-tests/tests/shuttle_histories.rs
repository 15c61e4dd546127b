//! G1 and G4: what the threads of small programs are answered is explained by one order of their
//! calls on the sequential channel, in every schedule tried; and no item, room or slot is lost.
#![cfg(overtake_shuttle)]

mod programs;

use overtake_loom_tests::{Call, Program};
use programs::{BATCHES, CLOSING, ORDER, RING, explore, program};

fn holds(name: &str, program: &Program, runs: usize) {
    let explored = explore(program, runs);
    println!("histories {name}: {explored} schedules");
}

#[test]
fn programs_about_the_order_are_explained() {
    for (name, text) in ORDER {
        holds(name, &program(text), 3_000);
    }
}

#[test]
fn programs_about_the_ring_are_explained() {
    for (name, text) in RING {
        holds(name, &program(text), 3_000);
    }
}

#[test]
fn programs_about_closing_are_explained() {
    for (name, text) in CLOSING {
        holds(name, &program(text), 3_000);
    }
}

#[test]
fn programs_with_batches_are_explained() {
    for (name, text) in BATCHES {
        holds(name, &program(text), 3_000);
    }
}

#[test]
fn random_programs_are_explained() {
    let mut dice = Dice::new(1);
    for round in 0..600 {
        let program = dense_program(&mut dice, round % 2 == 0);
        explore(&program, 40);
    }
    println!("histories random: 600 programs");
}

/// A small generator of pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Two to four threads with two to four calls each, on one to three bands.
fn dense_program(dice: &mut Dice, closes: bool) -> Program {
    let batches = dice.below(2) == 0;
    let most = if batches { 4 } else { 2 };
    let capacities: Vec<_> = (0..=dice.below(3)).map(|_| 1 + dice.below(most)).collect();
    let bands = capacities.len();
    let mut number = 0;
    let mut one_call = |dice: &mut Dice, may_close: bool| match dice.below(10) {
        0 if may_close => Call::Close,
        1 if batches => {
            let first = number + 1;
            number += 1 + dice.below(3) as u8;
            Call::SendMany(dice.below(bands), (first..=number).collect())
        }
        0..5 => {
            number += 1;
            Call::Send(dice.below(bands), number)
        }
        kind => {
            let set: Vec<_> = (0..bands).filter(|_| dice.below(4) > 0).collect();
            let set = if set.is_empty() { vec![bands - 1] } else { set };
            match kind {
                5 if batches => Call::ReceiveMany(set, 1 + dice.below(3)),
                _ => Call::Receive(set),
            }
        }
    };
    let before = (0..dice.below(5)).map(|_| one_call(dice, false)).collect();
    let threads = 2 + dice.below(3);
    let most = if threads == 2 { 3 } else { 2 };
    let threads = (0..threads)
        .map(|_| (0..2 + dice.below(most)).map(|_| one_call(dice, closes)).collect())
        .collect();
    Program { capacities, before, threads }
}
