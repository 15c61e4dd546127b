//! SIGINT and SIGTERM: the first drains, the second stops, the third kills.

use std::io::{PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Incoming;

use super::Jobs;
use crate::exit::Failure;
use crate::say;

pub(super) struct Signals {
    state: Arc<Mutex<State>>,
    wake: OwnedFd,
}

struct State {
    seen: u32,
    runtime: Weak<Jobs>,
    shutdown_timeout: Duration,
    /// Written to once per signal; who reads input watches the other end.
    signal: PipeWriter,
}

impl Signals {
    /// From now on signals do not end the process.
    pub(super) fn watch(shutdown_timeout: Duration) -> Result<Self, Failure> {
        let (wake, signal) = std::io::pipe()?;
        let runtime = Weak::new();
        let state = Arc::new(Mutex::new(State { seen: 0, runtime, shutdown_timeout, signal }));
        let mut incoming = Incoming::new([SIGINT, SIGTERM])?;
        let seen = Arc::clone(&state);
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for _ in incoming.forever() {
                lock(&seen).on_signal();
            }
        })?;
        Ok(Self { state, wake: wake.into() })
    }

    /// Readable once a signal has come.
    pub(super) fn wake(&self) -> Result<OwnedFd, Failure> {
        Ok(self.wake.try_clone()?)
    }

    /// Signals are about this runtime from now on, also those that came before.
    pub(super) fn control(&self, runtime: &Arc<Jobs>) {
        let mut state = lock(&self.state);
        state.runtime = Arc::downgrade(runtime);
        for nth in 1..=state.seen {
            state.act(nth);
        }
    }
}

impl State {
    fn on_signal(&mut self) {
        self.seen += 1;
        // The pipe holds thousands of signals; beyond that one more tells nothing new.
        let _ = self.signal.write(b"!");
        self.act(self.seen);
        let told = match self.seen {
            1 => "finishing what is inside; once more to stop after what runs",
            2 => "stopping after what runs; once more to kill it",
            _ => "killing what runs",
        };
        // On a thread of its own: if nobody reads standard error, the next signal still counts.
        // Without a thread it is done all the same, untold.
        let _ = thread::Builder::new().spawn(move || say::note(told));
    }

    fn act(&self, nth: u32) {
        let Some(runtime) = self.runtime.upgrade() else {
            return;
        };
        match nth {
            1 => runtime.begin_drain(self.shutdown_timeout),
            2 => runtime.begin_stop(),
            _ => runtime.begin_cancel(),
        }
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
