//! The channel: the only place where rings, presence and notifiers meet.

mod receiving;
mod sending;
mod waiting;

use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::band::BandSet;
use crate::counters::{BandCounters, Counters};
use crate::fault::Fault;
use crate::notifier::{Order, Told, WaitSet};
use crate::presence::Presence;
use crate::ring::BandRing;
use crate::sweep::{Idle, Swept};
use crate::sync::{AtomicUsize, CachePadded, Ordering, Word, panicking};
use crate::wait_strategy::WaitStrategy;
pub(crate) use receiving::ReceiveWait;
use sending::OWN_BAND;
pub(crate) use sending::{Closed, Refused, SendWait};
pub(crate) use waiting::{Caller, Step};

/// What all handles of a channel share.
pub(crate) struct Shared<T> {
    rings: Box<[BandRing<T>]>,
    presence: Presence,
    receivers_waiting: CachePadded<WaitSet>,
    /// Of each band.
    senders_waiting: Box<[CachePadded<WaitSet>]>,
    senders_wait: WaitStrategy,
    receivers_wait: WaitStrategy,
    /// Counts the releases. A receiver returns `Released` when it changes while it waits.
    epoch: Word,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

impl<T> Shared<T> {
    pub(crate) fn new(
        rings: Box<[BandRing<T>]>,
        senders_wait: WaitStrategy,
        receivers_wait: WaitStrategy,
    ) -> Self {
        let bands = rings.len();
        let senders_of_a_band = |_| CachePadded::new(WaitSet::new(1, Order::OldestFirst));
        Self {
            presence: Presence::new(bands),
            rings,
            receivers_waiting: CachePadded::new(WaitSet::new(bands, Order::NewestFirst)),
            senders_waiting: (0..bands).map(senders_of_a_band).collect(),
            senders_wait,
            receivers_wait,
            epoch: Word::new(0),
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(1),
        }
    }

    #[track_caller]
    pub(crate) fn ring(&self, band: usize) -> &BandRing<T> {
        let bands = self.rings.len();
        assert!(band < bands, "band {band} of a channel with {bands} bands");
        &self.rings[band]
    }

    pub(crate) fn rings(&self) -> &[BandRing<T>] {
        &self.rings
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.presence.is_closed()
    }

    pub(crate) fn presence(&self) -> &Presence {
        &self.presence
    }

    #[inline]
    pub(crate) fn receivers_waiting(&self) -> &WaitSet {
        &self.receivers_waiting
    }

    #[inline]
    pub(crate) fn senders_waiting(&self, band: usize) -> &WaitSet {
        &self.senders_waiting[band]
    }

    pub(crate) fn counters(&self) -> Counters {
        let of_band = |band: usize| {
            let (flow, senders) = (self.rings[band].flow(), &self.senders_waiting[band]);
            BandCounters {
                sent: flow.sent,
                received: flow.received,
                voided: flow.voided,
                receivers_woken: self.receivers_waiting.told_of(band),
                senders_parked: senders.parked(),
                senders_woken: senders.told_of(OWN_BAND),
            }
        };
        Counters {
            bands: (0..self.rings.len()).map(of_band).collect(),
            receivers_parked: self.receivers_waiting.parked(),
        }
    }

    // ---- closing and releasing -----------------------------------------------------------

    /// Sees a close through, whoever began it. Says whether this call was the first to begin.
    ///
    /// First all seals, then the mark in the presence words: who reads the mark finds every tail
    /// sealed (K1). Done again it changes nothing.
    pub(crate) fn close(&self) -> bool {
        let mut began = false;
        if !self.presence.is_closed() {
            if Fault::CloseBeforeSeals.planted() {
                self.presence.close(self.rings.len());
            }
            for (band, ring) in self.rings.iter().enumerate() {
                began |= ring.seal() && band == 0;
            }
            self.presence.close(self.rings.len());
        }
        // Also where it was closed before: whoever did that may be stopped just here.
        for senders in &self.senders_waiting {
            senders.notify_all(Told::Closed);
        }
        self.receivers_waiting.notify_all(Told::Closed);
        began
    }

    pub(crate) fn release(&self) {
        if Fault::EpochAfterWaking.planted() {
            self.receivers_waiting.notify_all(Told::Released);
        }
        // ORDERING: E8, before the telling: who is told, or announces later, sees the new epoch.
        self.epoch.fetch_add(1, Ordering::SeqCst);
        if Fault::EpochAfterWaking.planted() {
            return;
        }
        self.receivers_waiting.notify_all(Told::Released);
    }

    fn epoch(&self) -> u64 {
        // ORDERING: E8.
        self.epoch.load(Ordering::SeqCst)
    }

    /// Drops everything inside. A panicking `Drop` of one item does not keep the others from
    /// being dropped; the first panic goes on afterwards.
    #[cold]
    fn discard_all(&self) {
        let mut first_panic: Option<Box<dyn Any + Send>> = None;
        let idle = Idle::new();
        while let Swept::Item(_, item) = self.sweep(BandSet::ALL, &idle) {
            match catch_unwind(AssertUnwindSafe(|| drop(item))) {
                Err(panic) if first_panic.is_none() && !panicking() => first_panic = Some(panic),
                // A payload may panic in its own `Drop`: rather leaked than that.
                Err(panic) => mem::forget(panic),
                Ok(()) => {}
            }
        }
        if let Some(panic) = first_panic {
            resume_unwind(panic);
        }
    }

    // ---- handles -------------------------------------------------------------------------

    pub(crate) fn add_sender(&self) {
        // Relaxed: the new handle reaches another thread through something that orders.
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_receiver(&self) {
        // Relaxed: as in `add_sender`.
        self.receivers.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a sender more, unless there is none: the last one that went has closed for good.
    pub(crate) fn add_sender_if_any(&self) -> bool {
        add_if_any(&self.senders)
    }

    /// Counts a receiver more, unless there is none.
    pub(crate) fn add_receiver_if_any(&self) -> bool {
        add_if_any(&self.receivers)
    }

    pub(crate) fn drop_sender(&self) {
        // ORDERING: E6, the last one closes after everything the others did.
        if self.senders.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.close();
        }
    }

    pub(crate) fn drop_receiver(&self) {
        // ORDERING: E6. What is in flight is voided by the discarding, and goes back to its sender.
        if self.receivers.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.close();
            self.discard_all();
        }
    }

    pub(crate) fn sender_count(&self) -> usize {
        // Relaxed: a snapshot.
        self.senders.load(Ordering::Relaxed)
    }

    pub(crate) fn receiver_count(&self) -> usize {
        // Relaxed: a snapshot.
        self.receivers.load(Ordering::Relaxed)
    }

    /// Whether nobody waits, and no cell is in use. For models.
    #[cfg(any(overtake_loom, overtake_shuttle))]
    pub(crate) fn nobody_waits(&self) -> bool {
        self.receivers_waiting.is_at_rest()
            && self.senders_waiting.iter().all(|set| set.is_at_rest())
    }
}

fn add_if_any(count: &AtomicUsize) -> bool {
    // Relaxed: as in `add_sender`; a handle that is counted here keeps the channel as it is.
    let mut before = count.load(Ordering::Relaxed);
    while before != 0 {
        match count.compare_exchange(before, before + 1, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(now) => before = now,
        }
    }
    false
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fill = |ring: &BandRing<T>| format!("{}/{}", ring.len(), ring.capacity());
        f.debug_struct("Channel")
            .field("bands", &self.rings.iter().map(fill).collect::<Vec<_>>())
            .field("presence", &self.presence)
            .field("receivers", &*self.receivers_waiting)
            .finish_non_exhaustive()
    }
}
