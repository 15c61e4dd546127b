//! Ours.

use std::collections::VecDeque;

use overtake_core::{BandSet, Receiver, Sender, bounded};

use super::{Contender, Item};

/// `overtake-core` as it comes.
#[derive(Debug)]
pub struct Overtake {
    sender: Sender<Item>,
    receiver: Receiver<Item>,
}

impl Contender for Overtake {
    const NAME: &'static str = "overtake";
    const DESIGN: &'static str = "a lock-free ring per band, strict sweep, lock-free notifier";
    const RESTRICTS: bool = true;
    const BATCHES: bool = true;

    fn make(capacities: &[usize]) -> Self {
        let (sender, receiver) = bounded(capacities);
        Self { sender, receiver }
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        self.sender.try_send(band, item).is_ok()
    }

    fn send(&self, band: usize, item: Item) -> bool {
        self.sender.send(band, item).is_ok()
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.receiver.try_recv_with_band().ok()
    }

    fn try_recv_from(&self, set: BandSet) -> Option<(usize, Item)> {
        self.receiver.clone().only(set).try_recv_with_band().ok()
    }

    fn recv(&self) -> Option<(usize, Item)> {
        self.receiver.recv_with_band().ok()
    }

    fn try_send_many(&self, band: usize, items: &mut VecDeque<Item>) -> usize {
        self.sender.try_send_many(band, items).unwrap_or(0)
    }

    fn try_recv_many(&self, taken: &mut Vec<Item>, limit: usize) -> usize {
        self.receiver.try_recv_many(taken, limit).unwrap_or(0)
    }

    fn close(&self) {
        self.sender.close();
    }
}
