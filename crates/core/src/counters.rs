//! What went through a channel so far.

/// A snapshot of a channel's counters. Made by [`Sender::counters`](crate::Sender::counters) or
/// [`Receiver::counters`](crate::Receiver::counters).
///
/// They are kept where the channel counts anyway, or where it is slow anyway, so they cost nothing
/// per item. While calls are under way they may be a little off, and not fit together; at rest they
/// are exact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Of each band, the most urgent first.
    pub bands: Vec<BandCounters>,
    /// How often a receiver announced that it waits.
    pub receivers_parked: u64,
}

/// The counters of one band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BandCounters {
    /// Items sent.
    pub sent: u64,
    /// Items received, or dropped when the last receiver went.
    pub received: u64,
    /// Places that were passed over because the thread that had claimed one was late. Many of them
    /// mean that threads are stopped inside calls: fewer threads, or shorter bursts, may help.
    pub voided: u64,
    /// How often a receiver was woken for an item of this band.
    pub receivers_woken: u64,
    /// How often a sender announced that it waits for room in this band. Often: the capacity is
    /// small for these bursts.
    pub senders_parked: u64,
    /// How often a sender was woken for room in this band.
    pub senders_woken: u64,
}
