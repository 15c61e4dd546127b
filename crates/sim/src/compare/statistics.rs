//! What the rounds say together.

/// How often the rounds are drawn anew for an interval.
const DRAWS: usize = 1_000;

/// The value in the middle; 0 without values.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

/// The smallest and the largest value; 1 without values.
pub(super) fn spread(values: &[f64]) -> [f64; 2] {
    let by = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick).unwrap_or(1.0);
    [by(f64::min), by(f64::max)]
}

/// Where the median would lie 95 times of 100, were the rounds drawn again: the percentile bootstrap.
/// The draws are the same each time, so that the same rounds give the same interval.
pub(super) fn interval_of_median(values: &[f64]) -> [f64; 2] {
    let mut random = Random(1);
    let draw = |_| median(values.iter().map(|_| values[random.below(values.len())]).collect());
    let mut medians: Vec<_> = (0..DRAWS).map(draw).collect();
    medians.sort_by(f64::total_cmp);
    [medians[DRAWS / 40], medians[DRAWS - 1 - DRAWS / 40]]
}

/// A new order of so many things.
pub(super) fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut random = Random(seed);
    let mut order: Vec<_> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// A linear congruential generator; its high bits are random enough here.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!((median(vec![]), spread(&[]), spread(&[2.0, 1.0])), (0.0, [1.0; 2], [1.0, 2.0]));
    }

    #[test]
    fn each_seed_has_an_order_of_its_own_that_leaves_nothing_out() {
        let mut orders: Vec<_> = (0..10).map(|seed| shuffled(16, seed)).collect();
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 10);
        for mut order in orders {
            order.sort_unstable();
            assert!(order.into_iter().eq(0..16));
        }
        assert!(shuffled(0, 1).is_empty());
    }

    #[test]
    fn the_interval_holds_the_median_and_narrows_with_more_rounds() {
        let rounds = |count: u32| Vec::from_iter((0..count).map(|n| f64::from(n % 10)));
        let width = |[low, high]: [f64; 2]| high - low;
        let (few, many) = (interval_of_median(&rounds(10)), interval_of_median(&rounds(1_000)));
        assert!(few[0] <= 4.5 && 4.5 <= few[1] && many[0] <= 4.5 && 4.5 <= many[1]);
        assert!(width(many) < width(few));
        assert_eq!(interval_of_median(&[7.0]), [7.0, 7.0]);
    }
}
