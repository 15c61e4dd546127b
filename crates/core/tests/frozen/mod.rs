//! Stops a thread by a signal, at whatever instruction it is, and counts what the others do until
//! it is let go.
#![allow(unreachable_pub, reason = "a module of a binary")]

use crate::common::{Dice, join};
use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{env, mem, process, ptr};

// ---- the victim --------------------------------------------------------------------------------

/// What the signal handler of a victim and those who stop it say to each other.
#[derive(Default)]
struct Stand {
    /// The victim, as the system numbers threads.
    thread: AtomicI32,
    /// Stops are numbered; these are the last one asked for, reached, let go, and left.
    asked: AtomicUsize,
    reached: AtomicUsize,
    let_go: AtomicUsize,
    left: AtomicUsize,
    /// Whether the victim is inside the call that is watched, and how many it has made.
    inside: AtomicBool,
    calls: AtomicUsize,
    /// The instruction at which it was stopped, where that is known.
    at: AtomicUsize,
    over: AtomicBool,
}

thread_local! {
    /// The stand of this thread, if it is a victim.
    static STAND: Cell<*const Stand> = const { Cell::new(ptr::null()) };
}

/// Runs in the victim, between any two of its instructions: only atomics and naps.
extern "C" fn stay(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: a victim's stand lives as long as its thread runs; others have none.
    let Some(stand) = (unsafe { STAND.get().as_ref() }) else { return };
    // SAFETY: the thread's own errno.
    let errno = unsafe { *libc::__errno_location() };
    let stop = stand.asked.load(SeqCst);
    stand.at.store(instruction(context), SeqCst);
    stand.reached.store(stop, SeqCst);
    let nap = libc::timespec { tv_sec: 0, tv_nsec: 20_000 };
    while stand.let_go.load(SeqCst) < stop {
        // SAFETY: allowed in a handler; it writes nothing back.
        unsafe { libc::nanosleep(&raw const nap, ptr::null_mut()) };
    }
    stand.left.store(stop, SeqCst);
    // SAFETY: as above; the interrupted code finds it as it was.
    unsafe { *libc::__errno_location() = errno };
}

/// Where the signal came in between.
fn instruction(context: *mut c_void) -> usize {
    #[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
    // SAFETY: with `SA_SIGINFO` a handler is given the interrupted thread's registers.
    return unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as usize
    };
    #[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
    (context.addr() & 0)
}

fn install_handler() {
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = stay;
    // SAFETY: all bits zero is a `sigaction`; the handler keeps to what a handler may do.
    let answer = unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(libc::SIGUSR1, &raw const action, ptr::null_mut())
    };
    assert_eq!(answer, 0, "the handler is installed");
}

/// Marks the call in which its thread is to be stopped.
pub struct Watched<'a>(&'a Stand);

impl Watched<'_> {
    pub fn call<R>(&self, call: impl FnOnce() -> R) -> R {
        self.0.inside.store(true, SeqCst);
        let result = call();
        self.0.inside.store(false, SeqCst);
        self.0.calls.fetch_add(1, SeqCst);
        result
    }
}

/// A thread that makes calls until it is over, and can be stopped anywhere.
pub struct Victim {
    stand: Arc<Stand>,
    thread: JoinHandle<()>,
}

impl Victim {
    /// `turn` is done again and again; it makes its call through [`Watched::call`].
    pub fn start(mut turn: impl FnMut(&Watched<'_>) + Send + 'static) -> Self {
        install_handler();
        let stand = Arc::new(Stand::default());
        let mine = Arc::clone(&stand);
        let thread = thread::spawn(move || {
            STAND.set(Arc::as_ptr(&mine));
            // SAFETY: only asks for the number of this thread.
            mine.thread.store(unsafe { libc::gettid() }, SeqCst);
            while !mine.over.load(SeqCst) {
                turn(&Watched(&mine));
            }
            STAND.set(ptr::null());
        });
        Self { stand, thread }
    }

    /// Stops the victim some calls after its last stop; it stays there until the answer is dropped.
    pub fn stop(&self, dice: &mut Dice) -> Stopped<'_> {
        let calls = self.stand.calls.load(SeqCst) + 1 + dice.below(30);
        while self.stand.calls.load(SeqCst) < calls {
            thread::yield_now();
        }
        // A rare call would rarely be met without waiting for it.
        let mut looks = 0;
        while !self.stand.inside.load(SeqCst) {
            looks += 1;
            if looks % 1_000 == 0 { thread::yield_now() } else { spin_loop() }
        }
        (0..dice.below(200)).for_each(|_| spin_loop());
        let stop = self.stand.asked.fetch_add(1, SeqCst) + 1;
        let (process, thread) = (process::id(), self.stand.thread.load(SeqCst));
        // SAFETY: a signal to a thread of our own, which has a handler and does not end before
        // `finish`.
        let answer = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGUSR1) };
        assert_eq!(answer, 0, "the victim is there");
        while self.stand.reached.load(SeqCst) < stop {
            thread::yield_now();
        }
        Stopped { stand: &self.stand, stop }
    }

    pub fn finish(self) {
        self.stand.over.store(true, SeqCst);
        join(self.thread);
    }
}

/// A victim that stands still.
pub struct Stopped<'a> {
    stand: &'a Stand,
    stop: usize,
}

impl Stopped<'_> {
    pub fn is_inside(&self) -> bool {
        self.stand.inside.load(SeqCst)
    }

    fn at(&self) -> usize {
        self.stand.at.load(SeqCst)
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.stand.let_go.store(self.stop, SeqCst);
        while self.stand.left.load(SeqCst) < self.stop {
            thread::yield_now();
        }
    }
}

// ---- the others --------------------------------------------------------------------------------

/// What one of the others has completed.
pub struct Done {
    turns: AtomicUsize,
    received: Box<[AtomicUsize]>,
}

impl Done {
    fn new(bands: usize) -> Self {
        let received = (0..bands).map(|_| AtomicUsize::new(0)).collect();
        Self { turns: AtomicUsize::new(0), received }
    }

    /// One item of `band` came through.
    pub fn received(&self, band: usize) {
        self.received[band].fetch_add(1, SeqCst);
    }

    pub fn turn(&self) {
        self.turns.fetch_add(1, SeqCst);
    }
}

/// The threads that must not be held up.
pub struct Others {
    done: Vec<Arc<Done>>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    bands: usize,
}

impl Others {
    /// Nobody yet. Through each of so many bands items must go on to come.
    pub fn through(bands: usize) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        Self { done: Vec::new(), over, threads: Vec::new(), bands }
    }

    /// One more, that does `turn` again and again.
    pub fn and(mut self, mut turn: impl FnMut(&Done) + Send + 'static) -> Self {
        let done = Arc::new(Done::new(self.bands));
        let (mine, over) = (Arc::clone(&done), Arc::clone(&self.over));
        self.done.push(done);
        self.threads.push(thread::spawn(move || {
            while !over.load(SeqCst) {
                turn(&mine);
                mine.turn();
            }
        }));
        self
    }

    /// What the slowest of them and the slowest band have done, as one list.
    fn counts(&self) -> Vec<usize> {
        let turns = self.done.iter().map(|one| one.turns.load(SeqCst));
        let of = |band: usize| self.done.iter().map(|one| one.received[band].load(SeqCst)).sum();
        turns.chain((0..self.bands).map(of)).collect()
    }

    pub fn finish(self, last: impl FnOnce()) {
        self.over.store(true, SeqCst);
        last();
        self.threads.into_iter().for_each(join);
    }
}

// ---- the meter ---------------------------------------------------------------------------------

/// So many stops inside a call there are at least, however busy the machine.
const ENOUGH: usize = 20;

/// How often to stop the victim, and what the others must complete in each stop inside its call.
pub struct Plan {
    pub stops: usize,
    /// So long a stop lasts at least.
    pub at_least: Duration,
    /// So many turns of each of the others, and so many items through each band.
    pub steps: usize,
    /// After so long without those the others count as stalled.
    pub patience: Duration,
    /// Enough stalls to stop looking.
    pub stalls: usize,
    /// After so long `ENOUGH` will do: on a busy machine a stop takes long.
    pub budget: Duration,
}

impl Plan {
    /// By default stops as long as the others need for some steps; `OVERTAKE_FREEZES` and
    /// `OVERTAKE_FREEZE_MS` ask for more and longer ones.
    pub fn from_env() -> Self {
        let number = |name: &str| env::var(name).ok().map(|value| value.parse().expect("a number"));
        let millis = number("OVERTAKE_FREEZE_MS").unwrap_or(0);
        Self {
            stops: number("OVERTAKE_FREEZES").unwrap_or(200),
            at_least: Duration::from_millis(millis as u64),
            steps: 20 + millis,
            patience: Duration::from_secs(30),
            stalls: 1,
            budget: if millis == 0 { Duration::from_secs(2) } else { Duration::MAX },
        }
    }
}

/// What was seen.
#[derive(Default)]
pub struct Seen {
    pub stops: usize,
    pub inside: usize,
    pub stalled: usize,
    pub steps: usize,
    pub stopped_for: Duration,
    pub instructions: HashSet<usize>,
    /// The counts of the first stall, from its beginning and its end.
    pub first_stall: Option<(Vec<usize>, Vec<usize>)>,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stops, inside, stalled, steps, stopped_for, instructions, .. } = self;
        let (each, places) = (*stopped_for / (*inside).max(1) as u32, instructions.len());
        write!(f, "{stops} freezes, {inside} inside a call at {places} instructions, ")?;
        write!(f, "{stalled} stalled; {steps} turns of others meanwhile, {each:.1?} a freeze")
    }
}

/// Stops the victim again and again. Each stop inside its call lasts until the others have done
/// their steps, or patience ends.
pub fn freeze(plan: &Plan, victim: &Victim, others: &Others) -> Seen {
    let mut dice = Dice::new(12);
    let mut seen = Seen::default();
    let began = Instant::now();
    let is_over = |stops| stops >= plan.stops || began.elapsed() > plan.budget;
    while seen.stalled < plan.stalls && (seen.inside < ENOUGH || !is_over(seen.stops)) {
        let stopped = victim.stop(&mut dice);
        seen.stops += 1;
        if !stopped.is_inside() {
            continue;
        }
        seen.inside += 1;
        seen.instructions.insert(stopped.at());
        watch(plan, others, &mut seen);
    }
    seen
}

/// One stop: whether the others go on.
fn watch(plan: &Plan, others: &Others, seen: &mut Seen) {
    let (before, began) = (others.counts(), Instant::now());
    loop {
        thread::sleep(Duration::from_micros(20));
        let now = others.counts();
        let done = before.iter().zip(&now).map(|(before, now)| now - before);
        let enough = done.clone().min() >= Some(plan.steps);
        let waited = began.elapsed();
        if (enough && waited >= plan.at_least) || waited >= plan.patience {
            seen.steps += done.take(others.done.len()).sum::<usize>();
            seen.stopped_for += waited;
            if !enough {
                seen.stalled += 1;
                seen.first_stall.get_or_insert((before, now));
            }
            return;
        }
    }
}
