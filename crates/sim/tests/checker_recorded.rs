//! The checker on histories recorded from the contenders.

use overtake_sim::check::{RecordOptions, check, record};
use overtake_sim::contenders::{Contender, Overtake, RingSweep, Visitor, for_each};

const OPTIONS: RecordOptions = RecordOptions {
    bands: 3,
    capacity: 8,
    senders: 2,
    receivers: 2,
    operations: 100_000,
    restricted: false,
    seed: 1,
};

fn violations_in<C: Contender>(rounds: u64, bands: usize) -> u64 {
    let verdict = |seed| check(&record::<C>(&RecordOptions { seed, bands, ..OPTIONS }));
    (0..rounds).map(|seed| verdict(seed).violations.values().sum::<u64>()).sum()
}

#[test]
fn what_says_it_is_strict_is_linearizable() {
    struct Strict;
    impl Visitor for Strict {
        fn visit<C: Contender>(&mut self) {
            // The checker judges queues whose bands have room and order of their own.
            if C::STRICT && C::FIFO && C::CAPACITY_PER_BAND {
                assert_eq!(violations_in::<C>(1, 3) + violations_in::<C>(1, 1), 0, "{}", C::NAME);
            }
        }
    }
    for_each(&mut Strict);
}

#[test]
fn a_plain_sweep_is_caught_on_real_threads() {
    // The more bands, the longer the sweep in which an item can come to one that was looked at.
    let caught = (0..200).any(|seed| {
        let options = RecordOptions { seed, bands: 16, ..OPTIONS };
        !check(&record::<RingSweep>(&options)).is_linearizable()
    });
    assert!(caught, "in 20 million calls the sweep never passed an item");
}

#[test]
fn one_band_of_ours_is_a_queue() {
    assert_eq!(violations_in::<Overtake>(3, 1), 0);
}
