//! Sets of moments as merged intervals.

/// A union of open intervals, kept sorted and disjoint. Open, so that calls with equal times count
/// as overlapping: what is certain is certain strictly between two times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    /// Begin and end of each, overlapping ones merged.
    merged: Vec<(u64, u64)>,
}

impl Cover {
    /// Merges intervals given in any order; those that end before they begin hold nothing.
    pub(super) fn of(mut intervals: Vec<(u64, u64)>) -> Self {
        intervals.retain(|(begin, end)| begin < end);
        intervals.sort_unstable();
        Self::of_sorted(intervals.into_iter())
    }

    fn of_sorted(intervals: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (begin, end) in intervals {
            match merged.last_mut() {
                Some(last) if begin < last.1 => last.1 = last.1.max(end),
                _ => merged.push((begin, end)),
            }
        }
        Self { merged }
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let (mut ours, mut theirs) =
            (self.merged.iter().peekable(), other.merged.iter().peekable());
        let next = std::iter::from_fn(|| match (ours.peek(), theirs.peek()) {
            (Some(a), Some(b)) if a <= b => ours.next(),
            (_, Some(_)) => theirs.next(),
            (_, None) => ours.next(),
        });
        Self::of_sorted(next.copied())
    }

    /// The interval that holds `moment`.
    pub(super) fn around(&self, moment: u64) -> Option<(u64, u64)> {
        let place = self.merged.partition_point(|(begin, _)| *begin < moment);
        let candidate = *self.merged.get(place.checked_sub(1)?)?;
        (moment < candidate.1).then_some(candidate)
    }

    /// Whether all moments from `begin` to `end`, both included, are held.
    pub(super) fn holds(&self, begin: u64, end: u64) -> bool {
        self.around(begin).is_some_and(|(_, held_to)| end < held_to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_overlaps_is_merged() {
        let cover = Cover::of(vec![(5, 9), (1, 3), (3, 4), (20, 10), (30, 30), (8, 12)]);
        assert_eq!(cover.merged, [(1, 3), (3, 4), (5, 12)]);
        assert!(cover.holds(2, 2) && cover.holds(6, 11));
        assert!(!cover.holds(2, 3) && !cover.holds(5, 6) && !cover.holds(11, 12));
        assert_eq!((cover.around(7), cover.around(12)), (Some((5, 12)), None));
    }

    #[test]
    fn a_union_is_what_merging_all_would_give() {
        let (a, b) = (vec![(1, 4), (10, 12)], vec![(3, 6), (7, 8), (11, 20)]);
        let both = Cover::of([a.clone(), b.clone()].concat());
        assert_eq!(Cover::of(a).union(&Cover::of(b)), both);
    }
}
