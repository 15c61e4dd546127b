//! A `kanal` channel per band, polled from the top: it has no wait for several channels.
//!
//! <https://docs.rs/kanal/latest/kanal/struct.Receiver.html>

use kanal::{Receiver, Sender, bounded};

use super::support::Polling;
use super::{Contender, Item};

/// Channels in order of urgency. Senders sleep while their band is full, receivers look again and
/// again.
#[derive(Debug)]
pub struct KanalPolled {
    bands: Vec<(Sender<Item>, Receiver<Item>)>,
    polling: Polling,
}

impl Contender for KanalPolled {
    const NAME: &'static str = "kanal_polled";
    const DESIGN: &'static str = "kanal per band, polled: spin, yield, nap";
    const STRICT: bool = false;
    const BLOCKS: bool = false;
    const CLOSES: bool = false;
    const BATCHES: bool = true;

    fn make(capacities: &[usize]) -> Self {
        let bands = capacities.iter().map(|&capacity| bounded(capacity)).collect();
        Self { bands, polling: Polling::default() }
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        self.bands[band].0.try_send(item).unwrap_or(false)
    }

    fn send(&self, band: usize, item: Item) -> bool {
        self.bands[band].0.send(item).is_ok()
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        let mut bands = self.bands.iter().enumerate();
        bands.find_map(|(band, (_, receiver))| Some((band, receiver.try_recv().ok()??)))
    }

    fn recv(&self) -> Option<(usize, Item)> {
        self.polling.recv(|| self.try_recv())
    }

    fn try_recv_many(&self, taken: &mut Vec<Item>, limit: usize) -> usize {
        let before = taken.len();
        for (_, receiver) in &self.bands {
            let _ = receiver.drain_into(taken);
            if taken.len() - before >= limit {
                break;
            }
        }
        taken.len() - before
    }

    fn close(&self) {
        self.polling.end();
    }
}
