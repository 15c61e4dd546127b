//! What the benches have in common: each is a thin file over the contenders and workloads of
//! `overtake-sim`.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput};
use overtake_sim::contenders::{Contender, Visitor, for_each};

/// Bands, where a bench does not say.
pub const BANDS: usize = 4;
/// The capacity of each band, where a bench does not say.
pub const CAPACITY: usize = 1_024;
/// How long a workload with several threads runs for one sample.
pub const LENGTH: Duration = Duration::from_millis(30);

/// Few samples, as there are many designs: for claims there is `overtake compare`.
#[must_use]
pub fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_secs(1))
        .without_plots()
}

/// Where criterion puts the figures of one workload.
pub type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// A workload, for one design.
pub trait Bench {
    /// Runs it as a bench of the group, if the design can do it.
    fn run<C: Contender>(&self, group: &mut Group<'_>);
}

/// Runs a workload for every design.
pub fn with_each(criterion: &mut Criterion, name: &str, bench: &impl Bench) {
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(1));
    for_each(&mut Each { group, bench });
}

struct Each<'a, B> {
    group: Group<'a>,
    bench: &'a B,
}

impl<B: Bench> Visitor for Each<'_, B> {
    fn visit<C: Contender>(&mut self) {
        self.bench.run::<C>(&mut self.group);
    }
}
