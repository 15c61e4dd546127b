//! Faults that need several threads stopped at certain steps: all plans of one kind are tried, with
//! the rule and without it.
#![cfg(overtake_shuttle)]

#[allow(dead_code, reason = "the lists are for other tests")]
mod programs;

use overtake_core::internals::Fault;
use overtake_loom_tests::{ALL, Turn, Turns, run_program};
use programs::program;
use shuttle::{Config, MaxSteps, Runner};
use std::panic::{self, AssertUnwindSafe, catch_unwind};

/// More steps than any run of these programs needs, with as many bands as the most of them have.
const BOUND: usize = 4_000;
/// The same for a program of one band.
const SHORT_BOUND: usize = 600;

/// A program, and every plan to run it by.
struct Scenario {
    fault: Fault,
    program: &'static str,
    plans: fn() -> Vec<Vec<Turn>>,
    bound: usize,
}

impl Scenario {
    fn explore(&self) -> usize {
        let mut config = Config::new();
        config.max_steps = MaxSteps::FailAfter(self.bound);
        config.silence_warnings = true;
        let program = program(self.program);
        Runner::new(Turns::new((self.plans)()), config).run(move || run_program(&program))
    }
}

/// Every choice of `a`, `b` and `c` below these ends.
fn choices(
    [a, b, c]: [usize; 3],
    plan: impl Fn(usize, usize, usize) -> Vec<Turn>,
) -> Vec<Vec<Turn>> {
    let each = |a| (0..b).flat_map(move |b| (0..c).map(move |c| (a, b, c)));
    (0..a).flat_map(each).map(|(a, b, c)| plan(a, b, c)).collect()
}

const SCENARIOS: &[Scenario] = &[
    // Both receivers clear band 0. One has read the word before the other marks it; a send drops
    // that mark; the first marks anew: then the other's clear must not succeed.
    Scenario {
        fault: Fault::MarkWithoutVersion,
        bound: BOUND,
        program: "1 1 | s0 r0 s1 | r0 | r0 | s0 | r01",
        plans: || {
            choices([40, 40, 4], |a, b, c| {
                vec![(2, a), (1, b), (3, ALL), (2, c), (1, ALL), (4, ALL)]
            })
        },
    },
    // Three bands in three words. Whenever one of the upper words is read, its band is empty, and
    // the other is not.
    Scenario {
        fault: Fault::IgnoreVersion,
        bound: BOUND,
        program: "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 \
                  | sw rw | r0gw | s0 sw | sg r0 r0 | s0 rg rg",
        plans: || {
            choices([24, 24, 6], |a, b, c| {
                vec![(1, a), (2, ALL), (1, b), (3, ALL), (1, c), (4, ALL), (1, ALL)]
            })
        },
    },
    // A clear has marked band 0, a sender has a ticket of it, and the channel closes.
    Scenario {
        fault: Fault::ClearPastClose,
        bound: BOUND,
        program: "1 1 | s0 r0 s1 | r0 | s0 | c | r01",
        plans: || {
            choices([40, 24, 1], |a, b, _| {
                vec![(1, a), (2, b), (3, ALL), (1, ALL), (4, ALL), (2, ALL)]
            })
        },
    },
    // A sender with a ticket and a receiver step in time: each claim is met before its publish.
    Scenario {
        fault: Fault::VoidInVain,
        program: "2 | s0 r0 | s0 | r0",
        plans: || {
            let meeting = |first: usize| {
                choices([32, 16, 16], move |a, b, c| {
                    let in_time = [(1, b + 1), (2, c + 1)];
                    let turns = 2 * SHORT_BOUND / (b + c + 2);
                    let start = [(1, first), (2, a)];
                    start.into_iter().chain(in_time.into_iter().cycle().take(turns)).collect()
                })
            };
            (4..10).flat_map(meeting).collect()
        },
        bound: SHORT_BOUND,
    },
    // A receiver voids a ticket, and then takes from the band above. The head is dead, one of two
    // places is taken, and the last send has nobody beside it.
    Scenario {
        fault: Fault::FullWithoutHelp,
        bound: BOUND,
        program: "1 2 | | s1 s1 | s1 | r01 | s0",
        plans: || {
            choices([24, 40, 1], |a, b, _| {
                vec![(1, a), (2, ALL), (3, b), (4, ALL), (3, ALL), (1, ALL)]
            })
        },
    },
    // Both slots are held by receivers that are stopped.
    Scenario {
        fault: Fault::SkipForEver,
        bound: BOUND,
        program: "1 | s0 | r0 | s0 r0 | s0",
        plans: || choices([32, 50, 1], |a, b, _| vec![(1, a), (2, b), (3, ALL)]),
    },
];

/// One test, because a planted fault is the whole process's.
#[test]
fn every_plan_holds_and_every_mutant_is_caught() {
    for scenario in SCENARIOS {
        println!("turns without {:?}: {} plans", scenario.fault, scenario.explore());
    }
    panic::set_hook(Box::new(|_| ()));
    let mut missed = Vec::new();
    for scenario in SCENARIOS {
        Fault::plant(Some(scenario.fault));
        match catch_unwind(AssertUnwindSafe(|| scenario.explore())) {
            Err(_) => println!("mutant {:?}: caught by {}", scenario.fault, scenario.program),
            Ok(_) => missed.push(scenario.fault),
        }
        Fault::plant(None);
    }
    let _ = panic::take_hook();
    assert!(missed.is_empty(), "survived: {missed:?}");
}
