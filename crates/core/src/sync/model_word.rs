//! An atomic word that the model checker sees whole.
//!
//! The checker remembers only the last access of a location. Where a thread reads a word before it
//! writes it, as every load and exchange does, its own read hides another thread's, and the
//! order of the two is not explored. So a word carries a shadow per thread of the model: a read
//! first writes the shadow of its own thread, a write first reads the shadows of the others. That
//! makes reads and writes of different threads dependent again.
//!
//! The checker honours the one order of SeqCst accesses in some cases and not in others. Here they
//! are acquire and release only: what needs that order must show a fence (`model_fence`).

use loom::sync::atomic::{AtomicU64, Ordering};
use std::sync::atomic::AtomicBool;

/// More threads than a model can afford.
const THREADS: usize = 4;

loom::thread_local! {
    static ORDINAL: std::cell::Cell<usize> = std::cell::Cell::new(0);
}

/// Whether words made from now on have shadows. Not the checker's: it is no part of the model.
static SHADOWED: AtomicBool = AtomicBool::new(true);

/// Whether the words of later model runs have shadows. A model that would be too big with them
/// can do without, if its mutants show that it sees.
pub fn use_shadows(yes: bool) {
    SHADOWED.store(yes, Ordering::Relaxed);
}

/// Says which shadow the calling thread writes. Threads of a model that do not say share one.
pub fn name_thread(ordinal: usize) {
    ORDINAL.with(|own| own.set(ordinal % THREADS));
}

/// `None` where a model asks for the checker's own behaviour.
#[derive(Debug)]
struct Shadows(Option<[AtomicU64; THREADS]>);

impl Shadows {
    fn new() -> Self {
        let shadowed = SHADOWED.load(Ordering::Relaxed);
        Self(shadowed.then(|| std::array::from_fn(|_| AtomicU64::new(0))))
    }

    fn before_read(&self) {
        if let Some(shadows) = &self.0 {
            shadows[ORDINAL.with(std::cell::Cell::get)].store(0, Ordering::Relaxed);
        }
    }

    fn before_write(&self) {
        let own = ORDINAL.with(std::cell::Cell::get);
        for (ordinal, shadow) in self.0.iter().flatten().enumerate() {
            if ordinal != own {
                let _ = shadow.load(Ordering::Relaxed);
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Word {
    word: AtomicU64,
    shadows: Shadows,
}

impl Word {
    pub(crate) fn new(value: u64) -> Self {
        Self { word: AtomicU64::new(value), shadows: Shadows::new() }
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.shadows.before_read();
        self.word.load(if order == Ordering::SeqCst { Ordering::Acquire } else { order })
    }

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.shadows.before_write();
        self.word.store(value, if order == Ordering::SeqCst { Ordering::Release } else { order });
    }

    pub(crate) fn compare_exchange(
        &self,
        from: u64,
        to: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.shadows.before_write();
        self.word.compare_exchange(
            from,
            to,
            weaker(success),
            if failure == Ordering::SeqCst { Ordering::Acquire } else { failure },
        )
    }

    pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.shadows.before_write();
        self.word.fetch_add(value, weaker(order))
    }

    pub(crate) fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        self.shadows.before_write();
        self.word.fetch_sub(value, weaker(order))
    }

    pub(crate) fn fetch_or(&self, bits: u64, order: Ordering) -> u64 {
        self.shadows.before_write();
        self.word.fetch_or(bits, weaker(order))
    }

    pub(crate) fn fetch_and(&self, bits: u64, order: Ordering) -> u64 {
        self.shadows.before_write();
        self.word.fetch_and(bits, weaker(order))
    }

    pub(crate) fn fetch_max(&self, value: u64, order: Ordering) -> u64 {
        self.shadows.before_write();
        self.word.fetch_max(value, weaker(order))
    }
}

/// A pointer with shadows.
#[derive(Debug)]
pub(crate) struct AtomicPtr<T> {
    pointer: loom::sync::atomic::AtomicPtr<T>,
    shadows: Shadows,
}

impl<T> AtomicPtr<T> {
    pub(crate) fn new(pointer: *mut T) -> Self {
        Self { pointer: loom::sync::atomic::AtomicPtr::new(pointer), shadows: Shadows::new() }
    }

    pub(crate) fn load(&self, order: Ordering) -> *mut T {
        self.shadows.before_read();
        self.pointer.load(order)
    }

    pub(crate) fn compare_exchange(
        &self,
        from: *mut T,
        to: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.shadows.before_write();
        self.pointer.compare_exchange(from, to, success, failure)
    }
}

/// Of an exchange.
fn weaker(order: Ordering) -> Ordering {
    if order == Ordering::SeqCst { Ordering::AcqRel } else { order }
}
