//! A `crossbeam-channel` per band, received from with a biased select: what its documentation offers
//! for priorities.
//!
//! <https://docs.rs/crossbeam-channel/latest/crossbeam_channel/struct.Select.html#method.new_biased>

use super::support::CrossbeamBands;
use super::{Contender, Item};

/// Each receive is one biased select over all channels.
#[derive(Debug)]
pub struct CrossbeamSelect(CrossbeamBands);

impl Contender for CrossbeamSelect {
    const NAME: &'static str = "crossbeam_select";
    const DESIGN: &'static str = "crossbeam-channel per band, biased select";
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

    /// A biased select that does not wait looks at each channel once, from the top.
    fn try_recv(&self) -> Option<(usize, Item)> {
        self.0.sweep()
    }

    fn recv(&self) -> Option<(usize, Item)> {
        self.0.select_biased()
    }

    fn close(&self) {
        self.0.close();
    }
}
