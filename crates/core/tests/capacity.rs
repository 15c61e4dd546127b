//! What a capacity means: which can be had, and exactly that many items fit.

mod common;

use common::within;
use overtake_core::{BuildError, Builder, MAX_BANDS, TryRecvError, TrySendError, bounded};
use std::panic::catch_unwind;

#[test]
fn kind_09_a_wrong_number_of_bands_is_named() {
    assert_eq!(Builder::new().build::<u8>().err(), Some(BuildError::NoBands));
    for bands in [MAX_BANDS + 1, 10_000] {
        let error = Builder::new().bands(&vec![1; bands]).build::<u8>().unwrap_err();
        assert_eq!(error, BuildError::TooManyBands { bands });
        assert!(error.to_string().contains(&bands.to_string()), "{error}");
    }
}

#[test]
fn kind_09_capacity_zero_is_named_with_its_band() {
    let error = Builder::new().bands(&[3, 0, 0]).build::<u8>().unwrap_err();
    assert_eq!(error, BuildError::ZeroCapacity { band: 1 });
    assert!(error.to_string().contains("band 1 has capacity 0"), "{error}");
}

fn assert_too_large<T>() {
    for capacity in [isize::MAX as usize, usize::MAX / 2 + 1, usize::MAX - 1, usize::MAX] {
        let error = Builder::new().band(1).band(capacity).build::<T>().unwrap_err();
        assert_eq!(error, BuildError::CapacityTooLarge { band: 1, capacity });
        assert!(error.to_string().contains(&capacity.to_string()), "{error}");
    }
}

#[test]
fn kind_09_a_capacity_that_cannot_be_had_is_named() {
    assert_too_large::<()>();
    assert_too_large::<u8>();
    assert_too_large::<[u8; 4096]>();
}

#[test]
fn kind_09_bounded_panics_with_the_same_words() {
    let too_large = format!("no memory for the capacity {} of band 0", usize::MAX);
    let table: [(&[usize], &str); 3] =
        [(&[], "at least one"), (&[1, 1, 0], "band 2 has capacity 0"), (&[usize::MAX], &too_large)];
    for (capacities, words) in table {
        let panic = catch_unwind(|| bounded::<u8>(capacities)).expect_err(words);
        assert!(panic.downcast_ref::<String>().is_some_and(|said| said.contains(words)), "{words}");
    }
}

#[test]
fn the_most_bands_there_can_be_all_work() {
    let (tx, rx) = bounded(&[1; MAX_BANDS]);
    assert_eq!((tx.band_count(), rx.band_count()), (MAX_BANDS, MAX_BANDS));
    for band in (0..MAX_BANDS).rev() {
        tx.try_send(band, band).unwrap();
    }
    assert_eq!(rx.try_iter().collect::<Vec<_>>(), (0..MAX_BANDS).collect::<Vec<_>>());
}

#[test]
fn a_band_that_is_not_there_is_named() {
    let (tx, _rx) = bounded(&[1, 1]);
    let tx = std::panic::AssertUnwindSafe(tx);
    let panic = catch_unwind(|| tx.try_send(2, 'x')).expect_err("no band 2");
    let said = panic.downcast_ref::<String>().unwrap();
    assert_eq!(said, "band 2 of a channel with 2 bands");
}

/// Fills, goes round at one fill level, and empties again, always in order.
fn laps_at(capacity: usize, fill: usize, turns: usize) {
    let (tx, rx) = bounded(&[1, capacity]);
    for number in 0..fill {
        tx.try_send(1, number).unwrap();
    }
    for turn in 0..turns {
        assert_eq!(rx.try_recv(), Ok(turn));
        tx.try_send(1, turn + fill).unwrap();
        assert_eq!(rx.len_of(1), fill);
    }
    let rest: Vec<_> = rx.try_iter().collect();
    assert_eq!(rest, (turns..turns + fill).collect::<Vec<_>>());
}

fn exactly(capacity: usize) {
    let (tx, rx) = bounded(&[capacity, 1]);
    assert_eq!((tx.capacity_of(0), tx.capacity_of(1)), (capacity, 1));
    for _ in 0..2 {
        for number in 0..capacity {
            assert!(!tx.is_full(0));
            assert_eq!(tx.try_send(0, number), Ok(()), "item {number} of {capacity}");
        }
        assert!(tx.is_full(0) && !tx.is_full(1));
        assert_eq!(tx.try_send(0, capacity), Err(TrySendError::Full(capacity)));
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), (0..capacity).collect::<Vec<_>>());
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    }
    tx.try_send(0, 0).unwrap();
}

#[test]
fn kind_10_exactly_the_capacity_fits() {
    let capacities = (1..=130).chain([1_000, 1_023, 1_024, 1_025]);
    capacities.for_each(exactly);
}

#[test]
fn kind_10_many_laps_at_every_fill_level_stay_in_order() {
    within(120, || {
        for capacity in (1_usize..=130).chain([1_000, 1_023, 1_024, 1_025]) {
            for fill in [1, capacity.saturating_sub(1).max(1), capacity] {
                laps_at(capacity, fill, 3 * capacity + 100);
            }
        }
        laps_at(3, 3, 100_000);
    });
}
