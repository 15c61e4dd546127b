//! The sweep: take from the most urgent band that holds something, and mean it.
//!
//! A plain sweep is not strict. It finds band 0 empty; a sender finishes a send to band 0 and then
//! one to band 1; the sweep goes on and takes from band 1. So this one collects twice: it
//! remembers why each band it passed was empty, and before it claims an item, or answers `Empty`,
//! it checks that all of that still holds. Then there was a moment, between the two checks, at which
//! the answer was right.

use crate::band::{BandSet, MAX_BANDS};
use crate::fault::Fault;
use crate::presence::{Presence, Snapshot, WORDS};
use crate::ring::{BandRing, Evidence, Found, Look};
use crate::sync::{HANDLE_ORDER, HandleWord, TIDY_PERIOD};

/// What a sweep came to.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Swept<T> {
    /// The band, and what was taken from it.
    Item(usize, T),
    /// At one moment all bands of the set were empty.
    Empty,
    /// All bands of the set are sealed and drained, for ever.
    Closed,
}

/// What one receiver remembers of the bands it passed, to clear their presence bits now and then.
#[derive(Debug)]
pub(crate) struct Idle {
    /// Bands that all sweeps of this period passed.
    bands: HandleWord,
    sweeps: HandleWord,
}

/// How a sweep takes from the band in which it has found an item.
pub(crate) trait Taking<T> {
    /// What it has looked at, and is going to claim.
    type Chosen;
    /// What it comes to.
    type Taken;

    /// Looks at whatever is to be taken beside the item that was found. All of it was inside when
    /// the second collect begins, so the whole claim takes effect at one moment.
    fn choose(&mut self, ring: &BandRing<T>, found: Found) -> Self::Chosen;

    /// Claims it, unless somebody else was faster.
    fn claim(
        &mut self,
        ring: &BandRing<T>,
        band: usize,
        chosen: Self::Chosen,
        on_room: impl FnMut(u64),
    ) -> Option<Self::Taken>;
}

/// Takes the one item that was found.
pub(crate) struct One;

impl<T> Taking<T> for One {
    type Chosen = Found;
    type Taken = T;

    #[inline(always)]
    fn choose(&mut self, _ring: &BandRing<T>, found: Found) -> Found {
        found
    }

    #[inline(always)]
    fn claim(
        &mut self,
        ring: &BandRing<T>,
        _band: usize,
        chosen: Found,
        on_room: impl FnMut(u64),
    ) -> Option<T> {
        ring.claim(chosen, on_room)
    }
}

/// So many bands are passed with a small, cheap list of evidence.
const FEW: usize = 4;

/// Takes from the most urgent band of `set` that holds something, in the way of `taking`. `on_room`
/// is told for each band by how many tickets its head moved.
#[inline]
pub(crate) fn sweep<T, K: Taking<T>>(
    rings: &[BandRing<T>],
    presence: &Presence,
    set: BandSet,
    idle: &Idle,
    taking: K,
    on_room: impl FnMut(usize, u64),
) -> Swept<K::Taken> {
    let set = set & BandSet::below(rings.len());
    if set.is_empty() {
        return if presence.is_closed() { Swept::Closed } else { Swept::Empty };
    }
    let bands = Bands { rings, presence, set };
    if presence.is_one_word() {
        bands.sweep::<1, K>(idle, taking, on_room)
    } else {
        bands.sweep::<WORDS, K>(idle, taking, on_room)
    }
}

/// Whether they are at most [`FEW`]. Cheaper than to count them.
#[inline]
fn are_few(bands: BandSet) -> bool {
    let mut bits = bands.bits();
    for _ in 0..FEW {
        bits &= bits.wrapping_sub(1);
    }
    bits == 0
}

struct Bands<'a, T> {
    rings: &'a [BandRing<T>],
    presence: &'a Presence,
    set: BandSet,
}

impl<T> Bands<'_, T> {
    /// With the first `W` presence words.
    #[inline]
    fn sweep<const W: usize, K: Taking<T>>(
        &self,
        idle: &Idle,
        mut taking: K,
        mut on_room: impl FnMut(usize, u64),
    ) -> Swept<K::Taken> {
        let first = self.presence.read::<W>();
        match self.take_first(&first, &mut taking, &mut on_room) {
            Some(swept) => {
                idle.tidy(self.rings, self.presence, BandSet::EMPTY, &mut on_room);
                swept
            }
            None => self.sweep_on::<W, K>(idle, taking, on_room),
        }
    }

    /// The usual case by the shortest way: the first band with a bit has an item at its head, so
    /// there is no evidence. `None` if it is not so simple.
    #[inline]
    fn take_first<const W: usize, K: Taking<T>>(
        &self,
        first: &Snapshot<W>,
        taking: &mut K,
        on_room: &mut impl FnMut(usize, u64),
    ) -> Option<Swept<K::Taken>> {
        let band = (first.bands() & self.set).first()?;
        let found = self.rings[band].item_at_head()?;
        let still_empty = |through| self.still_empty(first, through, BandSet::EMPTY, &[]);
        self.take(band, found, still_empty, taking, on_room)
    }

    /// Sweeps until nothing changes meanwhile.
    #[inline(never)]
    fn sweep_on<const W: usize, K: Taking<T>>(
        &self,
        idle: &Idle,
        mut taking: K,
        mut on_room: impl FnMut(usize, u64),
    ) -> Swept<K::Taken> {
        loop {
            let first = self.presence.read::<W>();
            let swept = if are_few(first.bands() & self.set) {
                self.collect_twice::<W, FEW, K>(&first, &mut taking, &mut on_room)
            } else {
                self.collect_twice::<W, MAX_BANDS, K>(&first, &mut taking, &mut on_room)
            };
            match swept {
                None => {}
                Some((Swept::Closed, _)) => return Swept::Closed,
                Some((swept, passed)) => {
                    idle.tidy(self.rings, self.presence, passed, &mut on_room);
                    return swept;
                }
            }
        }
    }

    /// Claims what was found in `band`, if the bands of the set above it are still empty.
    #[inline]
    fn take<K: Taking<T>>(
        &self,
        band: usize,
        found: Found,
        still_empty: impl FnOnce(BandSet) -> bool,
        taking: &mut K,
        on_room: &mut impl FnMut(usize, u64),
    ) -> Option<Swept<K::Taken>> {
        let ring = &self.rings[band];
        let chosen = taking.choose(ring, found);
        let above = self.set & BandSet::below(band);
        let through = self.set & BandSet::below(band + 1);
        let is_first = above.is_empty() || Fault::PlainSweep.planted() || still_empty(through);
        if !is_first {
            return None;
        }
        let taken = taking.claim(ring, band, chosen, |tickets| on_room(band, tickets))?;
        Some(Swept::Item(band, taken))
    }

    /// One attempt, with room for the evidence of `N` bands: what it came to, and which bands
    /// it passed with evidence. `None` if something changed between the two collects.
    #[inline]
    fn collect_twice<const W: usize, const N: usize, K: Taking<T>>(
        &self,
        first: &Snapshot<W>,
        taking: &mut K,
        on_room: &mut impl FnMut(usize, u64),
    ) -> Option<(Swept<K::Taken>, BandSet)> {
        let mut passed = BandSet::EMPTY;
        let mut evidence = [Evidence::NONE; N];
        let mut count = 0;
        for band in (first.bands() & self.set).iter() {
            match self.rings[band].look(|tickets| on_room(band, tickets)) {
                Look::Nothing(why) if first.is_closed_at(band) => {
                    debug_assert!(why.is_final() || Fault::any_planted(), "K1, K6: {why:?}");
                    self.presence.forget(band);
                }
                Look::Nothing(why) => {
                    evidence[count] = why;
                    count += 1;
                    passed = passed | BandSet::only(band);
                }
                Look::Item(found) => {
                    let still_empty = |through| self.still_empty(first, through, passed, &evidence);
                    let swept = self.take(band, found, still_empty, taking, on_room)?;
                    return Some((swept, passed));
                }
            }
        }
        if first.is_closed_for(self.set) {
            return Some((Swept::Closed, passed));
        }
        let still_empty =
            Fault::EmptyAtOnce.planted() || self.still_empty(first, self.set, passed, &evidence);
        still_empty.then_some((Swept::Empty, passed))
    }

    /// The second collect: whether the bands of `set` without a bit have none still, and the
    /// evidence of those passed still holds.
    #[inline]
    fn still_empty<const W: usize>(
        &self,
        first: &Snapshot<W>,
        set: BandSet,
        passed: BandSet,
        evidence: &[Evidence],
    ) -> bool {
        self.presence.still_clear(first, set)
            && passed.iter().zip(evidence).all(|(band, &why)| self.rings[band].still_holds(why))
    }
}

impl Idle {
    pub(crate) fn new() -> Self {
        Self { bands: HandleWord::new(u64::MAX), sweeps: HandleWord::new(0) }
    }

    /// Clears, once in a period, the bits of the bands that every sweep of the period passed.
    /// After the outcome of the sweep is fixed, so it can harm none.
    #[inline]
    fn tidy<T>(
        &self,
        rings: &[BandRing<T>],
        presence: &Presence,
        passed: BandSet,
        on_room: &mut impl FnMut(usize, u64),
    ) {
        let sweeps = self.sweeps.load(HANDLE_ORDER).wrapping_add(1);
        self.sweeps.store(sweeps, HANDLE_ORDER);
        if passed.is_empty() && !sweeps.is_multiple_of(TIDY_PERIOD) {
            self.bands.store(0, HANDLE_ORDER);
            return;
        }
        let bands = self.bands.load(HANDLE_ORDER) & passed.bits();
        self.bands.store(bands, HANDLE_ORDER);
        if sweeps.is_multiple_of(TIDY_PERIOD) {
            self.bands.store(u64::MAX, HANDLE_ORDER);
            for band in BandSet::from_bits(bands).iter() {
                clear(rings, presence, band, on_room);
            }
        }
    }
}

#[cold]
fn clear<T>(
    rings: &[BandRing<T>],
    presence: &Presence,
    band: usize,
    on_room: &mut impl FnMut(usize, u64),
) {
    presence.clear(band, || {
        let look = rings[band].look(|tickets| on_room(band, tickets));
        matches!(look, Look::Nothing(Evidence::Quiet(_)))
    });
}

#[cfg(all(test, not(overtake_loom)))]
mod tests {
    use super::*;

    fn rings(bands: usize) -> (Vec<BandRing<char>>, Presence) {
        let rings = (0..bands).map(|_| BandRing::new(4).expect("four slots")).collect();
        (rings, Presence::new(bands))
    }

    fn push((rings, presence): &(Vec<BandRing<char>>, Presence), band: usize, item: char) {
        rings[band].push(item, |_| ()).expect("room");
        presence.ensure(band);
    }

    fn take(of: &(Vec<BandRing<char>>, Presence), set: BandSet, idle: &Idle) -> Swept<char> {
        sweep(&of.0, &of.1, set, idle, One, |_, _| ())
    }

    #[test]
    fn takes_the_most_urgent_item_of_the_set() {
        let of = rings(3);
        let idle = Idle::new();
        for (band, item) in [(2, 'x'), (1, 'm'), (2, 'y'), (0, 'a')] {
            push(&of, band, item);
        }
        assert_eq!(take(&of, BandSet::range(1..), &idle), Swept::Item(1, 'm'));
        assert_eq!(take(&of, BandSet::only(1), &idle), Swept::Empty);
        for expected in [(0, 'a'), (2, 'x'), (2, 'y')] {
            assert_eq!(take(&of, BandSet::ALL, &idle), Swept::Item(expected.0, expected.1));
        }
        assert_eq!(take(&of, BandSet::ALL, &idle), Swept::Empty);
        assert_eq!(take(&of, BandSet::EMPTY, &idle), Swept::Empty);
    }

    #[test]
    fn bands_that_stay_empty_are_forgotten_after_a_period() {
        let of = rings(40);
        let idle = Idle::new();
        for band in 0..40 {
            push(&of, band, 'x');
            assert_eq!(take(&of, BandSet::ALL, &idle), Swept::Item(band, 'x'));
        }
        assert_eq!(of.1.bands(), BandSet::below(40));
        for _ in 0..2 * TIDY_PERIOD {
            push(&of, 39, 'y');
            assert_eq!(take(&of, BandSet::ALL, &idle), Swept::Item(39, 'y'));
        }
        assert_eq!(of.1.bands(), BandSet::only(39));
        push(&of, 7, 'z');
        assert_eq!(take(&of, BandSet::ALL, &idle), Swept::Item(7, 'z'));
    }
}
