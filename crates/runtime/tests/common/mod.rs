//! What the tests share: a watchdog, a latch, and a recorder of events.

#![allow(dead_code, reason = "every test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of several binaries")]

use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use overtake_runtime::{
    Context, DeadLetter, DeadLetters, Event, EventKind, Filter, Job, JobId, ManualRuntime, Outcome,
    Report, Runtime,
};

/// A time no healthy step comes near.
pub const LONG: Duration = Duration::from_secs(30);

pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Runs `body` on a thread of its own, and fails if it takes longer than `limit`.
pub fn within<R: Send + 'static>(limit: Duration, body: impl FnOnce() -> R + Send + 'static) -> R {
    let (ended, end) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        let _ended = ended;
        body()
    });
    assert_eq!(end.recv_timeout(limit), Err(RecvTimeoutError::Disconnected), "took over {limit:?}");
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Looks again and again until `condition` holds; fails if it never does.
#[track_caller]
pub fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "never: {what}");
        thread::yield_now();
    }
}

/// What another thread needs to know to see this one [`sleep`](sleeps).
pub fn this_thread() -> PathBuf {
    Path::new("/proc").join(fs::read_link("/proc/thread-self").expect("procfs"))
}

/// Whether a thread sleeps; asked many times over it does not just wait for a lock.
pub fn sleeps(thread: &Path) -> bool {
    (0..50).all(|_| {
        thread::yield_now();
        fs::read_to_string(thread.join("stat")).is_ok_and(|stat| stat.contains(") S "))
    })
}

/// Opened once, for all who wait.
#[derive(Clone, Default)]
pub struct Latch(Arc<(Mutex<bool>, Condvar)>);

impl Latch {
    pub fn open(&self) {
        *self.0.0.lock().expect("no panic under the lock") = true;
        self.0.1.notify_all();
    }

    pub fn wait(&self) {
        let open = self.0.0.lock().expect("no panic under the lock");
        drop(self.0.1.wait_while(open, |open| !*open).expect("no panic under the lock"));
    }
}

/// An event, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub at: Duration,
    pub kind: EventKind,
    pub id: JobId,
    pub name: String,
    pub priority: usize,
    pub attempt: u32,
    pub worker: Option<usize>,
    pub error: Option<String>,
}

impl From<&Event<'_>> for Seen {
    fn from(event: &Event<'_>) -> Self {
        Self {
            at: event.at,
            kind: event.kind,
            id: event.id,
            name: event.name.to_owned(),
            priority: event.priority,
            attempt: event.attempt,
            worker: event.worker,
            error: event.error.map(ToOwned::to_owned),
        }
    }
}

/// Keeps all events of a runtime.
#[derive(Clone, Default)]
pub struct Recorder(Arc<(Mutex<Vec<Seen>>, Condvar)>);

impl Recorder {
    /// What to give to the builder.
    pub fn observe(&self) -> impl Fn(&Event<'_>) + Send + Sync + 'static {
        let recorder = self.clone();
        move |event| {
            recorder.0.0.lock().expect("no panic under the lock").push(Seen::from(event));
            recorder.0.1.notify_all();
        }
    }

    pub fn all(&self) -> Vec<Seen> {
        self.0.0.lock().expect("no panic under the lock").clone()
    }

    pub fn of(&self, kind: EventKind) -> Vec<Seen> {
        self.all().into_iter().filter(|seen| seen.kind == kind).collect()
    }

    pub fn count(&self, kind: EventKind) -> u64 {
        self.of(kind).len() as u64
    }

    /// The names of the jobs to which this happened, in order.
    pub fn names(&self, kind: EventKind) -> Vec<String> {
        self.of(kind).into_iter().map(|seen| seen.name).collect()
    }

    /// Waits until this has happened so many times.
    #[track_caller]
    pub fn wait_for(&self, kind: EventKind, times: usize) {
        let has = |seen: &Vec<Seen>| seen.iter().filter(|seen| seen.kind == kind).count() >= times;
        let seen = self.0.0.lock().expect("no panic under the lock");
        let (_seen, waited) =
            self.0.1.wait_timeout_while(seen, LONG, |seen| !has(seen)).expect("no panic");
        assert!(!waited.timed_out(), "{kind:?} has not happened {times} times");
    }
}

/// G6: every accepted job has come to one end, and is there if that end was to be handed back.
#[track_caller]
pub fn assert_balance<P>(report: &Report<P>) {
    let totals = report.totals;
    assert!(report.complete, "{report}");
    assert!(totals.balance(), "{totals:?}");
    for priority in &report.priorities {
        assert!(priority.counts.balance(), "{:?}", priority.counts);
        assert_eq!((priority.held, priority.waiting, priority.due_retries), (0, 0, 0));
    }
    let handed_back = report.returned.len() + report.abandoned.len();
    assert_eq!(handed_back as u64, totals.returned, "exactly the jobs that did not run");
}

/// The names of jobs, in order.
pub fn names<'a, P: 'a>(jobs: impl IntoIterator<Item = &'a Job<P>>) -> Vec<&'a str> {
    jobs.into_iter().map(Job::name).collect()
}

/// All letters that match, oldest first.
pub fn letters<P: Clone>(
    keeper: &(impl DeadLetters<P> + ?Sized),
    filter: &Filter,
) -> Vec<DeadLetter<P>> {
    let mut letters = Vec::new();
    keeper
        .for_each(filter, &mut |letter| {
            letters.push(letter.clone());
            true
        })
        .expect("readable");
    letters
}

/// A runtime with one worker, whose handler gives its job up once it is cancelled, and not before.
pub fn running_until_cancelled(seen: &Recorder) -> Runtime<()> {
    Runtime::builder()
        .priorities(1)
        .workers(1)
        .observer(seen.observe())
        .start(|_: &Job<()>, context: &Context<'_, ()>| {
            until("cancelled", || context.is_cancelled());
            Outcome::Release
        })
        .expect("started")
}

/// Runs what waits, all of it well; the payloads in the order of the runs.
pub fn run_all<P: Clone>(runtime: &ManualRuntime<P>) -> Vec<P> {
    std::iter::from_fn(|| {
        let delivery = runtime.take()?;
        let payload = delivery.job().payload().clone();
        delivery.settle(Outcome::Done);
        Some(payload)
    })
    .collect()
}
