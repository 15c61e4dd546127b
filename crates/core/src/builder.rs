//! Making a channel.

use std::error::Error;
use std::fmt;

use crate::band::MAX_BANDS;
use crate::channel::Shared;
use crate::receiver::Receiver;
use crate::ring::{BandRing, RingError};
use crate::sender::Sender;
use crate::sync::Arc;
use crate::wait_strategy::WaitStrategy;

/// Makes a channel with one band per capacity, the most urgent first.
///
/// ```
/// let (tx, rx) = overtake_core::bounded(&[16, 1024]);
/// tx.send(1, "bulk")?;
/// tx.send(0, "urgent")?;
/// assert_eq!(rx.recv(), Ok("urgent"));
/// assert_eq!(rx.recv(), Ok("bulk"));
/// # Ok::<(), overtake_core::SendError<&str>>(())
/// ```
///
/// # Panics
///
/// Where [`Builder::build`] returns an error, with that error's words.
#[must_use]
#[track_caller]
pub fn bounded<T>(capacities: &[usize]) -> (Sender<T>, Receiver<T>) {
    match Builder::new().bands(capacities).build() {
        Ok(handles) => handles,
        Err(error) => panic!("{error}"),
    }
}

/// Makes a channel, and says what is wrong where it cannot.
///
/// ```
/// use overtake_core::{BuildError, Builder};
///
/// let (tx, rx) = Builder::new().band(8).band(512).build()?;
/// tx.send(0, 'a').expect("a receiver is there");
/// assert_eq!(rx.recv_with_band(), Ok((0, 'a')));
///
/// let wrong = Builder::new().bands(&[8, 0]).build::<char>().unwrap_err();
/// assert_eq!(wrong, BuildError::ZeroCapacity { band: 1 });
/// assert_eq!(wrong.to_string(), "band 1 has capacity 0; a band holds at least one item");
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Builder {
    capacities: Vec<usize>,
    senders_wait: WaitStrategy,
    receivers_wait: WaitStrategy,
}

impl Builder {
    /// A channel without bands, to which bands are added.
    pub const fn new() -> Self {
        let (senders_wait, receivers_wait) = (WaitStrategy::Adaptive, WaitStrategy::Adaptive);
        Self { capacities: Vec::new(), senders_wait, receivers_wait }
    }

    /// Adds one band below those already there; `capacity` is in items.
    pub fn band(mut self, capacity: usize) -> Self {
        self.capacities.push(capacity);
        self
    }

    /// Adds one band per capacity, in order of urgency.
    pub fn bands(mut self, capacities: &[usize]) -> Self {
        self.capacities.extend_from_slice(capacities);
        self
    }

    /// What a blocked thread does, on both sides; [`WaitStrategy::Adaptive`] if nothing is said.
    pub const fn wait(self, strategy: WaitStrategy) -> Self {
        self.senders_wait(strategy).receivers_wait(strategy)
    }

    /// What a thread does that is blocked for want of room.
    pub const fn senders_wait(mut self, strategy: WaitStrategy) -> Self {
        self.senders_wait = strategy;
        self
    }

    /// What a thread does that is blocked for want of an item.
    pub const fn receivers_wait(mut self, strategy: WaitStrategy) -> Self {
        self.receivers_wait = strategy;
        self
    }

    /// Makes the channel. All its memory is had here: a slot per item of capacity in each band.
    ///
    /// # Errors
    ///
    /// [`BuildError`] names the value that is not possible: no bands, more than [`MAX_BANDS`], a
    /// capacity of 0, or one for which there is no memory.
    pub fn build<T>(&self) -> Result<(Sender<T>, Receiver<T>), BuildError> {
        let bands = self.capacities.len();
        if bands == 0 {
            return Err(BuildError::NoBands);
        }
        if bands > MAX_BANDS {
            return Err(BuildError::TooManyBands { bands });
        }
        let ring = |(band, &capacity)| {
            BandRing::new(capacity).map_err(|error| match error {
                RingError::Zero => BuildError::ZeroCapacity { band },
                RingError::TooLarge => BuildError::CapacityTooLarge { band, capacity },
            })
        };
        let rings = self.capacities.iter().enumerate().map(ring).collect::<Result<_, _>>()?;
        let shared = Arc::new(Shared::new(rings, self.senders_wait, self.receivers_wait));
        Ok((Sender::counted(Arc::clone(&shared)), Receiver::counted(shared)))
    }
}

/// Why a channel could not be made; each variant names the bad value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A channel has at least one band.
    NoBands,
    /// More than [`MAX_BANDS`] bands were asked for.
    TooManyBands {
        /// How many.
        bands: usize,
    },
    /// A band of capacity 0 could never hold an item.
    ZeroCapacity {
        /// Which band.
        band: usize,
    },
    /// There is no memory for a band of this capacity.
    CapacityTooLarge {
        /// Which band.
        band: usize,
        /// The capacity asked for, in items.
        capacity: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBands => f.write_str("a channel has at least one band, none was given"),
            Self::TooManyBands { bands } => {
                write!(f, "a channel has at most {MAX_BANDS} bands, {bands} were asked for")
            }
            Self::ZeroCapacity { band } => {
                write!(f, "band {band} has capacity 0; a band holds at least one item")
            }
            Self::CapacityTooLarge { band, capacity } => {
                write!(f, "there is no memory for the capacity {capacity} of band {band}")
            }
        }
    }
}

impl Error for BuildError {}
