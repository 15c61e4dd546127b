//! The cells: what is done, and what is measured of it.

use std::time::Duration;

use super::{Better, Effort};
use crate::check::{RecordOptions, check, record};
use crate::contenders::Contender;
use crate::workload::{Calls, Flood, Flow, Idle, Latencies, Pair, Traffic, Wake};

const CAPACITY: usize = 1_024;
const BANDS: usize = 4;

/// One kind of work and its figures.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// What is done.
    pub workload: &'static str,
    /// What is measured.
    pub metrics: &'static [Metric],
    pub(super) work: Work,
}

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// What it is called.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Which way it is better.
    pub better: Better,
    /// Smaller values count as this in ratios: they are nothing, or the meter's own noise.
    pub floor: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    Pair { bands: usize },
    Flow(Flow),
    Flood,
    Wake,
    Idle,
    Checked,
}

const fn lower(name: &'static str, unit: &'static str, floor: f64) -> Metric {
    Metric { name, unit, better: Better::Lower, floor }
}

const COST: &[Metric] = &[lower("send and receive", "ns", 0.0)];
const RATE: &[Metric] =
    &[Metric { name: "throughput", unit: "M items/s", better: Better::Higher, floor: 0.01 }];
const TAIL: &[Metric] = &[
    lower("p50", "us", 0.0),
    lower("p99", "us", 0.0),
    lower("p99.9", "us", 0.0),
    lower("max", "us", 0.0),
];
const WAKE: &[Metric] = &[lower("p50", "us", 0.0), lower("p99", "us", 0.0)];
const IDLE: &[Metric] = &[lower("processor time", "ms/s", 1.0)];
const CHECKED: &[Metric] = &[lower("items passed", "per million", 1.0)];

const fn pair(workload: &'static str, bands: usize) -> Cell {
    Cell { workload, metrics: COST, work: Work::Pair { bands } }
}

const fn flow(workload: &'static str, flow: Flow) -> Cell {
    Cell { workload, metrics: RATE, work: Work::Flow(flow) }
}

const ONE_TO_ONE: Flow = Flow {
    senders: 1,
    receivers: 1,
    bands: BANDS,
    capacity: CAPACITY,
    traffic: Traffic::EveryBand,
    calls: Calls::Single,
};

/// All of them.
pub const CELLS: &[Cell] = &[
    pair("uncontended pair, 1 band", 1),
    pair("uncontended pair, 4 bands", BANDS),
    pair("uncontended pair, 16 bands", 16),
    pair("uncontended pair, 64 bands", 64),
    flow("1 to 1", ONE_TO_ONE),
    flow("1 to 1, one band busy", Flow { traffic: Traffic::LowestBand, ..ONE_TO_ONE }),
    flow("1 to 1, mostly the lowest", Flow { traffic: Traffic::MostlyLowest, ..ONE_TO_ONE }),
    flow("1 to 1, capacity 64", Flow { capacity: 64, ..ONE_TO_ONE }),
    flow("1 to 1, capacity 1", Flow { capacity: 1, ..ONE_TO_ONE }),
    flow("1 to 1, in batches", Flow { calls: Calls::Many, ..ONE_TO_ONE }),
    flow("2 to 2", Flow { senders: 2, receivers: 2, ..ONE_TO_ONE }),
    flow("4 to 4", Flow { senders: 4, receivers: 4, ..ONE_TO_ONE }),
    flow("4 to 1", Flow { senders: 4, ..ONE_TO_ONE }),
    flow("1 to 4", Flow { receivers: 4, ..ONE_TO_ONE }),
    flow("oversubscribed, 16 to 16", Flow { senders: 16, receivers: 16, ..ONE_TO_ONE }),
    Cell { workload: "urgent under a flood", metrics: TAIL, work: Work::Flood },
    Cell { workload: "wake a receiver", metrics: WAKE, work: Work::Wake },
    Cell { workload: "4 idle receivers", metrics: IDLE, work: Work::Idle },
    Cell { workload: "random calls, checked", metrics: CHECKED, work: Work::Checked },
];

impl Cell {
    /// Does the work once and returns the figure of each metric; nothing if the design cannot do it.
    #[must_use]
    pub fn measure<C: Contender>(&self, effort: Effort) -> Option<Vec<f64>> {
        let scale = effort.scale;
        match self.work {
            Work::Pair { bands } => {
                let pairs = 20_000 * u64::from(scale);
                let taken = Pair { bands, capacity: CAPACITY }.run::<C>(pairs);
                Some(vec![taken.as_nanos() as f64 / pairs as f64])
            }
            Work::Flow(flow) => flow
                .suits::<C>()
                .then(|| vec![flow.run::<C>(Duration::from_millis(20) * scale) / 1e6]),
            Work::Flood => measure_flood::<C>(Duration::from_millis(200) * scale),
            Work::Wake => measure_wake::<C>(120 * scale as usize),
            Work::Idle => {
                let length = Duration::from_millis(40) * scale;
                let used = Idle { receivers: 4, bands: BANDS }.run::<C>(length);
                C::MANY_RECEIVERS.then(|| vec![1e3 * used.as_secs_f64() / length.as_secs_f64()])
            }
            Work::Checked => measure_order::<C>(40_000 * scale as usize),
        }
    }

    /// Whether designs without priority take part even in a quick comparison.
    pub(super) fn is_for_scale(&self) -> bool {
        matches!(self.work, Work::Pair { .. } | Work::Flow(ONE_TO_ONE))
    }

    /// The design without priority that ours is held against, if it is not the best of them.
    pub(super) fn reference(&self) -> Option<&'static str> {
        matches!(self.work, Work::Pair { .. }).then_some("array_queue")
    }
}

fn measure_flood<C: Contender>(length: Duration) -> Option<Vec<f64>> {
    let flood = Flood {
        bulk_senders: 2,
        receivers: 2,
        bands: BANDS,
        capacity: CAPACITY,
        interval: Duration::from_micros(100),
        work: 200,
    };
    let latencies = Flood::suits::<C>().then(|| flood.run::<C>(length))?;
    // Without a sample nothing is known; a figure of 0 would be the best of all.
    (latencies.count() > 0).then(|| microseconds(&latencies, &[500, 990, 999, 1_000]))
}

fn measure_wake<C: Contender>(items: usize) -> Option<Vec<f64>> {
    let wake = Wake { bands: BANDS, pause: Duration::from_micros(200) };
    let latencies = C::BLOCKS.then(|| wake.run::<C>(items))?;
    Some(microseconds(&latencies, &[500, 990]))
}

fn microseconds(latencies: &Latencies, thousandths: &[usize]) -> Vec<f64> {
    thousandths.iter().map(|&part| latencies.per_mille(part) as f64 / 1e3).collect()
}

/// How often an item was passed by a less urgent one, proved by the history of the calls.
fn measure_order<C: Contender>(operations: usize) -> Option<Vec<f64>> {
    // Many bands: the longer a sweep is, the more can come meanwhile.
    let options = RecordOptions {
        bands: 16,
        capacity: 64,
        senders: 2,
        receivers: 2,
        operations,
        restricted: false,
        seed: 1,
    };
    let verdict = C::PRIORITY.then(|| check(&record::<C>(&options)))?;
    Some(vec![verdict.inversions() as f64 * 1e6 / operations as f64])
}
