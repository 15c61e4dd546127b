//! The channel beside the designs it is compared with: the same work for each, one after the other
//! in one process.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use overtake_sim::contenders::{Contender, Visitor, for_each};
use overtake_sim::workload::{Flow, Pair};

const BANDS: usize = 4;
const CAPACITY: usize = 1_024;

/// `try_send` and `try_recv` in turn on one thread, in the lowest band.
struct Uncontended<'a>(&'a mut Criterion);

impl Visitor for Uncontended<'_> {
    fn visit<C: Contender>(&mut self) {
        let pair = Pair { bands: BANDS, capacity: CAPACITY };
        let mut group = self.0.benchmark_group("uncontended");
        group.throughput(Throughput::Elements(1)).bench_function(C::NAME, |bencher| {
            bencher.iter_custom(|pairs| pair.run::<C>(pairs));
        });
    }
}

/// Blocking calls from and to several threads, all bands alike.
struct Contended<'a>(&'a mut Criterion);

impl Visitor for Contended<'_> {
    fn visit<C: Contender>(&mut self) {
        for (senders, receivers) in [(1, 1), (2, 2), (4, 4), (4, 1)] {
            let flow = Flow { senders, receivers, bands: BANDS, capacity: CAPACITY };
            let mut group = self.0.benchmark_group(format!("{senders} to {receivers}"));
            group.throughput(Throughput::Elements(1));
            group.bench_function(BenchmarkId::from_parameter(C::NAME), |bencher| {
                bencher.iter_custom(|items| flow.run::<C>(items));
            });
        }
    }
}

fn uncontended(criterion: &mut Criterion) {
    for_each(&mut Uncontended(criterion));
}

fn contended(criterion: &mut Criterion) {
    for_each(&mut Contended(criterion));
}

criterion_group! {
    name = channel;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = uncontended, contended
}
criterion_main!(channel);
