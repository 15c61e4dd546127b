//! What the model checker sees in place of the ring.
//!
//! The real ring comes from another crate and is invisible to the checker. This stand-in has the
//! same contract and, where it matters, the same weakness: an empty look is one load of a counter
//! that takes no lock, so it orders nothing by itself.

use std::collections::VecDeque;

use super::{AtomicUsize, Mutex, Ordering, lock};

#[derive(Debug)]
pub(crate) struct ArrayQueue<T> {
    items: Mutex<VecDeque<T>>,
    len: AtomicUsize,
    capacity: usize,
}

impl<T> ArrayQueue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { items: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0), capacity }
    }

    pub(crate) fn push(&self, item: T) -> Result<(), T> {
        if self.is_full() {
            return Err(item);
        }
        let mut items = lock(&self.items);
        if items.len() == self.capacity {
            return Err(item);
        }
        items.push_back(item);
        self.len.store(items.len(), Ordering::Release);
        Ok(())
    }

    pub(crate) fn pop(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut items = lock(&self.items);
        let item = items.pop_front();
        self.len.store(items.len(), Ordering::Release);
        item
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }
}
