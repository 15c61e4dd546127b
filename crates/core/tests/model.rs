//! Random single-threaded histories against the sequential specification: one queue per band.

use overtake_core::{BandSet, Receiver, Sender, TryRecvError, TrySendError, bounded};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;

/// One call; band numbers and sets are cut to the channel's bands.
#[derive(Clone, Debug)]
enum Op {
    Send { band: usize, waits: bool },
    Recv { set: u8, waits: bool },
    Look,
    Release,
    Close,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => (0..6_usize, any::<bool>()).prop_map(|(band, waits)| Op::Send { band, waits }),
        10 => (any::<u8>(), any::<bool>()).prop_map(|(set, waits)| Op::Recv { set, waits }),
        3 => Just(Op::Look),
        1 => Just(Op::Release),
        1 => Just(Op::Close),
    ]
}

/// The specification.
struct Oracle {
    bands: Vec<VecDeque<u32>>,
    capacities: Vec<usize>,
    closed: bool,
}

impl Oracle {
    fn send(&mut self, band: usize, item: u32) -> Result<(), TrySendError<u32>> {
        if self.closed {
            return Err(TrySendError::Closed(item));
        }
        if self.bands[band].len() == self.capacities[band] {
            return Err(TrySendError::Full(item));
        }
        self.bands[band].push_back(item);
        Ok(())
    }

    fn recv(&mut self, set: BandSet) -> Result<(usize, u32), TryRecvError> {
        let mut bands = self.bands.iter_mut().enumerate();
        let nothing = if self.closed { TryRecvError::Closed } else { TryRecvError::Empty };
        bands
            .find_map(|(band, items)| {
                let item = if set.contains(band) { items.pop_front() } else { None };
                item.map(|item| (band, item))
            })
            .ok_or(nothing)
    }

    fn assert_sizes(&self, tx: &Sender<u32>, rx: &Receiver<u32>) {
        for (band, items) in self.bands.iter().enumerate() {
            assert_eq!(tx.len_of(band), items.len());
            assert_eq!(rx.is_full(band), items.len() == self.capacities[band]);
        }
        assert_eq!(rx.len(), self.bands.iter().map(VecDeque::len).sum::<usize>());
        assert_eq!(tx.is_empty(), self.bands.iter().all(VecDeque::is_empty));
        assert_eq!((tx.is_closed(), rx.is_closed()), (self.closed, self.closed));
    }
}

/// A call that may not wait, and its waiting twin with no time to wait, answer alike.
fn send(tx: &Sender<u32>, band: usize, item: u32, waits: bool) -> Result<(), TrySendError<u32>> {
    if !waits {
        return tx.try_send(band, item);
    }
    tx.send_timeout(band, item, Duration::ZERO).map_err(|error| {
        let full = error.is_timeout();
        let item = error.into_inner();
        if full { TrySendError::Full(item) } else { TrySendError::Closed(item) }
    })
}

fn recv(rx: &Receiver<u32>, set: BandSet, waits: bool) -> Result<(usize, u32), TryRecvError> {
    let rx = rx.clone().only(set);
    if !waits {
        return rx.try_recv_with_band();
    }
    rx.recv_timeout_with_band(Duration::ZERO).map_err(|error| {
        assert!(!error.is_released(), "nobody releases while this waits");
        if error.is_timeout() { TryRecvError::Empty } else { TryRecvError::Closed }
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_history_follows_the_specification(
        capacities in vec(1..=5_usize, 1..=6),
        ops in vec(op(), 0..200),
    ) {
        let (tx, rx) = bounded(&capacities);
        let bands = vec![VecDeque::new(); capacities.len()];
        let mut oracle = Oracle { bands, capacities, closed: false };
        for (item, op) in (0..).zip(ops) {
            match op {
                Op::Send { band, waits } => {
                    let band = band % oracle.bands.len();
                    prop_assert_eq!(send(&tx, band, item, waits), oracle.send(band, item));
                }
                Op::Recv { set, waits } => {
                    let set = (0..8).filter(|band| set & (1 << band) != 0).collect();
                    prop_assert_eq!(recv(&rx, set, waits), oracle.recv(set));
                }
                Op::Look => oracle.assert_sizes(&tx, &rx),
                Op::Release => rx.release(),
                Op::Close => {
                    prop_assert_eq!(tx.close(), !oracle.closed);
                    oracle.closed = true;
                }
            }
        }
        oracle.assert_sizes(&tx, &rx);
        while let Ok(expected) = oracle.recv(BandSet::ALL) {
            prop_assert_eq!(rx.try_recv_with_band(), Ok(expected));
        }
        prop_assert!(rx.try_recv().is_err());
    }
}
