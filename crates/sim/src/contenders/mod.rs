//! The queue designs that are compared: one file per design, one list.
//!
//! To add a design, write its file and add its line to [`for_each`].

mod crossbeam_select;
mod mutex_heap;
mod overtake;
mod ring_sweep;

pub use crossbeam_select::CrossbeamSelect;
pub use mutex_heap::MutexHeap;
pub use overtake::Overtake;
pub use ring_sweep::RingSweep;

use overtake_core::BandSet;

/// The items that go through: 8 bytes.
pub type Item = u64;

/// A bounded queue with priority bands, for any number of senders and receivers.
pub trait Contender: Send + Sync + 'static {
    /// What it is called in tables.
    const NAME: &'static str;
    /// How it is built, in a few words.
    const DESIGN: &'static str;

    /// Whether a receiver can be limited to some bands.
    const RESTRICTS: bool = false;

    /// Makes a queue with a band per capacity, the most urgent first.
    fn make(capacities: &[usize]) -> Self;

    /// Sends if the band has room now; says whether it did.
    fn try_send(&self, band: usize, item: Item) -> bool;

    /// Sends, and waits for room; `false` if closed.
    fn send(&self, band: usize, item: Item) -> bool;

    /// Takes the most urgent item if there is one now.
    fn try_recv(&self) -> Option<(usize, Item)>;

    /// Takes the most urgent item of the bands of `set` if there is one now. Only with
    /// [`RESTRICTS`](Self::RESTRICTS); otherwise the set is not looked at.
    fn try_recv_from(&self, set: BandSet) -> Option<(usize, Item)> {
        let _ = set;
        self.try_recv()
    }

    /// Takes the most urgent item, and waits for one; `None` once closed and empty.
    fn recv(&self) -> Option<(usize, Item)>;

    /// No further sends; what is inside still comes out.
    fn close(&self);
}

/// Something to be done with every contender.
pub trait Visitor {
    /// Does it with one of them.
    fn visit<C: Contender>(&mut self);
}

/// The list.
pub fn for_each(visitor: &mut impl Visitor) {
    visitor.visit::<Overtake>();
    visitor.visit::<MutexHeap>();
    visitor.visit::<RingSweep>();
    visitor.visit::<CrossbeamSelect>();
}
