//! What the tests share: a watchdog, waiting for a thread to sleep, items that are counted.
#![allow(dead_code, reason = "every test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of several binaries")]

use std::collections::HashMap;
use std::fmt;
#[cfg(target_os = "linux")]
use std::fs;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How many rounds a race gets: enough to meet, few enough for a debug build on two cores.
pub const ROUNDS: usize = if cfg!(miri) { 20 } else { 20_000 };

/// Runs `body` in a thread of its own, and fails in the name of the test when it hangs.
pub fn within<R: Send + 'static>(seconds: u64, body: impl FnOnce() -> R + Send + 'static) -> R {
    let name = thread::current().name().unwrap_or("test").to_owned();
    let (done, ended) = mpsc::channel();
    let thread = thread::Builder::new()
        .name(name.clone())
        .spawn(move || {
            let result = body();
            // The watchdog may have given up; then nobody wants to know.
            let _ = done.send(());
            result
        })
        .expect("a thread");
    if let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(Duration::from_secs(seconds)) {
        panic!("{name} hangs: not done after {seconds} s");
    }
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Starts `call` in a thread and returns once that thread sleeps in it.
///
/// To be used where the call must block; if it does not, this waits until the thread has ended.
#[cfg(target_os = "linux")]
pub fn parked<R: Send + 'static>(call: impl FnOnce() -> R + Send + 'static) -> JoinHandle<R> {
    let (started, start) = mpsc::channel();
    let thread = thread::spawn(move || {
        let this_thread = fs::read_link("/proc/thread-self").expect("procfs");
        started.send(this_thread).expect("the starter waits");
        call()
    });
    let this_thread = start.recv().expect("the thread runs");
    let stat = std::path::Path::new("/proc").join(this_thread).join("stat");
    // A thread that has ended has no stat; one that is seen asleep many times in a row is parked.
    let mut asleep = 0;
    while asleep < 20 && !thread.is_finished() {
        let stat = fs::read_to_string(&stat).unwrap_or_default();
        // The state is the first field after the name, which is in parentheses.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        asleep = if state == Some('S') { asleep + 1 } else { 0 };
        thread::yield_now();
    }
    thread
}

/// Starts `call` in a thread, and gives it time to fall asleep in it: only Linux tells when a
/// thread sleeps.
#[cfg(not(target_os = "linux"))]
pub fn parked<R: Send + 'static>(call: impl FnOnce() -> R + Send + 'static) -> JoinHandle<R> {
    let thread = thread::spawn(call);
    thread::sleep(Duration::from_millis(100));
    thread
}

/// Joins, and goes on with the thread's panic if it had one.
pub fn join<R>(thread: JoinHandle<R>) -> R {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Counts the items made and dropped, and knows which.
#[derive(Clone, Default)]
pub struct Tally {
    dropped: Arc<Mutex<HashMap<usize, usize>>>,
    made: Arc<AtomicUsize>,
}

/// An item that is entered in its [`Tally`] when it is dropped.
pub struct Counted {
    pub id: usize,
    tally: Tally,
}

impl Tally {
    pub fn item(&self) -> Counted {
        let id = self.made.fetch_add(1, Ordering::SeqCst);
        Counted { id, tally: self.clone() }
    }

    /// How often one item was dropped.
    pub fn drops_of(&self, id: usize) -> usize {
        self.table().get(&id).copied().unwrap_or(0)
    }

    /// How many items were dropped.
    pub fn dropped(&self) -> usize {
        self.table().len()
    }

    /// Fails unless every item made was dropped exactly once.
    #[track_caller]
    pub fn assert_all_dropped_once(&self) {
        let made = self.made.load(Ordering::SeqCst);
        let wrong: Vec<_> = (0..made).filter(|&id| self.drops_of(id) != 1).collect();
        assert!(wrong.is_empty(), "of {made} items not dropped exactly once: {wrong:?}");
    }

    fn table(&self) -> std::sync::MutexGuard<'_, HashMap<usize, usize>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        *self.tally.table().entry(self.id).or_default() += 1;
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counted({})", self.id)
    }
}

/// A small generator of numbers that look random: the same ones in every run.
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        // Knuth's multiplier and increment for 64 bits; the high bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % limit
    }
}
