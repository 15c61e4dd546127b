//! The checker on histories recorded from the contenders.

use overtake_sim::check::{RecordOptions, check, record};
use overtake_sim::contenders::{Contender, MutexHeap, Overtake, RingSweep};

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
fn a_queue_behind_one_lock_is_linearizable() {
    assert_eq!(violations_in::<MutexHeap>(3, 3), 0);
    assert_eq!(violations_in::<MutexHeap>(1, 1), 0);
}

#[test]
fn a_plain_sweep_is_caught_on_real_threads() {
    let caught = (0..200).any(|seed| {
        let options = RecordOptions { seed, ..OPTIONS };
        !check(&record::<RingSweep>(&options)).is_linearizable()
    });
    assert!(caught, "in 20 million calls the sweep never passed an item");
}

#[test]
fn one_band_of_ours_is_a_queue() {
    assert_eq!(violations_in::<Overtake>(3, 1), 0);
}
