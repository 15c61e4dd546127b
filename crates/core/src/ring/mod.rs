//! One band's buffer: a bounded FIFO that many threads push to and pop from.
//!
//! It knows nothing of bands, waiting or closing. Today it wraps the ring of `crossbeam-queue`;
//! `DESIGN.md` says which promises that keeps and which it does not.

use std::mem;

use crate::sync::ArrayQueue;

/// A bounded FIFO ring of a fixed capacity of at least one.
#[derive(Debug)]
pub(crate) struct BandRing<T> {
    queue: ArrayQueue<T>,
}

/// A capacity for which no ring can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingError {
    /// Nothing could ever be sent.
    Zero,
    /// The memory cannot be addressed or was not granted.
    TooLarge,
}

impl<T> BandRing<T> {
    /// What a slot takes beside its item: the ring's own word per slot.
    const SLOT_WORD: usize = mem::size_of::<usize>();

    pub(crate) fn new(capacity: usize) -> Result<Self, RingError> {
        if capacity == 0 {
            return Err(RingError::Zero);
        }
        Self::ask_for_memory(capacity)?;
        Ok(Self { queue: ArrayQueue::new(capacity) })
    }

    /// The wrapped ring aborts the process where memory is refused, so ask first in a way that
    /// can be answered with no.
    fn ask_for_memory(capacity: usize) -> Result<(), RingError> {
        let word = Self::SLOT_WORD.max(mem::align_of::<T>());
        let slot = mem::size_of::<T>().checked_add(word).ok_or(RingError::TooLarge)?;
        let bytes = slot.checked_mul(capacity).ok_or(RingError::TooLarge)?;
        Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| RingError::TooLarge)
    }

    /// Appends, or hands the item back when there is no room.
    pub(crate) fn push(&self, item: T) -> Result<(), T> {
        self.queue.push(item)
    }

    /// Takes the oldest item.
    pub(crate) fn pop(&self) -> Option<T> {
        self.queue.pop()
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.queue.capacity()
    }
}

#[cfg(all(test, not(overtake_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_that_cannot_be_had_is_an_answer_not_an_abort() {
        let refused = |capacity| BandRing::<[u8; 4096]>::new(capacity).err();
        assert_eq!(refused(0), Some(RingError::Zero));
        for capacity in [isize::MAX as usize, usize::MAX / 2 + 1, usize::MAX] {
            assert_eq!(refused(capacity), Some(RingError::TooLarge));
            assert_eq!(BandRing::<()>::new(capacity).err(), Some(RingError::TooLarge));
        }
    }

    #[test]
    fn an_item_that_does_not_fit_comes_back() {
        let ring = BandRing::new(1).expect("one slot");
        assert_eq!(ring.push('a'), Ok(()));
        assert_eq!(ring.push('b'), Err('b'));
        assert_eq!((ring.pop(), ring.pop()), (Some('a'), None));
    }
}
