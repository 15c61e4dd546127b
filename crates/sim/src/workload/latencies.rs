//! What many measured times have in common.

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

    /// The smallest latency that so many thousandths of the samples did not exceed; 0 without samples.
    /// Counted in whole numbers: 99.9 has no exact floating-point number, which costs a whole rank.
    #[must_use]
    pub fn per_mille(&self, thousandths: usize) -> u64 {
        let rank = (thousandths * self.sorted.len()).div_ceil(1_000);
        self.sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }

    /// How many samples there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sorted.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_sample_that_occurred() {
        let latencies = Latencies::new((1..=1_000).rev().collect());
        let percentiles = [0, 500, 990, 999, 1_000].map(|part| latencies.per_mille(part));
        assert_eq!(percentiles, [1, 500, 990, 999, 1_000]);
        assert_eq!((Latencies::default().per_mille(500), latencies.count()), (0, 1_000));
    }
}
