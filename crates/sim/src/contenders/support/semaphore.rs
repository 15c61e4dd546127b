//! A counting semaphore that costs one locked instruction where nobody waits.

use crossbeam_utils::atomic::AtomicCell;
use parking_lot::{Condvar, Mutex};

/// One sleeper, in the upper half of the word.
const SLEEPER: u64 = 1 << 32;

/// Permits and sleepers share a word, so that who gives a permit learns in the same instruction
/// whether to wake somebody. Who is awake may take a permit before the one it was given for: handing
/// it over would cost a switch of threads for each item.
#[derive(Debug)]
pub(crate) struct Semaphore {
    /// Permits in the lower half, sleepers in the upper. Sleepers change under the lock only.
    word: AtomicCell<u64>,
    closed: Mutex<bool>,
    permit_came: Condvar,
}

fn permits(word: u64) -> u64 {
    word % SLEEPER
}

fn sleepers(word: u64) -> u64 {
    word / SLEEPER
}

impl Semaphore {
    pub(crate) fn new(permits: usize) -> Self {
        let word = AtomicCell::new(permits as u64);
        Self { word, closed: Mutex::new(false), permit_came: Condvar::new() }
    }

    pub(crate) fn try_acquire(&self) -> bool {
        let mut word = self.word.load();
        while permits(word) > 0 {
            match self.word.compare_exchange(word, word - 1) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Waits for a permit; `false` if there is none and it is closed.
    pub(crate) fn acquire(&self) -> bool {
        self.try_acquire() || self.acquire_asleep()
    }

    #[cold]
    fn acquire_asleep(&self) -> bool {
        let mut closed = self.closed.lock();
        loop {
            if permits(self.word.fetch_add(SLEEPER)) > 0 {
                self.word.fetch_sub(SLEEPER);
            } else if *closed {
                self.word.fetch_sub(SLEEPER);
                return self.try_acquire();
            } else {
                // Who wakes a sleeper takes it off the count.
                self.permit_came.wait(&mut closed);
            }
            if self.try_acquire() {
                return true;
            }
        }
    }

    pub(crate) fn release(&self) {
        if sleepers(self.word.fetch_add(1)) > 0 {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        let locked = self.closed.lock();
        let asleep = sleepers(self.word.load()) > 0;
        if asleep {
            self.word.fetch_sub(SLEEPER);
        }
        drop(locked);
        if asleep {
            self.permit_came.notify_one();
        }
    }

    pub(crate) fn close(&self) {
        let mut closed = self.closed.lock();
        *closed = true;
        let asleep = sleepers(self.word.load());
        self.word.fetch_sub(asleep * SLEEPER);
        self.permit_came.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn permits_are_neither_lost_nor_doubled() {
        const PERMITS: usize = 20_000;
        let semaphore = Semaphore::new(0);
        let taken: usize = thread::scope(|scope| {
            let take = || std::iter::from_fn(|| semaphore.acquire().then_some(())).count();
            let takers: Vec<_> = (0..3).map(|_| scope.spawn(take)).collect();
            (0..PERMITS).for_each(|_| semaphore.release());
            semaphore.close();
            takers.into_iter().map(|taker| taker.join().expect("only counts")).sum()
        });
        assert_eq!((taken, semaphore.word.load()), (PERMITS, 0));
    }
}
