//! The sweep: one look at the bands, most urgent first.

use crate::band::BandSet;
use crate::ring::BandRing;

/// Takes the head of the first band of `set` that holds an item, with that band's number.
///
/// Strict towards every item that was there before the sweep began and stays there. It is *not*
/// linearizable: an item sent to a band that was already looked at is missed by this sweep, and
/// with it the chance to pass one sent later to a band below (see `DESIGN.md`, G1).
pub(crate) fn take_first<T>(rings: &[BandRing<T>], set: BandSet) -> Option<(usize, T)> {
    (set & BandSet::below(rings.len()))
        .iter()
        .find_map(|band| rings[band].pop().map(|item| (band, item)))
}

#[cfg(all(test, not(overtake_loom)))]
mod tests {
    use super::*;

    #[test]
    fn takes_the_most_urgent_item_of_the_set() {
        let rings: Vec<_> = (0..3).map(|_| BandRing::new(4).expect("four slots")).collect();
        for (band, item) in [(2, 'x'), (1, 'm'), (2, 'y'), (0, 'a')] {
            rings[band].push(item).expect("room");
        }
        assert_eq!(take_first(&rings, BandSet::range(1..)), Some((1, 'm')));
        assert_eq!(take_first(&rings, BandSet::only(1)), None);
        let rest: Vec<_> =
            std::iter::from_fn(|| take_first(&rings, BandSet::ALL)).map(|(_, item)| item).collect();
        assert_eq!(rest, ['a', 'x', 'y']);
    }
}
