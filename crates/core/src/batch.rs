//! Many items by one call: one claim for a run of them, and one look at who waits.

use std::collections::VecDeque;

use crate::band::BandSet;
use crate::channel::{Refused, Shared};
use crate::deadline::Deadline;
use crate::error::{RecvError, RecvTimeoutError, SendManyError, TryRecvError, TrySendManyError};
use crate::fault::Fault;
use crate::receiver::Receiver;
use crate::ring::{BandRing, Found, PushError, Run};
use crate::sender::Sender;
use crate::sweep::{Idle, Swept, Taking, sweep};

/// Takes a run of up to `limit` items of one band, and puts each as `wrap` makes it into `into`.
struct Many<'a, U, F> {
    into: &'a mut Vec<U>,
    limit: u64,
    /// Of this crate, so it neither panics nor waits.
    wrap: F,
}

impl<T, U, F: FnMut(usize, T) -> U> Taking<T> for Many<'_, U, F> {
    type Chosen = Run;
    type Taken = usize;

    fn choose(&mut self, ring: &BandRing<T>, found: Found) -> Run {
        let run = ring.run_from(found, self.limit);
        // Now, so that nothing is allocated while slots are held.
        self.into.reserve(run.len());
        run
    }

    fn claim(
        &mut self,
        ring: &BandRing<T>,
        band: usize,
        mut chosen: Run,
        on_room: impl FnMut(u64),
    ) -> Option<usize> {
        if Fault::LateRun.planted() {
            chosen = ring.run_from(chosen.found(), self.limit);
        }
        let put = |item| self.into.push((self.wrap)(band, item));
        ring.claim_run(&chosen, put, on_room).then_some(chosen.len())
    }
}

impl<T> Shared<T> {
    /// Sends items from the front of `items` for as long as there is room; what did not fit stays,
    /// in order.
    #[track_caller]
    pub(crate) fn try_send_many(
        &self,
        band: usize,
        items: &mut VecDeque<T>,
    ) -> Result<usize, TrySendManyError> {
        let ring = self.ring(band);
        let mut sent = 0;
        while !items.is_empty() {
            match ring.push_run(items, |tickets| self.room_came(band, tickets)) {
                Ok(published) => {
                    sent += published;
                    self.items_came(band, published);
                }
                Err(refused) => {
                    let sealed = refused == PushError::Sealed(());
                    if sealed {
                        self.met_a_seal();
                    }
                    return match sent {
                        0 if sealed => Err(TrySendManyError::Closed),
                        0 => Err(TrySendManyError::Full),
                        _ => Ok(sent),
                    };
                }
            }
        }
        Ok(sent)
    }

    /// Sends all of `items`, or says why some are left; for waits.
    pub(crate) fn try_send_all(&self, band: usize, items: &mut VecDeque<T>) -> Result<(), Refused> {
        while !items.is_empty() {
            self.try_send_many(band, items)
                .map_err(|error| if error.is_full() { Refused::Full } else { Refused::Closed })?;
        }
        Ok(())
    }

    /// Takes up to `limit` items, the most urgent first; each claim is a sweep of its own. Says how
    /// many, at least one unless `limit` is 0.
    pub(crate) fn try_recv_many<U>(
        &self,
        set: BandSet,
        idle: &Idle,
        items: &mut Vec<U>,
        limit: usize,
        mut wrap: impl FnMut(usize, T) -> U,
    ) -> Result<usize, TryRecvError> {
        let mut received = 0;
        while received < limit {
            let limit = (limit - received) as u64;
            let many = Many { into: &mut *items, limit, wrap: &mut wrap };
            let on_room = |band, tickets| self.room_came(band, tickets);
            match sweep(self.rings(), self.presence(), set, idle, many, on_room) {
                Swept::Item(_, taken) => received += taken,
                Swept::Empty if received == 0 => return Err(TryRecvError::Empty),
                Swept::Closed => {
                    self.answers_closed();
                    return if received == 0 { Err(TryRecvError::Closed) } else { Ok(received) };
                }
                Swept::Empty => break,
            }
        }
        Ok(received)
    }
}

impl<T> Sender<T> {
    /// Sends items from the front of `items` for as long as the band has room now; says how many.
    /// What did not fit stays in `items`, in order. `Ok(0)` is said for no items alone.
    ///
    /// The items are sent one after the other and stay in order; others may send and receive in
    /// between. It costs less than as many [`try_send`](Self::try_send)s, because up to 32 of them
    /// (half of the band's capacity at most) share one claim; a thread that is stopped inside this
    /// call holds that many places.
    ///
    /// ```
    /// let (tx, rx) = overtake_core::bounded(&[4, 4]);
    /// let mut items = (0..6).collect();
    /// assert_eq!(tx.try_send_many(1, &mut items), Ok(4));
    /// assert_eq!(items, [4, 5]);
    /// # assert_eq!(rx.try_recv(), Ok(0));
    /// ```
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendManyError::Full) without room for even one,
    /// [`Closed`](TrySendManyError::Closed) after closing; then `items` is as it was.
    ///
    /// # Panics
    ///
    /// If the channel has no band `band`.
    #[track_caller]
    pub fn try_send_many(
        &self,
        band: usize,
        items: &mut VecDeque<T>,
    ) -> Result<usize, TrySendManyError> {
        self.shared().try_send_many(band, items)
    }

    /// Sends all of `items`, and waits for room as long as it takes.
    ///
    /// As with [`try_send_many`](Self::try_send_many), items of others may come in between.
    ///
    /// ```
    /// let (tx, rx) = overtake_core::bounded(&[8]);
    /// let sender = std::thread::spawn(move || tx.send_many(0, &mut (0..100).collect()));
    /// let mut items = Vec::new();
    /// while rx.recv_many(&mut items, 16).is_ok() {}
    /// assert_eq!(items, Vec::from_iter(0..100));
    /// assert_eq!(sender.join().unwrap(), Ok(()));
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendManyError`] if the channel is closed, before or while waiting; what was not sent is
    /// still in `items`.
    ///
    /// # Panics
    ///
    /// If the channel has no band `band`.
    #[track_caller]
    pub fn send_many(&self, band: usize, items: &mut VecDeque<T>) -> Result<(), SendManyError> {
        let shared = self.shared();
        match shared.try_send_all(band, items) {
            Ok(()) => Ok(()),
            Err(Refused::Closed) => Err(SendManyError),
            Err(Refused::Full) => shared
                .send_blocking(band, Deadline::Never, || shared.try_send_all(band, items))
                .map_err(|_closed| SendManyError),
        }
    }
}

impl<T> Receiver<T> {
    /// Takes up to `limit` items that are inside now, the most urgent first, and appends them to
    /// `items`; says how many. `Ok(0)` is said for a limit of 0 alone.
    ///
    /// Items are claimed in runs of one band: at most 32 at once, and at most half of the band's
    /// capacity. Each run is taken at one moment, at which nothing more urgent was inside; before the
    /// next one all bands are looked at anew. So an urgent item that is sent during the call comes
    /// after the run that was being claimed, and before any further item that is less urgent.
    ///
    /// ```
    /// let (tx, rx) = overtake_core::bounded(&[4, 4]);
    /// tx.try_send_many(1, &mut (10..13).collect())?;
    /// tx.try_send(0, 1).unwrap();
    /// let mut items = Vec::new();
    /// assert_eq!(rx.try_recv_many(&mut items, 3), Ok(3));
    /// assert_eq!(items, [1, 10, 11]);
    /// # Ok::<(), overtake_core::TrySendManyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty) if there is not even one; [`Closed`](TryRecvError::Closed) if
    /// none can come any more.
    pub fn try_recv_many(&self, items: &mut Vec<T>, limit: usize) -> Result<usize, TryRecvError> {
        self.shared().try_recv_many(self.set, &self.idle, items, limit, |_, item| item)
    }

    /// Takes up to `limit` items as [`try_recv_many`](Self::try_recv_many) does, and waits for the
    /// first one as long as it takes.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_many(&self, items: &mut Vec<T>, limit: usize) -> Result<usize, RecvError> {
        match self.try_recv_many(items, limit) {
            Ok(count) => Ok(count),
            Err(TryRecvError::Closed) => Err(RecvError::Closed),
            Err(TryRecvError::Empty) => self
                .shared()
                .receive_blocking(self.set, Deadline::Never, || self.try_recv_many(items, limit))
                .map_err(RecvTimeoutError::without_deadline),
        }
    }

    /// [`try_recv_many`](Self::try_recv_many), with the items' bands.
    ///
    /// # Errors
    ///
    /// As [`try_recv_many`](Self::try_recv_many).
    pub fn try_recv_many_with_band(
        &self,
        items: &mut Vec<(usize, T)>,
        limit: usize,
    ) -> Result<usize, TryRecvError> {
        let with_band = |band, item| (band, item);
        self.shared().try_recv_many(self.set, &self.idle, items, limit, with_band)
    }
}
