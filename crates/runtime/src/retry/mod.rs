//! Whether a failed job is tried again, and when.

mod backoff;

use std::time::Duration;

use backoff::Backoff;

/// The retry limit and the delay before each retry. Pure: the same attempt always gives the same
/// delay.
///
/// ```
/// use std::time::Duration;
/// use overtake_runtime::RetryPolicy;
///
/// let policy = RetryPolicy::exponential(Duration::from_millis(100), Duration::from_secs(30));
/// assert_eq!(policy.delay_after(1), Duration::from_millis(100));
/// assert_eq!(policy.delay_after(3), Duration::from_millis(400));
/// assert_eq!(policy.delay_after(u32::MAX), Duration::from_secs(30));
/// assert_eq!(policy.max_retries(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    backoff: Backoff,
    max_retries: u32,
}

impl RetryPolicy {
    /// The retry limit where none is set.
    pub const DEFAULT_MAX_RETRIES: u32 = 3;

    /// A failed job is never tried again.
    #[must_use]
    pub fn none() -> Self {
        Self { backoff: Backoff::Fixed(Duration::ZERO), max_retries: 0 }
    }

    /// The same delay before every retry.
    #[must_use]
    pub fn fixed(delay: Duration) -> Self {
        Self { backoff: Backoff::Fixed(delay), max_retries: Self::DEFAULT_MAX_RETRIES }
    }

    /// `base` before the first retry, twice as long before each further one, `cap` at most.
    #[must_use]
    pub fn exponential(base: Duration, cap: Duration) -> Self {
        Self {
            backoff: Backoff::Exponential { base, factor: 2.0, cap },
            max_retries: Self::DEFAULT_MAX_RETRIES,
        }
    }

    /// Sets by how much an exponential delay grows from one retry to the next. Without effect on
    /// other policies.
    ///
    /// # Panics
    ///
    /// If `factor` is below 1 or not a number.
    #[must_use]
    pub fn with_factor(mut self, new: f64) -> Self {
        assert!(new >= 1.0, "a backoff factor must be at least 1, not {new}");
        if let Backoff::Exponential { factor, .. } = &mut self.backoff {
            *factor = new;
        }
        self
    }

    /// Sets the retry limit of jobs that bring none: a job that always fails runs
    /// `max_retries + 1` times.
    #[must_use]
    pub fn with_max_retries(mut self, max_retries: u32) -> Self {
        self.max_retries = max_retries;
        self
    }

    /// The retry limit of jobs that bring none.
    #[must_use]
    pub fn max_retries(&self) -> u32 {
        self.max_retries
    }

    /// The delay before the next attempt, after `failed` failed ones (from 1).
    ///
    /// Never above the cap, never zero where the base is not, never shorter than the one before.
    #[must_use]
    pub fn delay_after(&self, failed: u32) -> Duration {
        self.backoff.delay_after(failed)
    }
}

impl Default for RetryPolicy {
    /// Three retries, one second apart.
    fn default() -> Self {
        Self::fixed(Duration::from_secs(1))
    }
}
