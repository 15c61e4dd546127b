//! Bands and sets of bands.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not, RangeBounds};

/// The largest number of bands a channel can have.
pub const MAX_BANDS: usize = 64;

/// A set of bands: which of them a receiver takes from.
///
/// Band 0 is the most urgent. A set is a plain 64-bit value; building one never fails and never
/// depends on a channel.
///
/// ```
/// use overtake_core::BandSet;
///
/// let urgent = BandSet::range(..2);
/// assert!(urgent.contains(0) && urgent.contains(1) && !urgent.contains(2));
/// assert_eq!(urgent | BandSet::only(5), BandSet::from_iter([0, 1, 5]));
/// assert_eq!((!urgent).first(), Some(2));
/// assert_eq!(format!("{urgent:?}"), "{0, 1}");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct BandSet(u64);

impl BandSet {
    /// No band at all.
    pub const EMPTY: Self = Self(0);
    /// Every band a channel can have.
    pub const ALL: Self = Self(u64::MAX);

    /// The set of one band.
    ///
    /// # Panics
    ///
    /// If `band` is not below [`MAX_BANDS`].
    #[must_use]
    pub const fn only(band: usize) -> Self {
        assert!(band < MAX_BANDS, "a band number must be below 64");
        Self(1 << band)
    }

    /// The bands of a range; an open end means the first or the last possible band.
    ///
    /// # Panics
    ///
    /// If the range names a band that is not below [`MAX_BANDS`].
    #[must_use]
    pub fn range(bands: impl RangeBounds<usize>) -> Self {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let start = match bands.start_bound() {
            Included(&band) => band,
            Excluded(&band) => band + 1,
            Unbounded => 0,
        };
        let end = match bands.end_bound() {
            Included(&band) => band + 1,
            Excluded(&band) => band,
            Unbounded => MAX_BANDS,
        };
        (start..end).collect()
    }

    /// Whether `band` is in the set. A number of 64 or more never is.
    #[must_use]
    pub const fn contains(self, band: usize) -> bool {
        band < MAX_BANDS && self.0 & (1 << band) != 0
    }

    /// Whether the two sets have a band in common.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether no band is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many bands are in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The most urgent band of the set.
    #[must_use]
    pub const fn first(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as usize) }
    }

    /// The bands of the set, most urgent first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let band = rest.first()?;
            rest.0 &= rest.0 - 1;
            Some(band)
        })
    }

    /// The bands `0..count`.
    pub(crate) const fn below(count: usize) -> Self {
        if count >= MAX_BANDS { Self::ALL } else { Self((1 << count) - 1) }
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl FromIterator<usize> for BandSet {
    /// # Panics
    ///
    /// If a band is not below [`MAX_BANDS`].
    fn from_iter<I: IntoIterator<Item = usize>>(bands: I) -> Self {
        bands.into_iter().fold(Self::EMPTY, |set, band| set | Self::only(band))
    }
}

impl BitOr for BandSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for BandSet {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for BandSet {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Debug for BandSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_has_just_the_first_bands() {
        assert_eq!(BandSet::below(1), BandSet::only(0));
        assert_eq!(BandSet::below(63).len(), 63);
        assert!(!BandSet::below(63).contains(63));
        assert_eq!(BandSet::below(64), BandSet::ALL);
    }

    #[test]
    fn ranges_count_both_ends_as_written() {
        assert_eq!(BandSet::range(..), BandSet::ALL);
        assert_eq!(BandSet::range(2..=4), BandSet::from_iter([2, 3, 4]));
        assert_eq!(BandSet::range(3..3), BandSet::EMPTY);
        assert_eq!(BandSet::range(62..).len(), 2);
    }

    #[test]
    #[should_panic(expected = "below 64")]
    fn a_band_beyond_the_last_is_named() {
        let _ = BandSet::only(64);
    }

    #[test]
    fn iteration_is_most_urgent_first() {
        let set = BandSet::from_iter([63, 0, 17]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 17, 63]);
        assert_eq!(set.first(), Some(0));
        assert_eq!(BandSet::EMPTY.first(), None);
    }
}
