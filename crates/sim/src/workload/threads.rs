//! The threads of a workload, and when they do what.

use std::sync::{Barrier, OnceLock};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// The result of a thread, or its panic.
pub(super) fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// When a workload runs, and which part of that is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// From here on it counts.
    pub(super) opens: Instant,
    /// Senders stop here, and nothing counts any more.
    pub(super) closes: Instant,
}

/// Where the threads of a workload meet.
#[derive(Debug)]
pub(super) struct Start {
    line: Barrier,
    length: Duration,
    window: OnceLock<Window>,
}

impl Start {
    pub(super) fn new(threads: usize, length: Duration) -> Self {
        Self { line: Barrier::new(threads), length, window: OnceLock::new() }
    }

    /// Waits for all threads. A quarter of the length is warm-up, in which the last of them gets going
    /// and the queue reaches the state in which it stays.
    pub(super) fn wait(&self) -> Window {
        self.line.wait();
        *self.window.get_or_init(|| {
            let opens = Instant::now() + self.length / 4;
            Window { opens, closes: opens + self.length }
        })
    }
}

/// Looks at the clock once in so many items: more often would cost as much as the fastest queues.
pub(super) const ITEMS_PER_LOOK: u64 = 64;

/// Counts what one thread does within a window.
///
/// It notices both the opening and the closing some items late, so that these errors cancel.
#[derive(Debug)]
pub(super) struct Meter {
    window: Window,
    count: u64,
    next_look: u64,
    when_opened: Option<u64>,
    when_closed: Option<u64>,
}

impl Meter {
    pub(super) fn new(window: Window) -> Self {
        let (when_opened, when_closed) = (None, None);
        Self { window, count: 0, next_look: ITEMS_PER_LOOK, when_opened, when_closed }
    }

    pub(super) fn count(&mut self, items: u64) {
        self.count += items;
        if self.count >= self.next_look {
            self.next_look = self.count + ITEMS_PER_LOOK;
            self.look(Instant::now());
        }
    }

    fn look(&mut self, now: Instant) {
        if now >= self.window.opens {
            self.when_opened.get_or_insert(self.count);
        }
        if now >= self.window.closes {
            self.when_closed.get_or_insert(self.count);
        }
    }

    /// All, and those within the window.
    pub(super) fn counted(&self) -> (u64, u64) {
        let closed = self.when_closed.unwrap_or(self.count);
        (self.count, closed - self.when_opened.unwrap_or(closed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_inside_the_window_counts() {
        let opens = Instant::now();
        let second = Duration::from_secs(1);
        let mut meter = Meter::new(Window { opens, closes: opens + second });
        let moments = [(3, opens - second), (10, opens), (60, opens + second / 2)];
        for (count, now) in
            moments.into_iter().chain([(75, opens + second), (90, opens + second * 2)])
        {
            meter.count = count;
            meter.look(now);
        }
        assert_eq!(meter.counted(), (90, 65));
    }

    #[test]
    fn without_an_opening_nothing_counts() {
        let opens = Instant::now() + Duration::from_secs(3_600);
        let mut meter = Meter::new(Window { opens, closes: opens });
        meter.count(1_000);
        assert_eq!(meter.counted(), (1_000, 0));
    }
}
