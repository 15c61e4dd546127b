//! One thread: `try_send` and `try_recv` in turn, beside a growing number of idle bands.

use criterion::{Criterion, criterion_group, criterion_main};
use overtake_benches::{Bench, CAPACITY, Group, with_each};
use overtake_sim::contenders::Contender;
use overtake_sim::workload::Pair;

struct Uncontended(Pair);

impl Bench for Uncontended {
    fn run<C: Contender>(&self, group: &mut Group<'_>) {
        group.bench_function(C::NAME, |bencher| {
            bencher.iter_custom(|pairs| self.0.run::<C>(pairs));
        });
    }
}

fn uncontended(criterion: &mut Criterion) {
    for bands in [1, 4, 16, 64] {
        let pair = Pair { bands, capacity: CAPACITY };
        with_each(criterion, &format!("pair, {bands} bands"), &Uncontended(pair));
    }
}

criterion_group!(name = benches; config = overtake_benches::criterion(); targets = uncontended);
criterion_main!(benches);
