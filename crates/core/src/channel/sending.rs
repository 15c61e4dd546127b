//! Sending: try, announce, look, sleep.

use super::Shared;
use super::waiting::{Caller, Slept, Step, sleep_until_told, sleeps_without_a_look};
use crate::band::BandSet;
use crate::deadline::Deadline;
use crate::error::{SendTimeoutError, TrySendError};
use crate::fault::Fault;
use crate::notifier::{Seat, Stamp};
use crate::ring::PushError;
use crate::sync::{processors, yield_now};
use crate::wait_strategy::Pause;

/// Why something could not be sent yet, or ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    Closed,
}

/// Why a wait to send ended without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendWaitError {
    Closed,
    Timeout,
}

/// What a waiting send remembers between two tries. Must be given up by
/// [`abandon_send`](Shared::abandon_send) if it does not end.
#[derive(Debug, Default)]
pub(crate) struct SendWait {
    seat: Option<Seat>,
    /// Kept over all announcements of one call, so that it keeps its place.
    stamp: Option<Stamp>,
}

impl<T> Shared<T> {
    #[inline]
    #[track_caller]
    pub(crate) fn try_send(&self, band: usize, item: T) -> Result<(), TrySendError<T>> {
        let ring = self.ring(band);
        if Fault::WakeBeforePublish.planted() {
            self.receivers_waiting().notify(band);
        }
        match ring.push(item, |tickets| self.room_came(band, tickets)) {
            Ok(()) => {
                self.items_came(band, 1);
                Ok(())
            }
            Err(PushError::Full(item)) => Err(TrySendError::Full(item)),
            Err(PushError::Sealed(item)) => {
                self.met_a_seal();
                Err(TrySendError::Closed(item))
            }
        }
    }

    /// So many items of `band` were published by the caller.
    #[inline]
    pub(crate) fn items_came(&self, band: usize, items: usize) {
        self.presence.ensure(band);
        if Fault::WakeBeforePublish.planted() {
            return;
        }
        // After `ensure`: a receiver that is woken finds the bit.
        for _ in 0..items {
            if !self.receivers_waiting().notify(band) {
                break;
            }
        }
    }

    /// The head of `band` passed so many tickets: so many senders may have room.
    #[inline]
    pub(crate) fn room_came(&self, band: usize, tickets: u64) {
        if Fault::RoomWithoutWake.planted() {
            return;
        }
        let tickets = if Fault::OneWakePerCall.planted() { tickets.min(1) } else { tickets };
        for _ in 0..tickets {
            if !self.senders_waiting(band).notify(OWN_BAND) {
                break;
            }
        }
    }

    /// A sender that is refused sees the close through first.
    #[cold]
    pub(crate) fn met_a_seal(&self) {
        if !Fault::CloseWithoutHelp.planted() {
            self.close();
        }
    }

    #[track_caller]
    pub(crate) fn is_full_now(&self, band: usize) -> bool {
        self.ring(band).is_full(|tickets| self.room_came(band, tickets))
    }

    #[inline]
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
    #[inline(never)]
    fn send_slow(
        &self,
        band: usize,
        item: T,
        deadline: Deadline,
    ) -> Result<(), SendTimeoutError<T>> {
        let mut item = Some(item);
        let sent = self.send_blocking(band, deadline, || self.try_send_taken(band, &mut item));
        match (sent, item) {
            (Ok(()), _) | (Err(_), None) => Ok(()),
            (Err(SendWaitError::Closed), Some(item)) => Err(SendTimeoutError::Closed(item)),
            (Err(SendWaitError::Timeout), Some(item)) => Err(SendTimeoutError::Timeout(item)),
        }
    }

    /// Sends the item that is there, or puts it back.
    pub(crate) fn try_send_taken(&self, band: usize, item: &mut Option<T>) -> Result<(), Refused> {
        let Some(taken) = item.take() else { return Ok(()) };
        self.try_send(band, taken).map_err(|error| {
            let refused = if error.is_full() { Refused::Full } else { Refused::Closed };
            *item = Some(error.into_inner());
            refused
        })
    }

    /// Pushes again and again until it goes well, the channel is closed, or the deadline passes.
    pub(crate) fn send_blocking<R>(
        &self,
        band: usize,
        deadline: Deadline,
        mut push: impl FnMut() -> Result<R, Refused>,
    ) -> Result<R, SendWaitError> {
        let mut wait = SendWait::default();
        if let Some(end) = self.send_before_parking(band, deadline, &mut push) {
            return end;
        }
        loop {
            match self.step_send(band, &mut wait, Caller::Thread, &mut push) {
                Step::Done(end) => return end.map_err(|Closed| SendWaitError::Closed),
                Step::Yield if deadline.has_passed() => return Err(SendWaitError::Timeout),
                Step::Yield => yield_now(),
                Step::Sleep => {
                    let waiting = self.senders_waiting(band);
                    let Some(seat) = &wait.seat else { continue };
                    if sleep_until_told(waiting, seat, deadline) == Slept::TimedOut {
                        return self.time_out_send(band, &mut wait, &mut push);
                    }
                }
            }
        }
    }

    /// The looks that the wait strategy asks for; `None` once it is time to park.
    fn send_before_parking<R>(
        &self,
        band: usize,
        deadline: Deadline,
        push: &mut impl FnMut() -> Result<R, Refused>,
    ) -> Option<Result<R, SendWaitError>> {
        let mut looks = 0;
        let helpful_yields = || u32::from(self.receivers_at_work() < processors());
        while self.senders_wait.pause(looks, deadline, helpful_yields) == Pause::LookAgain {
            looks = looks.saturating_add(1);
            let hopeless = self.is_full_now(band) && !self.is_closed();
            match if hopeless { Err(Refused::Full) } else { push() } {
                Ok(sent) => return Some(Ok(sent)),
                Err(Refused::Closed) => return Some(Err(SendWaitError::Closed)),
                Err(Refused::Full) if deadline.has_passed() => {
                    return Some(Err(SendWaitError::Timeout));
                }
                Err(Refused::Full) => {}
            }
        }
        None
    }

    /// One round of a wait for room. `push` is what is waited for.
    pub(crate) fn step_send<R>(
        &self,
        band: usize,
        wait: &mut SendWait,
        caller: Caller<'_>,
        push: &mut impl FnMut() -> Result<R, Refused>,
    ) -> Step<Result<R, Closed>> {
        let waiting = self.senders_waiting(band);
        // In this round, so with this waker; its clone need not look like it.
        let mut announced = false;
        loop {
            let mut saw_room = false;
            if let Some(seat) = wait.seat.take() {
                if waiting.told(&seat).is_none() {
                    saw_room = !self.no_room_for_a_waiter(band);
                    if !saw_room && (announced || caller.is_reached_by(waiting, &seat)) {
                        wait.seat = Some(seat);
                        return Step::Sleep;
                    }
                }
                // N3: the try below is what uses a wake.
                let _ = waiting.leave(seat);
            }
            match push() {
                Ok(sent) => return Step::Done(Ok(sent)),
                Err(Refused::Closed) => return Step::Done(Err(Closed)),
                // Full, but not for want of room: stopped threads hold all slots. No wake will tell
                // when that ends.
                Err(Refused::Full) if saw_room => return Step::Yield,
                Err(Refused::Full) => {}
            }
            let seat = waiting.announce(BandSet::only(OWN_BAND), caller.sleeper(), wait.stamp);
            wait.stamp = Some(seat.stamp());
            wait.seat = Some(seat);
            announced = true;
        }
    }

    fn no_room_for_a_waiter(&self, band: usize) -> bool {
        sleeps_without_a_look() || (self.is_full_now(band) && !self.is_closed())
    }

    /// A deadline has passed: room beats it, if it is there now.
    fn time_out_send<R>(
        &self,
        band: usize,
        wait: &mut SendWait,
        push: &mut impl FnMut() -> Result<R, Refused>,
    ) -> Result<R, SendWaitError> {
        if let Some(seat) = wait.seat.take() {
            // N3: as in `step_send`.
            let _ = self.senders_waiting(band).leave(seat);
        }
        push().map_err(|refused| match refused {
            Refused::Closed => SendWaitError::Closed,
            Refused::Full => SendWaitError::Timeout,
        })
    }

    /// Waits no longer without another try: a wake that came meanwhile goes to the next sender.
    pub(crate) fn abandon_send(&self, band: usize, wait: &mut SendWait) {
        let Some(seat) = wait.seat.take() else { return };
        let waiting = self.senders_waiting(band);
        let told = waiting.leave(seat);
        if told.is_some() && !Fault::SwallowWake.planted() && !self.is_full_now(band) {
            waiting.notify(OWN_BAND);
        }
    }
}

/// The channel is closed; the only way a wait for room ends without a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed;

/// Each band's senders have a wait set of their own, which knows one band.
pub(super) const OWN_BAND: usize = 0;
