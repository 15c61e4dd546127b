//! The channel: the only place where rings, presence and notifiers meet.

use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::band::BandSet;
use crate::deadline::Deadline;
use crate::error::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};
use crate::fault::Fault;
use crate::notifier::{Notifier, Told, Woken};
use crate::presence::Presence;
use crate::ring::{BandRing, PushError};
use crate::sweep::{Idle, One, Swept, sweep};
use crate::sync::{AtomicUsize, CachePadded, Ordering, Word, panicking, yield_now};

/// What all handles of a channel share.
pub(crate) struct Shared<T> {
    rings: Box<[BandRing<T>]>,
    pub(crate) presence: Presence,
    pub(crate) waiting_receivers: CachePadded<Notifier>,
    waiting_senders: CachePadded<Notifier>,
    /// Counts the releases. A receiver returns `Released` when it changes while it waits.
    epoch: Word,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

impl<T> Shared<T> {
    pub(crate) fn new(rings: Box<[BandRing<T>]>) -> Self {
        Self {
            presence: Presence::new(rings.len()),
            rings,
            waiting_receivers: CachePadded::new(Notifier::new()),
            waiting_senders: CachePadded::new(Notifier::new()),
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

    // ---- sending -------------------------------------------------------------------------

    #[inline]
    #[track_caller]
    pub(crate) fn try_send(&self, band: usize, item: T) -> Result<(), TrySendError<T>> {
        let ring = self.ring(band);
        if Fault::WakeBeforePublish.planted() {
            self.waiting_receivers.tell_one(band);
        }
        match ring.push(item, |tickets| self.room_came(band, tickets)) {
            Ok(()) => {
                self.presence.ensure(band);
                // After `ensure`: a receiver that is woken finds the bit.
                if !Fault::WakeBeforePublish.planted() {
                    self.waiting_receivers.tell_one(band);
                }
                Ok(())
            }
            Err(PushError::Full(item)) => Err(TrySendError::Full(item)),
            Err(PushError::Sealed(item)) => {
                if !Fault::CloseWithoutHelp.planted() {
                    self.close();
                }
                Err(TrySendError::Closed(item))
            }
        }
    }

    /// The head of `band` passed so many tickets: so many senders may have room.
    #[inline]
    pub(crate) fn room_came(&self, band: usize, tickets: u64) {
        if Fault::RoomWithoutWake.planted() {
            return;
        }
        for _ in 0..tickets {
            if !self.waiting_senders.tell_one(band) {
                break;
            }
        }
    }

    #[track_caller]
    pub(crate) fn is_full_now(&self, band: usize) -> bool {
        self.ring(band).is_full(|tickets| self.room_came(band, tickets))
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
            let must_park =
                Fault::ParkWithoutLook.planted() || (self.is_full_now(band) && !self.is_closed());
            let timed_out = must_park && waiter.park(deadline) == Woken::TimedOut;
            // N3: the try is what uses a wake. To pass one on after it would tell two of one room.
            let _ = waiter.leave();
            item = match self.try_send(band, item) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(item)) => return Err(SendTimeoutError::Closed(item)),
                Err(TrySendError::Full(item))
                    if timed_out || (!must_park && deadline.has_passed()) =>
                {
                    return Err(SendTimeoutError::Timeout(item));
                }
                Err(TrySendError::Full(item)) => item,
            };
            if !must_park {
                // Full for another reason than want of room: stopped threads hold all slots. No
                // wake will tell when that ends.
                yield_now();
            }
        }
    }

    // ---- receiving -----------------------------------------------------------------------

    #[inline]
    fn sweep(&self, set: BandSet, idle: &Idle) -> Swept<T> {
        let on_room = |band, tickets| self.room_came(band, tickets);
        let swept = sweep(&self.rings, &self.presence, set, idle, One, on_room);
        if matches!(swept, Swept::Closed) {
            // Whoever answers `Closed` sees the close through, should its caller be stopped.
            self.close();
        }
        swept
    }

    #[inline]
    pub(crate) fn try_recv(&self, set: BandSet, idle: &Idle) -> Result<(usize, T), TryRecvError> {
        match self.sweep(set, idle) {
            Swept::Item(band, item) => Ok((band, item)),
            Swept::Empty => Err(TryRecvError::Empty),
            Swept::Closed => Err(TryRecvError::Closed),
        }
    }

    #[inline]
    pub(crate) fn recv(
        &self,
        set: BandSet,
        idle: &Idle,
        deadline: Deadline,
    ) -> Result<(usize, T), RecvTimeoutError> {
        match self.try_recv(set, idle) {
            Ok(taken) => Ok(taken),
            Err(TryRecvError::Closed) => Err(RecvTimeoutError::Closed),
            Err(TryRecvError::Empty) => self.recv_slow(set, idle, deadline),
        }
    }

    #[cold]
    fn recv_slow(
        &self,
        set: BandSet,
        idle: &Idle,
        deadline: Deadline,
    ) -> Result<(usize, T), RecvTimeoutError> {
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
            let received = self.after_waiting(set, idle, started_at);
            self.pass_on_item(told);
            match received {
                Ok(taken) => return Ok(taken),
                Err(RecvTimeoutError::Timeout) if !timed_out => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A3: whether an announced receiver has nothing better to do than to park. A published item
    /// whose bit is not set is not there for a sweep either; its sender tells once it has set it.
    fn nothing_to_do(&self, set: BandSet, started_at: u64) -> bool {
        let present = self.presence.bands() & set;
        present.iter().all(|band| self.rings[band].is_empty())
            && !self.presence.is_closed()
            && self.epoch() == started_at
    }

    /// A5: one more try; `Timeout` where there is nothing yet.
    fn after_waiting(
        &self,
        set: BandSet,
        idle: &Idle,
        started_at: u64,
    ) -> Result<(usize, T), RecvTimeoutError> {
        if self.epoch() != started_at {
            return Err(RecvTimeoutError::Released);
        }
        self.try_recv(set, idle).map_err(|error| match error {
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
        // Also where it was closed before: whoever did that may be stopped just here. No lock is
        // taken where nobody waits, so one who helps is not held up by one who is stopped.
        self.waiting_senders.tell_all_who_wait();
        self.waiting_receivers.tell_all_who_wait();
        began
    }

    pub(crate) fn release(&self) {
        // ORDERING: E8, before the telling: who is told, or announces later, sees the new epoch.
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.waiting_receivers.tell_all();
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
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fill = |ring: &BandRing<T>| format!("{}/{}", ring.len(), ring.capacity());
        f.debug_struct("Channel")
            .field("bands", &self.rings.iter().map(fill).collect::<Vec<_>>())
            .field("presence", &self.presence)
            .field("receivers", &*self.waiting_receivers)
            .field("senders", &*self.waiting_senders)
            .finish_non_exhaustive()
    }
}
