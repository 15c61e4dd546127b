//! The channel: the only place where rings, gate and notifiers meet.

use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::band::BandSet;
use crate::deadline::Deadline;
use crate::error::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};
use crate::fault::Fault;
use crate::gate::{Gate, Left};
use crate::notifier::{Notifier, Told, Woken};
use crate::ring::BandRing;
use crate::sweep::take_first;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, panicking};

/// What all handles of a channel share.
pub(crate) struct Shared<T> {
    rings: Box<[BandRing<T>]>,
    gate: Gate,
    waiting_receivers: Notifier,
    waiting_senders: Notifier,
    /// Counts the releases. A receiver returns `Released` when it changes while it waits.
    epoch: AtomicU64,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

impl<T> Shared<T> {
    pub(crate) fn new(rings: Box<[BandRing<T>]>) -> Self {
        Self {
            rings,
            gate: Gate::new(),
            waiting_receivers: Notifier::new(),
            waiting_senders: Notifier::new(),
            epoch: AtomicU64::new(0),
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
        self.gate.is_closed()
    }

    // ---- sending -------------------------------------------------------------------------

    #[track_caller]
    pub(crate) fn try_send(&self, band: usize, item: T) -> Result<(), TrySendError<T>> {
        let ring = self.ring(band);
        if !self.gate.enter() {
            return Err(TrySendError::Closed(item));
        }
        if Fault::WakeBeforePublish.planted() {
            self.waiting_receivers.tell_one(band);
        }
        let pushed = ring.push(item);
        if pushed.is_ok() && !Fault::WakeBeforePublish.planted() {
            self.waiting_receivers.tell_one(band);
        }
        if self.gate.leave() == Left::Sealing {
            self.after_sealing();
        }
        pushed.map_err(TrySendError::Full)
    }

    /// The last send is through a closed gate: now receivers may answer `Closed`, and without
    /// receivers what it pushed is nobody's.
    #[cold]
    fn after_sealing(&self) {
        self.waiting_receivers.tell_all();
        // ORDERING: E3, pairs with the decrement in `drop_receiver`: either this load sees zero,
        // or the discarding there comes after the push here.
        if self.receivers.load(Ordering::SeqCst) == 0 {
            self.discard_all();
        }
    }

    #[track_caller]
    pub(crate) fn send(
        &self,
        band: usize,
        item: T,
        deadline: Deadline,
    ) -> Result<(), SendTimeoutError<T>> {
        match self.try_send(band, item) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(item)) => Err(SendTimeoutError::Closed(item)),
            Err(TrySendError::Full(item)) => self.send_slow(band, item, deadline),
        }
    }

    #[cold]
    fn send_slow(
        &self,
        band: usize,
        mut item: T,
        deadline: Deadline,
    ) -> Result<(), SendTimeoutError<T>> {
        let mut seniority = None;
        loop {
            let waiter = self.waiting_senders.announce(BandSet::only(band), seniority);
            seniority = Some(waiter.seniority());
            let must_park = Fault::ParkWithoutLook.planted()
                || (self.ring(band).is_full() && !self.is_closed());
            let timed_out = must_park && waiter.park(deadline) == Woken::TimedOut;
            // N3: the try is what uses a wake. To pass one on after it would tell two of one room.
            let _ = waiter.leave();
            item = match self.try_send(band, item) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(item)) => return Err(SendTimeoutError::Closed(item)),
                Err(TrySendError::Full(item)) if timed_out => {
                    return Err(SendTimeoutError::Timeout(item));
                }
                Err(TrySendError::Full(item)) => item,
            };
        }
    }

    // ---- receiving -----------------------------------------------------------------------

    fn take(&self, set: BandSet) -> Option<(usize, T)> {
        let taken = take_first(&self.rings, set)?;
        if !Fault::RoomWithoutWake.planted() {
            self.waiting_senders.tell_one(taken.0);
        }
        Some(taken)
    }

    pub(crate) fn try_recv(&self, set: BandSet) -> Result<(usize, T), TryRecvError> {
        if let Some(taken) = self.take(set) {
            return Ok(taken);
        }
        if Fault::CloseByFlag.planted() {
            return Err(if self.is_closed() { TryRecvError::Closed } else { TryRecvError::Empty });
        }
        if !self.gate.is_sealed() {
            return Err(TryRecvError::Empty);
        }
        // C1: the sweep above may be older than the last push. Nothing is newer than this one.
        self.take(set).ok_or(TryRecvError::Closed)
    }

    pub(crate) fn recv(
        &self,
        set: BandSet,
        deadline: Deadline,
    ) -> Result<(usize, T), RecvTimeoutError> {
        match self.try_recv(set) {
            Ok(taken) => Ok(taken),
            Err(TryRecvError::Closed) => Err(RecvTimeoutError::Closed),
            Err(TryRecvError::Empty) => self.recv_slow(set, deadline),
        }
    }

    #[cold]
    fn recv_slow(&self, set: BandSet, deadline: Deadline) -> Result<(usize, T), RecvTimeoutError> {
        let set = set & BandSet::below(self.rings.len());
        let mut started_at = self.epoch();
        let mut seniority = None;
        loop {
            let waiter = self.waiting_receivers.announce(set, seniority);
            if Fault::LateEpoch.planted() && seniority.is_none() {
                started_at = self.epoch();
            }
            seniority = Some(waiter.seniority());
            let must_park = Fault::ParkWithoutLook.planted() || self.nothing_to_do(set, started_at);
            let timed_out = must_park && waiter.park(deadline) == Woken::TimedOut;
            let told = waiter.leave();
            let received = self.after_waiting(set, started_at);
            self.pass_on_item(told);
            match received {
                Ok(taken) => return Ok(taken),
                Err(RecvTimeoutError::Timeout) if !timed_out => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// W3: whether an announced receiver has nothing better to do than to park.
    fn nothing_to_do(&self, set: BandSet, started_at: u64) -> bool {
        set.iter().all(|band| self.rings[band].is_empty())
            && !self.gate.is_sealed()
            && self.epoch() == started_at
    }

    /// W5: one more try; `Timeout` where there is nothing yet.
    fn after_waiting(&self, set: BandSet, started_at: u64) -> Result<(usize, T), RecvTimeoutError> {
        if self.epoch() != started_at {
            return Err(RecvTimeoutError::Released);
        }
        self.try_recv(set).map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Closed => RecvTimeoutError::Closed,
        })
    }

    /// N3 for receivers: one that was told of a band leaves what remains there to the next.
    fn pass_on_item(&self, told: Option<Told>) {
        if let Some(Told::Band(band)) = told
            && !self.ring(band).is_empty()
            && !Fault::SwallowWake.planted()
        {
            self.waiting_receivers.tell_one(band);
        }
    }

    // ---- closing and releasing -----------------------------------------------------------

    pub(crate) fn close(&self) -> bool {
        let closed_now = self.gate.close();
        if closed_now {
            self.waiting_senders.tell_all();
            self.waiting_receivers.tell_all();
        }
        closed_now
    }

    pub(crate) fn release(&self) {
        // ORDERING: E4, before the telling: who is told, or announces later, sees the new epoch.
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.waiting_receivers.tell_all();
    }

    fn epoch(&self) -> u64 {
        // ORDERING: E4.
        self.epoch.load(Ordering::SeqCst)
    }

    /// Drops everything inside. A panicking `Drop` of one item does not keep the others from
    /// being dropped; the first panic goes on afterwards.
    #[cold]
    fn discard_all(&self) {
        let mut first_panic: Option<Box<dyn Any + Send>> = None;
        while let Some((_, item)) = take_first(&self.rings, BandSet::ALL) {
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

    pub(crate) fn drop_sender(&self) {
        // ORDERING: E3, the last one closes after everything the others did.
        if self.senders.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.close();
        }
    }

    pub(crate) fn drop_receiver(&self) {
        // ORDERING: E3, see `after_sealing`.
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
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fill = |ring: &BandRing<T>| format!("{}/{}", ring.len(), ring.capacity());
        f.debug_struct("Channel")
            .field("bands", &self.rings.iter().map(fill).collect::<Vec<_>>())
            .field("gate", &self.gate)
            .field("receivers", &self.waiting_receivers)
            .field("senders", &self.waiting_senders)
            .finish_non_exhaustive()
    }
}
