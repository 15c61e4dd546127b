//! A `crossbeam-channel` per band, and one that tells of the end.

use crossbeam_channel::{Receiver, Select, Sender, bounded, select};
use crossbeam_utils::atomic::AtomicCell;

use super::super::Item;

/// Channels in order of urgency. The end is a flag for those who are awake, and for those who wait
/// an item that stays in a channel of its own.
#[derive(Debug)]
pub(crate) struct CrossbeamBands {
    pub(crate) bands: Vec<(Sender<Item>, Receiver<Item>)>,
    closed: AtomicCell<bool>,
    end: (Sender<()>, Receiver<()>),
}

impl CrossbeamBands {
    pub(crate) fn new(capacities: &[usize]) -> Self {
        let bands = capacities.iter().map(|&capacity| bounded(capacity)).collect();
        Self { bands, closed: AtomicCell::new(false), end: bounded(1) }
    }

    pub(crate) fn try_send(&self, band: usize, item: Item) -> bool {
        !self.closed.load() && self.bands[band].0.try_send(item).is_ok()
    }

    pub(crate) fn send(&self, band: usize, item: Item) -> bool {
        if self.try_send(band, item) {
            return true;
        }
        if self.closed.load() {
            return false;
        }
        select! {
            send(self.bands[band].0, item) -> sent => sent.is_ok(),
            recv(self.end.1) -> _ => {
                self.close();
                false
            }
        }
    }

    /// Looks at each channel once, from the top.
    pub(crate) fn sweep(&self) -> Option<(usize, Item)> {
        let mut bands = self.bands.iter().enumerate();
        bands.find_map(|(band, (_, receiver))| Some((band, receiver.try_recv().ok()?)))
    }

    /// Waits for any channel, and takes from the topmost that is ready.
    pub(crate) fn select_biased(&self) -> Option<(usize, Item)> {
        let mut select = Select::new_biased();
        for (_, receiver) in &self.bands {
            select.recv(receiver);
        }
        select.recv(&self.end.1);
        let ready = select.select();
        let band = ready.index();
        if let Some((_, receiver)) = self.bands.get(band) {
            return ready.recv(receiver).ok().map(|item| (band, item));
        }
        let _ = ready.recv(&self.end.1);
        self.close();
        self.sweep()
    }

    /// Also puts back what a waiter has taken from the channel of the end, for the next one.
    pub(crate) fn close(&self) {
        self.closed.store(true);
        let _ = self.end.0.try_send(());
    }
}
