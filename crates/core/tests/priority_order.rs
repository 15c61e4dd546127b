//! G1: the most urgent band first, FIFO inside a band. Only what is promised: nothing here
//! asserts an order between items that are sent while a receive is under way.

mod common;

use common::{join, parked, within};
use overtake_core::{BandSet, RecvError, TryRecvError, bounded};
use std::thread;

/// Bands of the tests that spread over several.
const BANDS: usize = 4;

#[test]
fn the_most_urgent_band_comes_first_and_each_in_order() {
    let (tx, rx) = bounded(&[8; BANDS]);
    for round in 0..8 {
        for band in (0..BANDS).rev() {
            tx.try_send(band, (band, round)).unwrap();
        }
    }
    let expected: Vec<_> = (0..BANDS).flat_map(|band| (0..8).map(move |n| (band, n))).collect();
    assert_eq!(rx.try_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn an_item_comes_with_its_band() {
    let (tx, rx) = bounded(&[1; BANDS]);
    for band in [2, 0, 3, 1] {
        tx.try_send(band, band * 10).unwrap();
    }
    assert_eq!(rx.try_recv_with_band(), Ok((0, 0)));
    assert_eq!(rx.recv_with_band(), Ok((1, 10)));
    assert_eq!(rx.recv_timeout_with_band(std::time::Duration::MAX), Ok((2, 20)));
    assert_eq!(rx.recv_deadline_with_band(std::time::Instant::now()), Ok((3, 30)));
}

#[test]
fn kind_15_an_urgent_item_passes_everything_that_waits() {
    let (tx, rx) = bounded(&[1, 100]);
    for number in 0..100 {
        tx.try_send(1, number).unwrap();
    }
    tx.try_send(0, 1_000).unwrap();
    assert_eq!(rx.recv(), Ok(1_000));
    assert_eq!(rx.recv(), Ok(0));
}

#[test]
fn kind_15_one_producer_is_fifo_in_a_band_beside_busy_others() {
    const ITEMS: u32 = 60_000;
    within(30, || {
        let (tx, rx) = bounded(&[3, 16, 5]);
        let producer = thread::spawn(move || {
            for number in 0..ITEMS {
                tx.send(1, number).unwrap();
                // The busy ones may be refused; they only have to be in the way.
                let _ = tx.try_send((number % 2 * 2) as usize, number);
            }
        });
        let mut next = [0; 3];
        let mut received_in_the_middle = 0;
        while let Ok((band, number)) = rx.recv_with_band() {
            assert!(number >= next[band], "{number} after {} in band {band}", next[band]);
            next[band] = number + 1;
            received_in_the_middle += u32::from(band == 1);
        }
        assert_eq!(received_in_the_middle, ITEMS);
        join(producer);
    });
}

#[test]
fn kind_15_several_producers_and_receivers_keep_each_producers_order() {
    const ITEMS: usize = 5_000;
    const PRODUCERS: usize = 4;
    within(30, || {
        let (tx, rx) = bounded(&[7; BANDS]);
        let producers: Vec<_> = (0..PRODUCERS)
            .map(|producer| {
                let tx = tx.clone();
                thread::spawn(move || {
                    for number in 0..ITEMS {
                        tx.send((number + producer) % BANDS, (producer, number)).unwrap();
                    }
                })
            })
            .collect();
        drop(tx);
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let rx = rx.clone();
                thread::spawn(move || {
                    let mut last = [[None; PRODUCERS]; BANDS];
                    let mut received = 0;
                    while let Ok((band, (producer, number))) = rx.recv_with_band() {
                        let before = last[band][producer].replace(number);
                        assert!(before < Some(number), "{number} after {before:?} in band {band}");
                        received += 1;
                    }
                    received
                })
            })
            .collect();
        producers.into_iter().for_each(join);
        assert_eq!(receivers.into_iter().map(join).sum::<usize>(), ITEMS * PRODUCERS);
    });
}

#[test]
fn a_limited_receiver_takes_from_its_bands_alone() {
    let (tx, rx) = bounded(&[4; BANDS]);
    let outer = rx.clone().only(BandSet::from_iter([0, 3]));
    let inner = rx.clone().only(BandSet::range(1..=2));
    for band in 0..BANDS {
        tx.try_send(band, band).unwrap();
    }
    assert_eq!(inner.try_iter().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(inner.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(outer.try_iter().collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn limits_add_up_and_reach_clones() {
    let (tx, rx) = bounded(&[4; BANDS]);
    assert_eq!(rx.bands(), BandSet::range(..BANDS));
    let narrow = rx.clone().only(BandSet::range(1..)).only(BandSet::range(..3));
    let clone = narrow.clone();
    assert_eq!(clone.bands(), BandSet::from_iter([1, 2]));
    tx.try_send(0, 'a').unwrap();
    tx.try_send(2, 'c').unwrap();
    assert_eq!(clone.try_recv(), Ok('c'));
    assert_eq!(clone.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(rx.try_recv(), Ok('a'));
}

#[test]
fn a_receiver_without_bands_waits_for_closing() {
    within(10, || {
        let (tx, rx) = bounded(&[4]);
        let none = rx.clone().only(BandSet::only(5));
        assert!(none.bands().is_empty());
        let waiting = parked(move || none.recv());
        tx.try_send(0, 1).unwrap();
        tx.close();
        assert_eq!(join(waiting), Err(RecvError::Closed));
        assert_eq!(rx.try_recv(), Ok(1));
    });
}

#[test]
fn kind_16_a_full_low_band_holds_no_urgent_send_up() {
    within(10, || {
        let (tx, rx) = bounded(&[4, 4, 4]);
        for number in 0..4 {
            tx.try_send(2, number).unwrap();
        }
        let blocked: Vec<_> = (4..8)
            .map(|number| {
                let tx = tx.clone();
                parked(move || tx.send(2, number))
            })
            .collect();
        assert_eq!(tx.try_send(0, 100), Ok(()));
        assert_eq!(tx.send(0, 101), Ok(()));
        assert_eq!(tx.send(1, 102), Ok(()));
        assert_eq!(rx.len(), 7);
        assert_eq!(rx.recv(), Ok(100));
        // Room in band 0 is none for those who wait at band 2.
        assert_eq!((rx.len_of(2), rx.recv(), rx.recv()), (4, Ok(101), Ok(102)));
        // Several places free at once are taken in any order; these are all there first.
        assert_eq!([(); 4].map(|()| rx.recv().unwrap()), [0, 1, 2, 3]);
        let mut rest = [(); 4].map(|()| rx.recv().unwrap());
        rest.sort_unstable();
        assert_eq!(rest, [4, 5, 6, 7]);
        for sender in blocked {
            assert_eq!(join(sender), Ok(()));
        }
    });
}

#[test]
fn kind_16_close_gets_through_a_saturated_urgent_band() {
    within(20, || {
        let (tx, rx) = bounded(&[4, 4]);
        tx.try_send(1, usize::MAX).unwrap();
        let flood = tx.clone();
        let flood = thread::spawn(move || (0..).find(|&number| flood.send(0, number).is_err()));
        let received = (0..2_000).map(|_| rx.recv_with_band().unwrap()).collect::<Vec<_>>();
        assert!(tx.close());
        let accepted = join(flood).expect("the flood ends by closing");
        let received: Vec<_> =
            received.into_iter().chain(std::iter::from_fn(|| rx.recv_with_band().ok())).collect();
        let urgent: Vec<_> = received.iter().filter(|&&(band, _)| band == 0).collect();
        assert_eq!(urgent.len(), accepted);
        assert!(urgent.iter().enumerate().all(|(at, (_, number))| at == *number));
        assert_eq!(received.iter().filter(|&&(band, _)| band == 1).count(), 1);
    });
}
