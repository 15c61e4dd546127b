//! The delays themselves.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Backoff {
    Fixed(Duration),
    Exponential { base: Duration, factor: f64, cap: Duration },
}

impl Backoff {
    pub(super) fn delay_after(&self, failed: u32) -> Duration {
        match *self {
            Self::Fixed(delay) => delay,
            Self::Exponential { base, factor, cap } => exponential(base, factor, cap, failed),
        }
    }
}

fn exponential(base: Duration, factor: f64, cap: Duration, failed: u32) -> Duration {
    let growth = factor.powf(f64::from(failed.saturating_sub(1)));
    // Both the product and its conversion may be beyond any duration; then the cap is meant.
    let grown = Duration::try_from_secs_f64(base.as_secs_f64() * growth).unwrap_or(Duration::MAX);
    // A base of many years loses its nanoseconds in a float; a delay is never below its base.
    grown.max(base).min(cap)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATTEMPTS: [u32; 14] = [0, 1, 2, 3, 31, 32, 33, 62, 63, 64, 65, 1_000, 1 << 31, u32::MAX];

    #[test]
    fn kind_22_no_attempt_overflows_a_delay() {
        let bases = [Duration::from_nanos(1), Duration::from_millis(1), Duration::from_secs(1)];
        for base in bases.into_iter().chain([Duration::MAX]) {
            for factor in [1.0, 2.0, 10.0, 1e300] {
                for cap in [Duration::from_secs(1), Duration::MAX] {
                    let backoff = Backoff::Exponential { base, factor, cap };
                    let delays = ATTEMPTS.map(|attempt| backoff.delay_after(attempt));
                    assert!(delays.is_sorted(), "{backoff:?}: {delays:?}");
                    assert!(delays.iter().all(|d| !d.is_zero() && *d <= cap), "{backoff:?}");
                }
            }
        }
    }

    #[test]
    fn grows_by_its_factor_up_to_the_cap() {
        let backoff = Backoff::Exponential {
            base: Duration::from_millis(50),
            factor: 3.0,
            cap: Duration::from_secs(2),
        };
        let millis: Vec<_> = (1..=6).map(|n| backoff.delay_after(n).as_millis()).collect();
        assert_eq!(millis, [50, 150, 450, 1_350, 2_000, 2_000]);
    }
}
