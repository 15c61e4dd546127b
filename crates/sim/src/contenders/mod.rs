//! The queue designs that are compared: one file per design, one list.
//!
//! To add a design, write its file and add its line to [`for_each`].

mod array_queue;
mod crossbeam_fifo;
mod crossbeam_select;
mod crossbeam_sweep;
mod flume_fifo;
mod flume_polled;
mod kanal_fifo;
mod kanal_polled;
mod mutex_bands;
mod mutex_heap;
mod mutex_map;
mod overtake;
mod ring_sweep;
mod skip_list;
mod std_fifo;
mod support;

pub use array_queue::OneArrayQueue;
pub use crossbeam_fifo::CrossbeamFifo;
pub use crossbeam_select::CrossbeamSelect;
pub use crossbeam_sweep::CrossbeamSweep;
pub use flume_fifo::FlumeFifo;
pub use flume_polled::FlumePolled;
pub use kanal_fifo::KanalFifo;
pub use kanal_polled::KanalPolled;
pub use mutex_bands::MutexBands;
pub use mutex_heap::MutexHeap;
pub use mutex_map::MutexMap;
pub use overtake::Overtake;
pub use ring_sweep::RingSweep;
pub use skip_list::SkipList;
pub use std_fifo::StdFifo;

use std::collections::VecDeque;

use overtake_core::BandSet;

/// The items that go through: 8 bytes. The largest is never sent: some designs mark their end with it.
pub type Item = u64;

/// A bounded queue, with priority bands if it can, for any number of senders and receivers.
///
/// What a design cannot do it says in its constants. Nothing is faked for it: where it would be
/// needed, its place in a comparison stays empty.
pub trait Contender: Send + Sync + 'static {
    /// What it is called in tables.
    const NAME: &'static str;
    /// How it is built, in a few words.
    const DESIGN: &'static str;

    /// Whether urgent items pass others. Without, all bands share one queue, whose room is that of
    /// all of them, and each item comes out of band 0.
    const PRIORITY: bool = true;
    /// Whether it is linearizable to strict bands: no receive passes an item that was inside when
    /// it began.
    const STRICT: bool = true;
    /// Whether the items of a band come out in the order in which they went in.
    const FIFO: bool = true;
    /// Whether each band has room of its own.
    const CAPACITY_PER_BAND: bool = true;
    /// Whether a receiver without an item sleeps until one comes. Otherwise it looks again and again.
    const BLOCKS: bool = true;
    /// Whether [`close`](Self::close) turns senders away. Otherwise it may only be called once nobody
    /// sends any more, and only tells receivers so.
    const CLOSES: bool = true;
    /// Whether several threads may receive.
    const MANY_RECEIVERS: bool = true;
    /// Whether a receiver can be limited to some bands.
    const RESTRICTS: bool = false;
    /// Whether it has calls of its own for many items at once.
    const BATCHES: bool = false;

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

    /// Sends from the front of `items` what the band has room for now; how many that were.
    fn try_send_many(&self, band: usize, items: &mut VecDeque<Item>) -> usize {
        let waiting = items.len();
        while let Some(&item) = items.front() {
            if !self.try_send(band, item) {
                break;
            }
            items.pop_front();
        }
        waiting - items.len()
    }

    /// Takes the most urgent items that are there now, and appends them; how many that were. About
    /// `limit` of them: a design that can only take all of a band may give more.
    fn try_recv_many(&self, taken: &mut Vec<Item>, limit: usize) -> usize {
        let before = taken.len();
        taken.extend(std::iter::from_fn(|| self.try_recv()).take(limit).map(|(_, item)| item));
        taken.len() - before
    }

    /// No further sends; what is inside still comes out.
    fn close(&self);
}

/// Something to be done with every contender.
pub trait Visitor {
    /// Does it with one of them.
    fn visit<C: Contender>(&mut self);
}

/// The list: ours, the peers, and those without priorities.
pub fn for_each(visitor: &mut impl Visitor) {
    visitor.visit::<Overtake>();
    visitor.visit::<MutexHeap>();
    visitor.visit::<MutexMap>();
    visitor.visit::<MutexBands>();
    visitor.visit::<RingSweep>();
    visitor.visit::<CrossbeamSelect>();
    visitor.visit::<CrossbeamSweep>();
    visitor.visit::<FlumePolled>();
    visitor.visit::<KanalPolled>();
    visitor.visit::<SkipList>();

    visitor.visit::<OneArrayQueue>();
    visitor.visit::<CrossbeamFifo>();
    visitor.visit::<StdFifo>();
    visitor.visit::<FlumeFifo>();
    visitor.visit::<KanalFifo>();
}
