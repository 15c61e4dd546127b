//! What the contenders are made to do.

mod flood;
mod flow;
mod pair;
mod wake;

pub use flood::Flood;
pub use flow::Flow;
pub use pair::Pair;
pub use wake::Wake;

/// Latencies in nanoseconds, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    sorted: Vec<u64>,
}

impl Latencies {
    /// Sorts what was measured.
    #[must_use]
    pub fn new(mut nanos: Vec<u64>) -> Self {
        nanos.sort_unstable();
        Self { sorted: nanos }
    }

    /// The smallest latency that this share of the samples did not exceed; 0 without samples.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        let rank = (percent / 100.0 * self.sorted.len() as f64).ceil() as usize;
        self.sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }

    /// How many samples there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sorted.len()
    }
}
