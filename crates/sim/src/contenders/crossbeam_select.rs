//! A `crossbeam-channel` per band, received from with a biased select: what its documentation offers
//! for priorities.

use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Receiver, Select, Sender, TryRecvError, bounded, select};

use super::{Contender, Item};

/// Channels in order of urgency, and one more that is disconnected to close them all.
#[derive(Debug)]
pub struct CrossbeamSelect {
    bands: Vec<(Sender<Item>, Receiver<Item>)>,
    open: Mutex<Option<Sender<()>>>,
    closed: Receiver<()>,
}

impl CrossbeamSelect {
    fn is_closed(&self) -> bool {
        self.closed.try_recv() == Err(TryRecvError::Disconnected)
    }
}

impl Contender for CrossbeamSelect {
    const NAME: &'static str = "crossbeam_select";
    const DESIGN: &'static str = "crossbeam-channel per band, biased select";

    fn make(capacities: &[usize]) -> Self {
        let (open, closed) = bounded(0);
        let bands = capacities.iter().map(|&capacity| bounded(capacity)).collect();
        Self { bands, open: Mutex::new(Some(open)), closed }
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        !self.is_closed() && self.bands[band].0.try_send(item).is_ok()
    }

    fn send(&self, band: usize, item: Item) -> bool {
        if self.try_send(band, item) {
            return true;
        }
        if self.is_closed() {
            return false;
        }
        select! {
            send(self.bands[band].0, item) -> sent => sent.is_ok(),
            recv(self.closed) -> _ => false,
        }
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        let mut select = Select::new_biased();
        for (_, receiver) in &self.bands {
            select.recv(receiver);
        }
        let ready = select.try_select().ok()?;
        let band = ready.index();
        ready.recv(&self.bands[band].1).ok().map(|item| (band, item))
    }

    fn recv(&self) -> Option<(usize, Item)> {
        let mut select = Select::new_biased();
        for (_, receiver) in &self.bands {
            select.recv(receiver);
        }
        let at_the_end = select.recv(&self.closed);
        let ready = select.select();
        let band = ready.index();
        if band == at_the_end {
            let _ = ready.recv(&self.closed);
            return self.try_recv();
        }
        ready.recv(&self.bands[band].1).ok().map(|item| (band, item))
    }

    fn close(&self) {
        drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
