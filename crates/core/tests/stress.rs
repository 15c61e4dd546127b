//! Many threads on small rings for a second: every item is received once, in the order of its
//! sender. For the sanitizers above all.

mod common;

use common::{join, within};
use overtake_core::{BandSet, Receiver, Sender, bounded};
use std::collections::HashMap;
use std::thread;

const SENDERS: u64 = 3;
const ITEMS: u64 = 3_000;

/// A sender's number and a running one, somewhere else in memory.
type Item = Box<(u64, u64)>;

fn send_all(tx: &Sender<Item>, sender: u64, band: usize) {
    for number in 0..ITEMS {
        let mut item = Box::new((sender, number));
        if number % 3 == 0 {
            item = match tx.try_send(band, item) {
                Ok(()) => continue,
                Err(refused) => refused.into_inner(),
            };
        }
        tx.send(band, item).expect("open");
    }
}

/// How many items came from each sender; each sender's in order.
fn receive_all(rx: &Receiver<Item>) -> HashMap<u64, u64> {
    let mut last = HashMap::new();
    let mut counts = HashMap::new();
    while let Ok(item) = rx.recv() {
        let before = last.insert(item.0, item.1);
        assert!(before.is_none_or(|before| before < item.1), "{item:?} after {before:?}");
        *counts.entry(item.0).or_default() += 1;
    }
    counts
}

fn stress(capacities: &[usize], restricted: bool) {
    let (tx, rx) = bounded(capacities);
    let bands = capacities.len();
    let senders: Vec<_> = (0..SENDERS)
        .map(|sender| {
            let tx = tx.clone();
            thread::spawn(move || send_all(&tx, sender, sender as usize % bands))
        })
        .collect();
    drop(tx);
    let receivers: Vec<_> = (0..3)
        .map(|receiver| {
            let lower = restricted && receiver > 0;
            let set = if lower { BandSet::only(receiver % bands) } else { BandSet::ALL };
            let rx = rx.clone().only(set);
            thread::spawn(move || receive_all(&rx))
        })
        .collect();
    senders.into_iter().for_each(join);
    let mut all: HashMap<u64, u64> = HashMap::new();
    for receiver in receivers {
        for (sender, count) in receiver.join().expect("a receiver") {
            *all.entry(sender).or_default() += count;
        }
    }
    assert!((0..SENDERS).all(|sender| all[&sender] == ITEMS), "{all:?}");
}

#[test]
fn one_band_of_one_place() {
    within(120, || stress(&[1], false));
}

#[test]
fn one_band_of_three_places() {
    within(120, || stress(&[3], false));
}

#[test]
fn three_bands() {
    within(120, || stress(&[2, 1, 5], false));
}

#[test]
fn restricted_receivers() {
    within(120, || stress(&[2, 1, 5], true));
}

#[test]
fn bands_in_two_words() {
    let mut capacities = [1; 20];
    capacities[19] = 4;
    within(120, move || stress(&capacities, false));
}
