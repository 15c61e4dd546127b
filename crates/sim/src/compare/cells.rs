//! The cells: what is done, and what is measured of it.

use std::time::Duration;

use super::Better;
use crate::contenders::Contender;
use crate::workload::{Flood, Flow, Pair, Wake};

const CAPACITY: usize = 1_024;
const BANDS: usize = 4;

/// One kind of work and its figures.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// What is done.
    pub workload: &'static str,
    /// What is measured: name, unit, and which way is better.
    pub metrics: &'static [(&'static str, &'static str, Better)],
    pub(super) work: Work,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    Pair { bands: usize },
    Flow { senders: usize, receivers: usize },
    Flood,
    Wake,
}

const RATE: &[(&str, &str, Better)] = &[("throughput", "M items/s", Better::Higher)];
const COST: &[(&str, &str, Better)] = &[("send and receive", "ns", Better::Lower)];

/// All of them.
pub const CELLS: &[Cell] = &[
    Cell {
        workload: "uncontended pair, 4 bands",
        metrics: COST,
        work: Work::Pair { bands: BANDS },
    },
    Cell { workload: "uncontended pair, 64 bands", metrics: COST, work: Work::Pair { bands: 64 } },
    Cell { workload: "1 to 1", metrics: RATE, work: Work::Flow { senders: 1, receivers: 1 } },
    Cell { workload: "2 to 2", metrics: RATE, work: Work::Flow { senders: 2, receivers: 2 } },
    Cell { workload: "4 to 4", metrics: RATE, work: Work::Flow { senders: 4, receivers: 4 } },
    Cell { workload: "4 to 1", metrics: RATE, work: Work::Flow { senders: 4, receivers: 1 } },
    Cell { workload: "1 to 4", metrics: RATE, work: Work::Flow { senders: 1, receivers: 4 } },
    Cell {
        workload: "oversubscribed, 16 to 16",
        metrics: RATE,
        work: Work::Flow { senders: 16, receivers: 16 },
    },
    Cell {
        workload: "urgent under a flood",
        metrics: &[
            ("p50", "us", Better::Lower),
            ("p99", "us", Better::Lower),
            ("p99.9", "us", Better::Lower),
        ],
        work: Work::Flood,
    },
    Cell {
        workload: "wake a receiver",
        metrics: &[("p50", "us", Better::Lower)],
        work: Work::Wake,
    },
];

impl Cell {
    /// Does the work once and returns the figure of each metric.
    #[must_use]
    pub fn measure<C: Contender>(&self, scale: u32) -> Vec<f64> {
        let items = 250_000 * u64::from(scale);
        match self.work {
            Work::Pair { bands } => {
                let taken = Pair { bands, capacity: CAPACITY }.run::<C>(items);
                vec![taken.as_nanos() as f64 / items as f64]
            }
            Work::Flow { senders, receivers } => {
                let flow = Flow { senders, receivers, bands: BANDS, capacity: CAPACITY };
                vec![items as f64 / flow.run::<C>(items).as_secs_f64() / 1e6]
            }
            Work::Flood => {
                let flood = Flood {
                    bulk_senders: 2,
                    receivers: 2,
                    bands: BANDS,
                    capacity: CAPACITY,
                    interval: Duration::from_micros(100),
                    work: 200,
                };
                let latencies = flood.run::<C>(Duration::from_millis(250) * scale);
                [50.0, 99.0, 99.9].map(|p| latencies.percentile(p) as f64 / 1e3).into()
            }
            Work::Wake => {
                let wake = Wake { bands: BANDS, pause: Duration::from_micros(200) };
                vec![wake.run::<C>(150 * scale as usize).percentile(50.0) as f64 / 1e3]
            }
        }
    }
}
