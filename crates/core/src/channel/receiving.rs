//! Receiving: try, read the epoch, announce, look, sleep.

use super::Shared;
use super::waiting::{Caller, Slept, Step, sleep_until_told, sleeps_without_a_look};
use crate::band::BandSet;
use crate::deadline::Deadline;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::fault::Fault;
use crate::notifier::{Seat, Told};
use crate::sweep::{Idle, Swept, sweep};
use crate::wait_strategy::{Pause, WaitStrategy};

/// What a waiting receive remembers between two tries. Must be given up by
/// [`abandon_receive`](Shared::abandon_receive) if it does not end.
#[derive(Debug, Default)]
pub(crate) struct ReceiveWait {
    seat: Option<Seat>,
    /// The release epoch at which the wait began.
    started_at: Option<u64>,
}

impl<T> Shared<T> {
    #[inline]
    pub(super) fn sweep(&self, set: BandSet, idle: &Idle) -> Swept<T> {
        let on_room = |band, tickets| self.room_came(band, tickets);
        let swept = sweep(&self.rings, &self.presence, set, idle, on_room);
        if matches!(swept, Swept::Closed) {
            self.answers_closed();
        }
        swept
    }

    /// Whoever answers `Closed` sees the close through, should its caller be stopped.
    #[cold]
    pub(crate) fn answers_closed(&self) {
        if !Fault::ClosedWithoutWaking.planted() {
            self.close();
        }
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
            Err(TryRecvError::Empty) => {
                self.receive_blocking(set, deadline, || self.try_recv(set, idle))
            }
        }
    }

    /// Takes again and again until there is something, the channel is closed or released, or the
    /// deadline passes.
    #[cold]
    #[inline(never)]
    pub(crate) fn receive_blocking<R>(
        &self,
        set: BandSet,
        deadline: Deadline,
        mut take: impl FnMut() -> Result<R, TryRecvError>,
    ) -> Result<R, RecvTimeoutError> {
        let mut wait = ReceiveWait::default();
        if let Some(end) = self.receive_before_parking(set, deadline, &mut wait, &mut take) {
            return end;
        }
        loop {
            match self.step_receive(set, &mut wait, Caller::Thread, &mut take) {
                Step::Done(end) => return end.map_err(RecvTimeoutError::from),
                Step::Yield => {}
                Step::Sleep => {
                    let Some(seat) = &wait.seat else { continue };
                    let slept = sleep_until_told(self.receivers_waiting(), seat, deadline);
                    if slept == Slept::TimedOut {
                        return self.time_out_receive(set, &mut wait, &mut take);
                    }
                }
            }
        }
    }

    /// The looks that the wait strategy asks for; `None` once it is time to park.
    fn receive_before_parking<R>(
        &self,
        set: BandSet,
        deadline: Deadline,
        wait: &mut ReceiveWait,
        take: &mut impl FnMut() -> Result<R, TryRecvError>,
    ) -> Option<Result<R, RecvTimeoutError>> {
        if self.strategy == WaitStrategy::Park {
            return None;
        }
        let started_at = self.epoch();
        wait.started_at = Some(started_at);
        let mut looks = 0;
        while self.strategy.pause(looks, deadline) == Pause::LookAgain {
            looks = looks.saturating_add(1);
            if !self.nothing_for_a_waiter(set, started_at) {
                if self.was_released_since(started_at) {
                    return Some(Err(RecvTimeoutError::Released));
                }
                match take() {
                    Ok(taken) => return Some(Ok(taken)),
                    Err(TryRecvError::Closed) => return Some(Err(RecvTimeoutError::Closed)),
                    Err(TryRecvError::Empty) => {}
                }
            }
            if deadline.has_passed() {
                return Some(Err(RecvTimeoutError::Timeout));
            }
        }
        None
    }

    /// One round of a wait for an item. `take` is what is waited for.
    pub(crate) fn step_receive<R>(
        &self,
        set: BandSet,
        wait: &mut ReceiveWait,
        caller: Caller<'_>,
        take: &mut impl FnMut() -> Result<R, TryRecvError>,
    ) -> Step<Result<R, RecvError>> {
        let waiting = self.receivers_waiting();
        // Then the waker is the caller's, even if the two deny it: wakers may.
        let mut is_just_announced = false;
        loop {
            let mut told = None;
            if let (Some(seat), Some(started_at)) = (wait.seat.take(), wait.started_at) {
                if waiting.told(&seat).is_none()
                    && (sleeps_without_a_look() || self.nothing_for_a_waiter(set, started_at))
                    && (is_just_announced || caller.is_reached_by(waiting, &seat))
                {
                    wait.seat = Some(seat);
                    return Step::Sleep;
                }
                told = waiting.leave(seat);
            }
            if wait.started_at.is_some_and(|started_at| self.was_released_since(started_at)) {
                self.pass_on(told);
                return Step::Done(Err(RecvError::Released));
            }
            match take() {
                Ok(taken) => {
                    self.settle(told, set);
                    return Step::Done(Ok(taken));
                }
                Err(TryRecvError::Closed) => return Step::Done(Err(RecvError::Closed)),
                // All its bands were empty at one moment: the duty is void.
                Err(TryRecvError::Empty) => {}
            }
            let started_at = wait.started_at;
            if started_at.is_none() && !Fault::LateEpoch.planted() {
                wait.started_at = Some(self.epoch());
            }
            let own_bands = set & BandSet::below(self.rings.len());
            wait.seat = Some(waiting.announce(own_bands, caller.sleeper(), None));
            is_just_announced = true;
            if Fault::LateEpoch.planted() && started_at.is_none() {
                wait.started_at = Some(self.epoch());
            }
        }
    }

    /// Whether an announced receiver has nothing better to do than to sleep. A published item
    /// whose bit is not set is not there for a sweep either; its sender tells once it has set it.
    fn nothing_for_a_waiter(&self, set: BandSet, started_at: u64) -> bool {
        let present = self.presence.read().bands() & set;
        present.iter().all(|band| self.rings[band].is_empty())
            && !self.presence.is_closed()
            && (self.epoch() == started_at || Fault::ReleaseAsPulse.planted())
    }

    /// N4: asked before every take.
    fn was_released_since(&self, started_at: u64) -> bool {
        self.epoch() != started_at && !Fault::TakeWhenReleased.planted()
    }

    /// A deadline has passed: an item beats it, a release does not lose to it.
    fn time_out_receive<R>(
        &self,
        set: BandSet,
        wait: &mut ReceiveWait,
        take: &mut impl FnMut() -> Result<R, TryRecvError>,
    ) -> Result<R, RecvTimeoutError> {
        let told = wait.seat.take().and_then(|seat| self.receivers_waiting().leave(seat));
        if wait.started_at.is_some_and(|started_at| self.was_released_since(started_at)) {
            self.pass_on(told);
            return Err(RecvTimeoutError::Released);
        }
        match take() {
            Ok(taken) => {
                self.settle(told, set);
                Ok(taken)
            }
            Err(TryRecvError::Closed) => Err(RecvTimeoutError::Closed),
            Err(TryRecvError::Empty) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Waits no longer without another try: a wake that came meanwhile goes to the next receiver.
    pub(crate) fn abandon_receive(&self, wait: &mut ReceiveWait) {
        if let Some(seat) = wait.seat.take() {
            let told = self.receivers_waiting().leave(seat);
            self.pass_on(told);
        }
    }

    /// N3 for one that took something: what remains in the band it was told of is another's, and
    /// where nothing does, so is what remains in any of its bands. The second may be an item whose
    /// sender is stopped before it could tell.
    #[inline]
    fn settle(&self, told: Option<Told>, set: BandSet) {
        if told.is_some() && self.receivers_waiting().has_waiters() {
            self.chain(told, set);
        }
    }

    #[cold]
    fn chain(&self, told: Option<Told>, set: BandSet) {
        let waiting = self.receivers_waiting();
        let stops_here = Fault::NoChain.planted() || Fault::SwallowWake.planted();
        if self.pass_on(told) || stops_here {
            return;
        }
        for band in (self.presence.read().bands() & set).iter() {
            if !self.rings[band].is_empty() && waiting.notify(band) {
                return;
            }
        }
    }

    /// N3: tells another receiver of the band this one was told of, if it still holds something.
    /// Says whether somebody was told.
    fn pass_on(&self, told: Option<Told>) -> bool {
        let Some(Told::Band(band)) = told else { return false };
        !Fault::SwallowWake.planted()
            && !self.ring(band).is_empty()
            && self.receivers_waiting().notify(band)
    }
}
