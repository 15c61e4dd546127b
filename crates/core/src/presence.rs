//! Which bands may hold something: a hint that is never wrong in the one direction that matters.
//!
//! Sixteen bands share a word, all words share a cache line. A receive reads the words twice, and
//! skips the bands whose bit was clear both times; a send to a band whose bit is set only reads.
//! The protocol is in `DESIGN.md`; W1 is what it keeps: the bit of a band is set for as long as an
//! item of a finished send is inside.

use std::fmt;

use crate::band::BandSet;
use crate::fault::Fault;
use crate::sync::{CachePadded, Ordering, Word, model_fence};

/// How many bands share a word.
const BANDS_PER_WORD: usize = 16;
/// How many words there are.
pub(crate) const WORDS: usize = crate::band::MAX_BANDS / BANDS_PER_WORD;

/// A presence word: bits 15..0 the bands, 19..16 the band that is being cleared, 20 whether one is,
/// 21 closed, 63..22 the version, one more at each mark.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PresenceWord(u64);

impl PresenceWord {
    const BANDS: u64 = (1 << BANDS_PER_WORD) - 1;
    const CLEARED_SHIFT: u32 = 16;
    const CLEARED: u64 = 0b1111 << Self::CLEARED_SHIFT;
    const CLEARING: u64 = 1 << 20;
    const CLOSED: u64 = 1 << 21;
    const VERSION_ONE: u64 = 1 << 22;
    const VERSION: u64 = !(Self::VERSION_ONE - 1);

    const fn bands(self) -> u64 {
        self.0 & Self::BANDS
    }

    const fn has(self, place: usize) -> bool {
        self.0 & (1 << place) != 0
    }

    const fn is_closed(self) -> bool {
        self.0 & Self::CLOSED != 0
    }

    const fn is_clearing(self, place: usize) -> bool {
        let cleared = (self.0 & Self::CLEARED) >> Self::CLEARED_SHIFT;
        self.0 & Self::CLEARING != 0 && cleared == place as u64
    }

    /// W2: only a band whose bit is set is being cleared.
    const fn is_whole(self) -> bool {
        let cleared = (self.0 & Self::CLEARED) >> Self::CLEARED_SHIFT;
        self.0 & Self::CLEARING == 0 || self.is_closed() || self.has(cleared as usize)
    }

    /// With the bit of `place`, and without a mark for clearing it.
    const fn with(self, place: usize) -> Self {
        let kept = if self.is_clearing(place) { self.0 & !Self::CLEARING } else { self.0 };
        Self(kept | 1 << place)
    }

    /// Marked for the clearing of `place`.
    fn marked(self, place: usize) -> Self {
        let kept = self.0 & !Self::CLEARED | Self::CLEARING | (place as u64) << Self::CLEARED_SHIFT;
        let one_more = if Fault::MarkWithoutVersion.planted() { 0 } else { Self::VERSION_ONE };
        Self(kept.wrapping_add(one_more))
    }

    /// Whether no mark and no close came between two readings, this one and the other.
    fn is_of_era(self, other: Self) -> bool {
        let mut era = Self::VERSION | Self::CLOSED;
        if Fault::IgnoreVersion.planted() {
            era &= !Self::VERSION;
        }
        if Fault::IgnoreClose.planted() {
            era &= !Self::CLOSED;
        }
        (self.0 ^ other.0) & era == 0
    }

    /// Without the bit of `place`, and without a mark.
    const fn without(self, place: usize) -> Self {
        Self(self.0 & !(1 << place) & !Self::CLEARING)
    }
}

impl fmt::Debug for PresenceWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016b} v{}", self.bands(), self.0 / Self::VERSION_ONE)?;
        if self.0 & Self::CLEARING != 0 {
            write!(f, " clearing {}", (self.0 & Self::CLEARED) >> Self::CLEARED_SHIFT)?;
        }
        if self.is_closed() { f.write_str(" closed") } else { Ok(()) }
    }
}

/// The presence words of a channel.
pub(crate) struct Presence {
    words: CachePadded<[Word; WORDS]>,
    /// How many words the channel's bands need.
    used: usize,
}

/// One reading of the first `W` words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot<const W: usize> {
    words: [PresenceWord; W],
}

impl<const W: usize> Snapshot<W> {
    /// The bands that may hold something.
    pub(crate) fn bands(&self) -> BandSet {
        let side_by_side = |bits, (index, word): (usize, &PresenceWord)| {
            bits | word.bands() << (index * BANDS_PER_WORD)
        };
        BandSet::from_bits(self.words.iter().enumerate().fold(0, side_by_side))
    }

    /// Whether the word of `band` had the channel closed.
    pub(crate) fn is_closed_at(&self, band: usize) -> bool {
        // Not by an index: a list that is indexed has to be in memory.
        let mut words = self.words.iter().enumerate();
        words.any(|(index, word)| index == band / BANDS_PER_WORD && word.is_closed())
    }

    /// Whether every word that holds bands of `set` had the channel closed.
    pub(crate) fn is_closed_for(&self, set: BandSet) -> bool {
        (0..W).all(|index| {
            let bands = BandSet::from_bits(PresenceWord::BANDS << (index * BANDS_PER_WORD));
            self.words[index].is_closed() || !bands.meets(set)
        })
    }

    /// Whether the bands of `set` that were clear before are clear still, and were so in between.
    fn still_clear(&self, before: &Self, set: BandSet) -> bool {
        self.words.iter().zip(&before.words).enumerate().all(|(index, (now, then))| {
            let asked = set.bits() >> (index * BANDS_PER_WORD) & PresenceWord::BANDS;
            asked == 0 || (now.is_of_era(*then) && now.0 & !then.0 & asked == 0)
        })
    }
}

impl Presence {
    pub(crate) fn new(bands: usize) -> Self {
        let words = std::array::from_fn(|_| Word::new(0));
        Self { words: CachePadded::new(words), used: bands.div_ceil(BANDS_PER_WORD) }
    }

    /// Whether all bands of the channel are in the first word.
    #[inline]
    pub(crate) fn is_one_word(&self) -> bool {
        self.used == 1
    }

    /// Reads the first `W` words, which must hold all bands that are asked for. A constant number,
    /// so that they stay in registers; words of no band are clear.
    #[inline]
    pub(crate) fn read<const W: usize>(&self) -> Snapshot<W> {
        Snapshot {
            words: std::array::from_fn(|index| {
                // ORDERING: E3.
                let word = PresenceWord(self.words[index].load(Ordering::SeqCst));
                debug_assert!(word.is_whole(), "W2: {word:?}");
                word
            }),
        }
    }

    /// The bands that may hold something.
    pub(crate) fn bands(&self) -> BandSet {
        self.read::<WORDS>().bands()
    }

    /// Whether the bands of `set` that a reading found clear have been clear ever since.
    #[inline]
    pub(crate) fn still_clear<const W: usize>(&self, before: &Snapshot<W>, set: BandSet) -> bool {
        set.is_empty() || self.read::<W>().still_clear(before, set)
    }

    /// Sees to it that the bit of `band` is set. To be called after the publish and before the
    /// send is finished. One load where the bit is set already.
    #[inline]
    pub(crate) fn ensure(&self, band: usize) {
        let (shared, place) = (&self.words[band / BANDS_PER_WORD], band % BANDS_PER_WORD);
        // ORDERING: E3, pairs with the mark and the look in `clear`: the claim of the tail is
        // before this, the mark is before that look. One of the two is seen.
        model_fence(Fault::EnsureWithoutFence);
        let mut word = PresenceWord(shared.load(Ordering::SeqCst));
        while !word.is_closed() && (!word.has(place) || word.is_clearing(place)) {
            match change(shared, word, word.with(place)) {
                Ok(()) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Clears the bit of `band` if `is_quiet` says, while the band is marked, that no ticket is
    /// given out that was not taken. One attempt.
    pub(crate) fn clear(&self, band: usize, is_quiet: impl FnOnce() -> bool) {
        let (shared, place) = (&self.words[band / BANDS_PER_WORD], band % BANDS_PER_WORD);
        let mut word = PresenceWord(shared.load(Ordering::SeqCst));
        if !word.has(place) || word.is_closed() {
            return;
        }
        if !word.is_clearing(place) {
            let marked = word.marked(place);
            if change(shared, word, marked).is_err() {
                return;
            }
            word = marked;
        }
        // ORDERING: E3, see `ensure`.
        model_fence(Fault::ClearWithoutFence);
        if is_quiet() {
            // Failing means that a sender was there, or another clear, or the close: then it stays
            // set.
            if let Err(now) = change(shared, word, word.without(place))
                && now.is_closed()
                && Fault::ClearPastClose.planted()
            {
                self.forget(band);
            }
        }
    }

    /// Forgets a band of a closed channel that is drained for good.
    pub(crate) fn forget(&self, band: usize) {
        let place = band % BANDS_PER_WORD;
        // ORDERING: E3.
        self.words[band / BANDS_PER_WORD].fetch_and(!(1 << place), Ordering::SeqCst);
    }

    /// Marks the channel closed in every word, the first word last, with all bands to be looked at
    /// once more.
    pub(crate) fn close(&self, bands: usize) {
        for (index, shared) in self.words[..self.used].iter().enumerate().rev() {
            let bands = bands - index * BANDS_PER_WORD;
            let all = if bands >= BANDS_PER_WORD { PresenceWord::BANDS } else { (1 << bands) - 1 };
            if !PresenceWord(shared.load(Ordering::SeqCst)).is_closed() {
                // ORDERING: E4, after the seals.
                shared.fetch_or(all | PresenceWord::CLOSED, Ordering::SeqCst);
            }
        }
    }

    /// Whether the channel is closed: all tails are sealed, all words say so.
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: E4, who reads it sees every seal.
        PresenceWord(self.words[0].load(Ordering::SeqCst)).is_closed()
    }
}

fn change(shared: &Word, from: PresenceWord, to: PresenceWord) -> Result<(), PresenceWord> {
    // ORDERING: E3.
    shared
        .compare_exchange(from.0, to.0, Ordering::SeqCst, Ordering::SeqCst)
        .map(drop)
        .map_err(PresenceWord)
}

impl fmt::Debug for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.read::<WORDS>().words[..self.used]).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_for_one_band_and_raises_the_version() {
        let word = PresenceWord(0).with(3).with(15).marked(3);
        assert!(word.has(3) && word.has(15) && word.is_clearing(3) && !word.is_clearing(15));
        assert_eq!(format!("{word:?}"), "1000000000001000 v1 clearing 3");
        assert_eq!(word.without(3).bands(), 1 << 15);
        assert!(!word.with(3).is_clearing(3) && word.with(3).has(3), "a send drops the mark");
        assert!(word.with(4).is_clearing(3), "but not that of another band");
    }

    #[test]
    fn bits_of_all_words_stand_side_by_side() {
        let presence = Presence::new(64);
        for band in [0, 15, 16, 47, 63] {
            presence.ensure(band);
        }
        assert_eq!(presence.bands(), BandSet::from_iter([0, 15, 16, 47, 63]));
        presence.clear(47, || true);
        presence.clear(63, || false);
        assert_eq!(presence.bands(), BandSet::from_iter([0, 15, 16, 63]));
    }

    #[test]
    fn a_clear_in_between_is_noticed() {
        let presence = Presence::new(20);
        let before = presence.read::<WORDS>();
        presence.ensure(17);
        assert!(!presence.still_clear(&before, BandSet::only(17)));
        presence.clear(17, || true);
        assert!(!presence.still_clear(&before, BandSet::only(17)), "it was set meanwhile");
        assert!(presence.still_clear(&before, BandSet::only(3)), "that is another word");
    }

    #[test]
    fn closing_sets_every_bit_of_the_channel() {
        let presence = Presence::new(20);
        presence.close(20);
        assert!(presence.is_closed());
        assert_eq!(presence.bands(), BandSet::below(20));
        assert!(presence.read::<WORDS>().is_closed_for(BandSet::ALL & BandSet::below(20)));
        presence.forget(19);
        presence.ensure(19);
        assert_eq!(presence.bands(), BandSet::below(19), "a closed word is set no more");
    }
}
