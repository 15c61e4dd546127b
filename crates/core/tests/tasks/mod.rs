//! Tasks polled by hand: wakers that count, and wakers with a mind of their own.
#![allow(dead_code, reason = "every test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of several binaries")]

use std::future::Future;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// What happens to a waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Clone,
    Wake,
    Drop,
}

/// One task: all its wakers are counted here.
#[derive(Clone)]
pub struct Task(Arc<Inner>);

struct Inner {
    made: AtomicUsize,
    cloned: AtomicUsize,
    dropped: AtomicUsize,
    wakes: AtomicUsize,
    /// What the wakers do besides.
    hook: Option<Box<dyn Fn(Event) + Send + Sync>>,
}

impl Task {
    pub fn new() -> Self {
        Self::made(None)
    }

    /// A task whose wakers do something of their own.
    pub fn with(hook: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self::made(Some(Box::new(hook)))
    }

    fn made(hook: Option<Box<dyn Fn(Event) + Send + Sync>>) -> Self {
        let zero = || AtomicUsize::new(0);
        let (made, cloned, dropped, wakes) = (zero(), zero(), zero(), zero());
        Self(Arc::new(Inner { made, cloned, dropped, wakes, hook }))
    }

    pub fn waker(&self) -> Waker {
        self.0.made.fetch_add(1, Ordering::SeqCst);
        // SAFETY: `VTABLE` treats the pointer as what it is, an `Arc<Inner>`.
        unsafe { Waker::from_raw(raw(Arc::clone(&self.0), &VTABLE)) }
    }

    /// A waker whose clones do not look like it, as `Waker::will_wake` allows.
    pub fn waker_in_disguise(&self) -> Waker {
        self.0.made.fetch_add(1, Ordering::SeqCst);
        // SAFETY: `DISGUISED` treats the pointer as what it is, a boxed `Arc<Inner>`.
        unsafe { Waker::from_raw(disguised(Arc::clone(&self.0))) }
    }

    /// How often one of the wakers was woken.
    pub fn wakes(&self) -> usize {
        self.0.wakes.load(Ordering::SeqCst)
    }

    /// How often a waker was cloned.
    pub fn clones(&self) -> usize {
        self.0.cloned.load(Ordering::SeqCst)
    }

    /// How many wakers somebody still has.
    pub fn alive(&self) -> usize {
        let dropped = self.0.dropped.load(Ordering::SeqCst);
        self.0.made.load(Ordering::SeqCst) + self.clones() - dropped
    }

    pub fn poll<F: Future + Unpin>(&self, future: &mut F) -> Poll<F::Output> {
        self.run(|context| std::pin::Pin::new(future).poll(context))
    }

    /// Polls with a waker of this task that is dropped right after.
    pub fn run<R>(&self, poll: impl FnOnce(&mut Context<'_>) -> R) -> R {
        let waker = self.waker();
        poll(&mut Context::from_waker(&waker))
    }
}

/// Counts an event and runs the hook; a clone that bursts was none.
fn happened(task: &Arc<Inner>, event: Event) {
    let run_hook = || task.hook.iter().for_each(|hook| hook(event));
    let count = match event {
        Event::Clone => {
            run_hook();
            _ = task.cloned.fetch_add(1, Ordering::SeqCst);
            return;
        }
        Event::Wake => &task.wakes,
        Event::Drop => &task.dropped,
    };
    count.fetch_add(1, Ordering::SeqCst);
    run_hook();
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_one);

fn raw(task: Arc<Inner>, vtable: &'static RawWakerVTable) -> RawWaker {
    RawWaker::new(Arc::into_raw(task).cast(), vtable)
}

/// # Safety
///
/// `data` is from `raw`, and its waker is still there.
unsafe fn task_of(data: *const ()) -> ManuallyDrop<Arc<Inner>> {
    // SAFETY: as the caller says; the waker keeps its own count.
    ManuallyDrop::new(unsafe { Arc::from_raw(data.cast()) })
}

/// # Safety
///
/// `data` is that of a waker that is there.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: called on a waker that is there.
    let task = unsafe { task_of(data) };
    happened(&task, Event::Clone);
    raw(Arc::clone(&task), &VTABLE)
}

/// # Safety
///
/// `data` is that of a waker that is there.
unsafe fn wake(data: *const ()) {
    // SAFETY: called on a waker that is there, and ends with this call.
    unsafe {
        wake_by_ref(data);
        drop_one(data);
    }
}

/// # Safety
///
/// `data` is that of a waker that is there.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: called on a waker that is there.
    let task = unsafe { task_of(data) };
    happened(&task, Event::Wake);
}

/// # Safety
///
/// `data` is that of a waker that is there.
unsafe fn drop_one(data: *const ()) {
    // SAFETY: called on a waker that is there, for the last time.
    let task = ManuallyDrop::into_inner(unsafe { task_of(data) });
    happened(&task, Event::Drop);
}

static DISGUISED: RawWakerVTable = RawWakerVTable::new(
    // SAFETY: called on a waker that is there.
    |data| unsafe {
        let task = &*data.cast::<Arc<Inner>>();
        happened(task, Event::Clone);
        disguised(Arc::clone(task))
    },
    // SAFETY: called on a waker that is there, and ends with this call.
    |data| unsafe {
        let task = Box::from_raw(data.cast_mut().cast::<Arc<Inner>>());
        happened(&task, Event::Wake);
        happened(&task, Event::Drop);
    },
    // SAFETY: called on a waker that is there.
    |data| unsafe { happened(&*data.cast::<Arc<Inner>>(), Event::Wake) },
    // SAFETY: called on a waker that is there, for the last time.
    |data| unsafe {
        let task = Box::from_raw(data.cast_mut().cast::<Arc<Inner>>());
        happened(&task, Event::Drop);
    },
);

fn disguised(task: Arc<Inner>) -> RawWaker {
    RawWaker::new(Box::into_raw(Box::new(task)).cast_const().cast(), &DISGUISED)
}
