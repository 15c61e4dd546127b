//! Where the cells are: segments with bitmaps, on shelves that are added and never taken away.

use std::ptr;

use super::cell::Cell;
use super::word::Stamp;
use crate::band::BandSet;
use crate::fault::Fault;
use crate::sync::{
    AtomicPtr, CachePadded, HANDLE_ORDER, HandleWord, Ordering, PlainWord, SEGMENT_CELLS, SHELVES,
    Word,
};

pub(super) struct Segment {
    bits: CachePadded<Bits>,
    sets: [PlainWord; SEGMENT_CELLS],
    stamps: [HandleWord; SEGMENT_CELLS],
    cells: [Cell; SEGMENT_CELLS],
}

struct Bits {
    /// The cell belongs to somebody.
    used: Word,
    /// The cell is announced, and not yet known to be woken.
    live: Word,
}

/// The bit of every cell.
const ALL: u64 = if SEGMENT_CELLS == 64 { u64::MAX } else { (1 << SEGMENT_CELLS) - 1 };

impl Segment {
    fn new() -> Self {
        Self {
            bits: CachePadded::new(Bits { used: Word::new(0), live: Word::new(0) }),
            sets: std::array::from_fn(|_| PlainWord::new(0)),
            stamps: std::array::from_fn(|_| HandleWord::new(0)),
            cells: std::array::from_fn(|_| Cell::new()),
        }
    }

    pub(super) fn cell(&self, index: usize) -> &Cell {
        &self.cells[index]
    }

    /// A1: the lowest free cell; `None` if all are taken.
    pub(super) fn take_cell(&self) -> Option<usize> {
        loop {
            // Relaxed: only a hint; the exchange below decides.
            let free = !self.bits.used.load(Ordering::Relaxed) & ALL;
            if free == 0 {
                return None;
            }
            let bit = free & free.wrapping_neg();
            // ORDERING: E9, after all that the cell's last user did with it.
            if self.bits.used.fetch_or(bit, Ordering::Acquire) & bit == 0 {
                return Some(bit.trailing_zeros() as usize);
            }
        }
    }

    /// Gives a cell back. Only who is alone with it may.
    pub(super) fn free_cell(&self, index: usize) {
        // ORDERING: E9, before all that the cell's next user does.
        let order = Fault::FreeWithoutRelease.relaxes(Ordering::Release);
        self.bits.used.fetch_and(!(1 << index), order);
    }

    #[cfg(any(overtake_loom, overtake_shuttle))]
    pub(super) fn used_cells(&self) -> u32 {
        // Relaxed: a snapshot.
        self.bits.used.load(Ordering::Relaxed).count_ones()
    }

    /// A2: what the cell's owner waits for.
    pub(super) fn set_bands(&self, index: usize, set: BandSet) {
        // Relaxed: released with the state, and read again under a borrow (N8).
        self.sets[index].store(set.bits(), Ordering::Relaxed);
    }

    pub(super) fn bands(&self, index: usize) -> BandSet {
        // Relaxed: as above.
        BandSet::from_bits(self.sets[index].load(Ordering::Relaxed))
    }

    pub(super) fn set_stamp(&self, index: usize, stamp: Stamp) {
        self.stamps[index].store(u64::from(stamp.0), HANDLE_ORDER);
    }

    pub(super) fn stamp(&self, index: usize) -> Stamp {
        Stamp(self.stamps[index].load(HANDLE_ORDER) as u32)
    }

    /// A5: from now on notifiers see the cell.
    pub(super) fn set_live(&self, index: usize) {
        // ORDERING: E7, before the look; E9 releases the state.
        self.bits.live.fetch_or(1 << index, Ordering::SeqCst);
    }

    /// L1, T6: says whether the bit was set.
    #[must_use]
    pub(super) fn clear_live(&self, index: usize) -> bool {
        self.bits.live.fetch_and(!(1 << index), Ordering::AcqRel) & 1 << index != 0
    }

    pub(super) fn live(&self) -> CellSet {
        // ORDERING: E7, after the publish; E9 acquires the states.
        CellSet(self.bits.live.load(Ordering::SeqCst))
    }
}

/// Some cells of one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellSet(u64);

impl CellSet {
    pub(super) fn without(self, index: usize) -> Self {
        Self(self.0 & !(1 << index))
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        BandSet::from_bits(self.0).iter()
    }
}

/// Segments by number. Shelf *k* holds 2^*k* of them and is made as a whole when its first one is
/// needed, so that a segment is found by arithmetic and none ever moves.
pub(super) struct Shelves {
    shelves: [AtomicPtr<Segment>; SHELVES],
}

impl Shelves {
    pub(super) fn new() -> Self {
        Self { shelves: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())) }
    }

    /// The segments of a shelf; none if it was not made.
    fn shelf(&self, shelf: usize) -> &[Segment] {
        // ORDERING: E9, acquires the segments that whoever made the shelf put in.
        let first = self.shelves[shelf].load(Ordering::Acquire);
        if first.is_null() {
            return &[];
        }
        // SAFETY: `ensure` put a whole shelf of this length in, and only `drop` takes it out.
        unsafe { std::slice::from_raw_parts(first, 1 << shelf) }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Segment> {
        (0..SHELVES).map(|shelf| self.shelf(shelf)).take_while(|shelf| !shelf.is_empty()).flatten()
    }

    pub(super) fn get(&self, number: usize) -> Option<&Segment> {
        let shelf = (number + 1).ilog2() as usize;
        self.shelf(shelf).get(number + 1 - (1 << shelf))
    }

    /// The segments of a shelf, made if it was not.
    ///
    /// # Panics
    ///
    /// If more wait at once than memory could ever hold.
    fn ensure(&self, shelf: usize) -> &[Segment] {
        assert!(shelf < SHELVES, "too many wait at once");
        let made = self.shelf(shelf);
        if !made.is_empty() {
            return made;
        }
        let fresh: Box<[Segment]> = (0..1usize << shelf).map(|_| Segment::new()).collect();
        let fresh = Box::into_raw(fresh).cast::<Segment>();
        // ORDERING: E9, releases the new segments.
        let put = self.shelves[shelf].compare_exchange(
            ptr::null_mut(),
            fresh,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if put.is_err() {
            // SAFETY: another was faster, so this one is still ours alone, and as it was made.
            unsafe { drop_shelf(fresh, shelf) };
        }
        self.shelf(shelf)
    }

    /// A1: a free cell, in the lowest segment that has one; says which segment, by number.
    pub(super) fn take_cell(&self) -> (usize, usize) {
        for shelf in 0.. {
            for (place, segment) in self.ensure(shelf).iter().enumerate() {
                if let Some(index) = segment.take_cell() {
                    return ((1 << shelf) - 1 + place, index);
                }
            }
        }
        unreachable!("`ensure` ends the search")
    }
}

/// # Safety
///
/// `first` is a shelf of this number that nobody else has, as `ensure` made it.
unsafe fn drop_shelf(first: *mut Segment, shelf: usize) {
    // SAFETY: as the caller says; the length is that of the boxed slice it came from.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(first, 1 << shelf)) });
}

impl Drop for Shelves {
    fn drop(&mut self) {
        for (number, shelf) in self.shelves.iter().enumerate() {
            // Acquire: the last handle is gone, and with it every reader.
            let first = shelf.load(Ordering::Acquire);
            if !first.is_null() {
                // SAFETY: `&mut self`: nobody else has it.
                unsafe { drop_shelf(first, number) };
            }
        }
    }
}
