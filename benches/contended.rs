//! Items from and to several threads: the time for one at the pace of the whole.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use overtake_benches::{BANDS, Bench, CAPACITY, Group, LENGTH, with_each};
use overtake_sim::contenders::Contender;
use overtake_sim::workload::{Calls, Flow, Traffic};

struct Contended(Flow);

impl Bench for Contended {
    fn run<C: Contender>(&self, group: &mut Group<'_>) {
        if self.0.suits::<C>() {
            group.bench_function(C::NAME, |bencher| {
                bencher.iter_custom(|items| {
                    Duration::from_secs_f64(items as f64 / self.0.run::<C>(LENGTH).max(1.0))
                });
            });
        }
    }
}

const ONE_TO_ONE: Flow = Flow {
    senders: 1,
    receivers: 1,
    bands: BANDS,
    capacity: CAPACITY,
    traffic: Traffic::EveryBand,
    calls: Calls::Single,
};

fn contended(criterion: &mut Criterion) {
    for (senders, receivers) in [(1, 1), (2, 2), (4, 4), (4, 1), (1, 4), (16, 16)] {
        let flow = Flow { senders, receivers, ..ONE_TO_ONE };
        with_each(criterion, &format!("{senders} to {receivers}"), &Contended(flow));
    }
}

fn one_to_one(criterion: &mut Criterion) {
    let variants = [
        ("one band busy", Flow { traffic: Traffic::LowestBand, ..ONE_TO_ONE }),
        ("mostly the lowest", Flow { traffic: Traffic::MostlyLowest, ..ONE_TO_ONE }),
        ("capacity 64", Flow { capacity: 64, ..ONE_TO_ONE }),
        ("capacity 1", Flow { capacity: 1, ..ONE_TO_ONE }),
        ("in batches", Flow { calls: Calls::Many, ..ONE_TO_ONE }),
    ];
    for (name, flow) in variants {
        with_each(criterion, &format!("1 to 1, {name}"), &Contended(flow));
    }
}

criterion_group! {
    name = benches;
    config = overtake_benches::criterion();
    targets = contended, one_to_one
}
criterion_main!(benches);
