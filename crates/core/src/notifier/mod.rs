#![doc = include_str!("README.md")]

mod cell;
mod nesting;
mod segment;
mod word;

use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

use crate::band::BandSet;
use crate::fault::Fault;
use crate::sync::{CachePadded, HANDLE_ORDER, HandleWord, Ordering, Word, model_fence};
use cell::Borrow;
pub(crate) use cell::Sleeper;
use nesting::Frame;
use segment::{CellSet, Segment, Shelves};
use word::LineWord;
pub(crate) use word::{Stamp, Told};

/// Everyone who waits for one kind of thing.
pub(crate) struct WaitSet {
    /// A [`LineWord`]: all that a send reads when nobody waits.
    line: CachePadded<Word>,
    cells: Shelves,
    /// Of each band how often a waiter was searched and told.
    counts: Box<[Counts]>,
    parked: HandleWord,
    order: Order,
}

#[derive(Default)]
struct Counts {
    searches: HandleWord,
    told: HandleWord,
}

/// Who is told first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The newest, whose caches are warm; now and then the oldest.
    NewestFirst,
    /// The oldest.
    OldestFirst,
}

/// The right to a cell, from announcing to leaving. Used only with the wait set that gave it.
#[must_use]
#[derive(Debug)]
pub(crate) struct Seat {
    segment: u32,
    index: u32,
    stamp: Stamp,
}

impl Seat {
    /// To be given to the next announcement of the same wait, so that it keeps its place.
    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp
    }
}

impl WaitSet {
    /// For waiters of the bands below `bands`.
    pub(crate) fn new(bands: usize, order: Order) -> Self {
        Self {
            line: CachePadded::new(Word::new(0)),
            cells: Shelves::new(),
            counts: (0..bands).map(|_| Counts::default()).collect(),
            parked: HandleWord::new(0),
            order,
        }
    }

    #[inline]
    fn line(&self) -> LineWord {
        // ORDERING: E7.
        LineWord::from_bits(self.line.load(Ordering::SeqCst))
    }

    /// Whether anybody may be waiting.
    #[inline]
    pub(crate) fn has_waiters(&self) -> bool {
        self.line().live() != 0
    }

    // ---- those who wait ------------------------------------------------------------------

    /// A1 to A6: waits for the bands of `set` from now on. The caller must look once more before it
    /// sleeps. `stamp` is that of an earlier announcement of the same wait.
    pub(crate) fn announce(&self, set: BandSet, sleeper: Sleeper, stamp: Option<Stamp>) -> Seat {
        let (number, index) = self.cells.take_cell();
        let segment = self.segment(number);
        segment.set_bands(index, set);
        // SAFETY: N9: `take_cell` has set the used bit, so the cell is idle and ours.
        unsafe { segment.cell(index).make_ready(sleeper) };
        if Fault::CountAfterBit.planted() {
            segment.set_live(index);
        }
        // ORDERING: E7, before the look. N7: the count first, the bit second.
        let line = self.line.fetch_add(LineWord::ANNOUNCEMENT, Ordering::SeqCst);
        let stamp = stamp.unwrap_or(LineWord::from_bits(line).next_stamp());
        segment.set_stamp(index, stamp);
        segment.set_live(index);
        self.parked.fetch_add(1, HANDLE_ORDER);
        // ORDERING: E7, before the look for something to take.
        model_fence(Fault::AnnounceWithoutFence);
        Seat { segment: number as u32, index: index as u32, stamp }
    }

    /// What the seat's owner was told so far.
    pub(crate) fn told(&self, seat: &Seat) -> Option<Told> {
        let (segment, index) = self.place(seat);
        segment.cell(index).told()
    }

    /// Whether telling this seat wakes the same task as `waker`.
    pub(crate) fn would_wake(&self, seat: &Seat, waker: &Waker) -> bool {
        let (segment, index) = self.place(seat);
        // SAFETY: a seat is the right to its cell, and ends by leaving.
        unsafe { segment.cell(index).would_wake(waker) }
    }

    /// L1 to L3: waits no longer. Who was told has a duty (N3).
    #[must_use]
    pub(crate) fn leave(&self, seat: Seat) -> Option<Told> {
        let (segment, index) = self.place(&seat);
        if !Fault::ClearAfterLeaving.planted() {
            self.clear(segment, index);
        }
        let left = segment.cell(index).leave();
        if left.is_alone {
            // SAFETY: N9: idle, and still ours, because the used bit is set.
            unsafe { free(segment, index) };
        }
        if Fault::ClearAfterLeaving.planted() {
            self.clear(segment, index);
        }
        left.told
    }

    fn place(&self, seat: &Seat) -> (&Segment, usize) {
        (self.segment(seat.segment as usize), seat.index as usize)
    }

    fn segment(&self, number: usize) -> &Segment {
        self.cells.get(number).expect("segments are never taken away")
    }

    // ---- those who wake ------------------------------------------------------------------

    /// T1 to H1: something happened in `band`; tells one waiter that has it. Says whether it did.
    #[inline]
    pub(crate) fn notify(&self, band: usize) -> bool {
        // ORDERING: E7, after what made the band worth a look: a SeqCst write of a ring's word.
        model_fence(Fault::TellWithoutFence);
        self.has_waiters() && self.notify_one(band)
    }

    #[cold]
    #[inline(never)]
    fn notify_one(&self, band: usize) -> bool {
        let search = self.counts[band].searches.fetch_add(1, HANDLE_ORDER);
        let (oldest_first, first) = self.order_of(search);
        let most = if Fault::FirstSegmentOnly.planted() { 1 } else { usize::MAX };
        let segments = || self.cells.iter().take(most);
        let told = segments()
            .skip(first)
            .chain(segments().take(first))
            .any(|segment| self.tell_one_of(segment, band, oldest_first));
        if told {
            self.counts[band].told.fetch_add(1, HANDLE_ORDER);
        } else if !Fault::NoHelp.planted() {
            self.help(Some(band));
        }
        told
    }

    /// Whether a search begins with the oldest, and in which segment.
    fn order_of(&self, search: u64) -> (bool, usize) {
        /// How often a search takes the oldest although the newest is preferred.
        const FAIR: u64 = 16;
        /// How often the segment changes where the oldest is always taken.
        const TURN: u64 = 64;
        let segments = || self.cells.iter().count().max(1) as u64;
        match self.order {
            Order::NewestFirst if search % FAIR != FAIR - 1 => (false, 0),
            Order::NewestFirst => (true, (search / FAIR % segments()) as usize),
            Order::OldestFirst => (true, (search / TURN % segments()) as usize),
        }
    }

    /// T2 to T4 in one segment: tells the best waiter that has the band, until one is told for good.
    fn tell_one_of(&self, segment: &Segment, band: usize, oldest_first: bool) -> bool {
        let mut left = segment.live();
        while let Some(index) = self.best_of(segment, left, band, oldest_first) {
            left = left.without(index);
            let Some(borrow) = segment.cell(index).tell(Told::Band(band)) else {
                if Fault::ToldCountsAsServed.planted() {
                    return true;
                }
                continue;
            };
            // N8: the cell may be another's than it was when it was chosen.
            let has_band = segment.bands(index).contains(band)
                || Fault::TrustFirstSet.planted()
                || Fault::BlindTell.planted();
            let went_well = self.finish(segment, index, borrow);
            if has_band && went_well {
                return true;
            }
        }
        false
    }

    /// T2: the first to be told among some cells.
    fn best_of(
        &self,
        segment: &Segment,
        cells: CellSet,
        band: usize,
        oldest_first: bool,
    ) -> Option<usize> {
        let now = self.line().next_stamp();
        let may_be_told = |&index: &usize| {
            (segment.bands(index).contains(band) || Fault::BlindTell.planted())
                && (segment.cell(index).is_untold() || Fault::ToldCountsAsServed.planted())
        };
        let age = |&index: &usize| segment.stamp(index).age(now);
        let candidates = cells.iter().filter(may_be_told);
        if oldest_first { candidates.max_by_key(age) } else { candidates.min_by_key(age) }
    }

    /// Tells everybody who waits now, or wakes them once more.
    pub(crate) fn notify_all(&self, told: Told) {
        // ORDERING: E7, after the flag that those who wait look at.
        model_fence(Fault::TellWithoutFence);
        if self.has_waiters() {
            self.tell_all(told);
        }
    }

    #[cold]
    fn tell_all(&self, told: Told) {
        for segment in self.cells.iter() {
            for index in segment.live().iter() {
                let cell = segment.cell(index);
                if let Some(borrow) = cell.tell(told).or_else(|| cell.help()) {
                    let _ = self.finish(segment, index, borrow);
                    if Fault::CloseWakesOne.planted() && told == Told::Closed {
                        return;
                    }
                }
            }
        }
    }

    /// H1: wakes once more those who were told and are still in the bitmap; of one band, or all.
    #[cold]
    fn help(&self, band: Option<usize>) {
        for segment in self.cells.iter() {
            for index in segment.live().iter() {
                if band.is_none_or(|band| segment.bands(index).contains(band))
                    && let Some(borrow) = segment.cell(index).help()
                {
                    let _ = self.finish(segment, index, borrow);
                }
            }
        }
    }

    /// T5 to T8. Says whether the waker did its work.
    fn finish(&self, segment: &Segment, index: usize, borrow: Borrow<'_>) -> bool {
        if !borrow.runs_user_code() {
            return self.wake_and_end(segment, index, borrow);
        }
        let Some(frame) = Frame::enter(std::ptr::from_ref(self).addr()) else {
            // The live bit stays: the outermost wake of this thread will find it.
            end(segment, index, borrow);
            return true;
        };
        let went_well = self.wake_and_end(segment, index, borrow);
        while frame.must_go_on() && !Fault::ForgetDeepWakes.planted() {
            self.help(None);
        }
        went_well
    }

    fn wake_and_end(&self, segment: &Segment, index: usize, borrow: Borrow<'_>) -> bool {
        if Fault::ClearBeforeWake.planted() {
            self.clear(segment, index);
        }
        let went_well = borrow.wake();
        if Fault::ClearAfterReturn.planted() {
            end(segment, index, borrow);
            self.clear(segment, index);
            return went_well;
        }
        // N6: before the borrow ends, for after that the bit may be another announcement's.
        self.clear(segment, index);
        end(segment, index, borrow);
        went_well
    }

    fn clear(&self, segment: &Segment, index: usize) {
        if segment.clear_live(index) {
            // ORDERING: E7, like the rest of the line.
            self.line.fetch_sub(1, Ordering::SeqCst);
        }
    }

    // ---- what others see -----------------------------------------------------------------

    /// How often somebody announced.
    pub(crate) fn parked(&self) -> u64 {
        self.parked.load(HANDLE_ORDER)
    }

    /// How often somebody was told of `band`.
    pub(crate) fn told_of(&self, band: usize) -> u64 {
        self.counts[band].told.load(HANDLE_ORDER)
    }

    /// Whether no cell is in use: so it is when nobody waits and no call is under way.
    #[cfg(any(test, overtake_loom, overtake_shuttle))]
    pub(crate) fn is_at_rest(&self) -> bool {
        !self.has_waiters() && self.cells.iter().all(|segment| segment.used_cells() == 0)
    }
}

/// T7, T8.
fn end(segment: &Segment, index: usize, borrow: Borrow<'_>) {
    if borrow.end() && !Fault::KeepGoneCells.planted() {
        // SAFETY: N9: the owner is gone and this was the last borrower.
        unsafe { free(segment, index) };
    }
}

/// L3, T8: frees a cell, and only then drops what was in it: a waker's `Drop` is user code.
///
/// # Safety
///
/// The caller is alone with the cell, which is idle.
unsafe fn free(segment: &Segment, index: usize) {
    if Fault::FreeBeforeTaking.planted() {
        segment.free_cell(index);
    }
    // SAFETY: as the caller says.
    let sleeper = unsafe { segment.cell(index).take_sleeper() };
    if !Fault::FreeBeforeTaking.planted() {
        segment.free_cell(index);
    }
    if Fault::PanicGoesOn.planted() {
        return drop(sleeper);
    }
    // Not into a call of somebody else, nor past a duty. The payload may panic as well.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(sleeper))).map_err(mem::forget);
}

impl fmt::Debug for WaitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self
            .cells
            .iter()
            .flat_map(|segment| segment.live().iter().map(move |index| segment.bands(index)));
        write!(f, "waited for: {:?}", all.fold(BandSet::EMPTY, |union, set| union | set))
    }
}
