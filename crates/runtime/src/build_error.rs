//! Why a runtime could not be made.

use std::io;

/// Why a runtime could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The number of priorities is not possible.
    #[error("a runtime has 1 to 32 priorities, not {priorities}")]
    Priorities {
        /// How many were asked for.
        priorities: usize,
    },
    /// A priority could never take a job in.
    #[error("priority {priority} has capacity 0; a priority has room for at least one job")]
    ZeroCapacity {
        /// Which priority.
        priority: usize,
    },
    /// There is no memory for a capacity.
    #[error("the capacity is not possible")]
    Capacity {
        /// Which one; each priority has two bands.
        source: overtake_core::BuildError,
    },
    /// Without workers nothing would ever run.
    #[error("a runtime has at least one worker")]
    NoWorkers,
    /// The operating system gave no thread.
    #[error("cannot start thread `{name}`")]
    Thread {
        /// Which thread.
        name: String,
        /// Why not.
        source: io::Error,
    },
}
