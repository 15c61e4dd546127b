//! How long urgent items take under a flood of others, and items to a receiver that sleeps.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use overtake_benches::{BANDS, Bench, CAPACITY, Group, LENGTH, with_each};
use overtake_sim::contenders::Contender;
use overtake_sim::workload::{Flood, Latencies, Wake};

/// What is asked of the latencies, in thousandths.
const PARTS: [(&str, usize); 3] = [("p50", 500), ("p99", 990), ("p99.9", 999)];

/// One bench for each percentile: the figure is the latency, whatever the number of iterations.
fn percentiles<C: Contender>(group: &mut Group<'_>, run: impl Fn() -> Latencies) {
    for (name, part) in PARTS {
        group.bench_function(format!("{}, {name}", C::NAME), |bencher| {
            bencher.iter_custom(|items| {
                Duration::from_nanos(run().per_mille(part).max(1).saturating_mul(items))
            });
        });
    }
}

struct UnderFlood(Flood);

impl Bench for UnderFlood {
    fn run<C: Contender>(&self, group: &mut Group<'_>) {
        if Flood::suits::<C>() {
            percentiles::<C>(group, || self.0.run::<C>(2 * LENGTH));
        }
    }
}

struct Parked(Wake);

impl Bench for Parked {
    fn run<C: Contender>(&self, group: &mut Group<'_>) {
        if C::BLOCKS {
            percentiles::<C>(group, || self.0.run::<C>(100));
        }
    }
}

fn flood(criterion: &mut Criterion) {
    let flood = Flood {
        bulk_senders: 2,
        receivers: 2,
        bands: BANDS,
        capacity: CAPACITY,
        interval: Duration::from_micros(100),
        work: 200,
    };
    with_each(criterion, "urgent under a flood", &UnderFlood(flood));
}

fn wake(criterion: &mut Criterion) {
    let wake = Wake { bands: BANDS, pause: Duration::from_micros(200) };
    with_each(criterion, "wake a receiver", &Parked(wake));
}

criterion_group!(name = benches; config = overtake_benches::criterion(); targets = flood, wake);
criterion_main!(benches);
