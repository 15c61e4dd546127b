//! A `crossbeam-channel` per band, tried one after the other, with a biased select only to wait.
//!
//! <https://docs.rs/crossbeam-channel/latest/crossbeam_channel/struct.Select.html#method.new_biased>

use super::support::CrossbeamBands;
use super::{Contender, Item};

/// As the select alone, without the list of channels that it makes for each receive.
#[derive(Debug)]
pub struct CrossbeamSweep(CrossbeamBands);

impl Contender for CrossbeamSweep {
    const NAME: &'static str = "crossbeam_sweep";
    const DESIGN: &'static str = "crossbeam-channel per band, sweep, then biased select";
    const STRICT: bool = false;

    fn make(capacities: &[usize]) -> Self {
        Self(CrossbeamBands::new(capacities))
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        self.0.try_send(band, item)
    }

    fn send(&self, band: usize, item: Item) -> bool {
        self.0.send(band, item)
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.0.sweep()
    }

    fn recv(&self) -> Option<(usize, Item)> {
        self.0.sweep().or_else(|| self.0.select_biased())
    }

    fn close(&self) {
        self.0.close();
    }
}
