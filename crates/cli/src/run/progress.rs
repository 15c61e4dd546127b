//! How far it is: a bar per priority on a terminal, now and then a line otherwise.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use overtake_runtime::Snapshot;

use super::Jobs;
use crate::say;

/// The bars, to print around.
#[derive(Clone)]
pub(super) struct Bars(Option<MultiProgress>);

impl Bars {
    /// Runs `print`, which writes to standard error, without a bar in the way.
    pub(super) fn around<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.0 {
            Some(bars) => bars.suspend(print),
            None => print(),
        }
    }
}

pub(super) struct Progress {
    bars: Bars,
}

/// Shows progress until it is dropped.
#[must_use]
pub(super) struct Watching {
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    has_bars: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        let on_terminal = io::stderr().is_terminal();
        let bars = || MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        Self { bars: Bars(on_terminal.then(bars)) }
    }

    pub(super) fn bars(&self) -> Bars {
        self.bars.clone()
    }

    pub(super) fn watch(&self, runtime: &Arc<Jobs>) -> Watching {
        let (stop, stopped) = mpsc::channel::<()>();
        let mut view = View::new(self.bars.clone());
        let runtime = Arc::downgrade(runtime);
        let body = move || {
            while stopped.recv_timeout(view.interval()) == Err(RecvTimeoutError::Timeout) {
                match Weak::upgrade(&runtime) {
                    Some(runtime) => view.show(&runtime.snapshot()),
                    None => break,
                }
            }
            view.clear();
        };
        // Without a thread there is no progress to see, and nothing else is missing.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(body).ok();
        Watching { stop: Some(stop), thread, has_bars: self.bars.0.is_some() }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        drop(self.stop.take());
        // Bars must be gone before anything else is printed. Lines need not, and if nobody reads
        // them, their thread does not end.
        if let Some(thread) = self.thread.take().filter(|_| self.has_bars) {
            // A progress display that has died is not worth another word.
            let _ = thread.join();
        }
    }
}

struct View {
    bars: Bars,
    of_priority: BTreeMap<usize, ProgressBar>,
}

impl View {
    fn new(bars: Bars) -> Self {
        Self { bars, of_priority: BTreeMap::new() }
    }

    fn interval(&self) -> Duration {
        if self.bars.0.is_some() { Duration::from_millis(100) } else { Duration::from_secs(5) }
    }

    fn show(&mut self, snapshot: &Snapshot) {
        match self.bars.0.clone() {
            Some(bars) => self.show_bars(&bars, snapshot),
            None => say::note(&in_words(snapshot)),
        }
    }

    fn show_bars(&mut self, bars: &MultiProgress, snapshot: &Snapshot) {
        for (priority, report) in snapshot.priorities.iter().enumerate() {
            if report.counts.accepted == 0 {
                continue;
            }
            let place = self.of_priority.range(..priority).count();
            let bar = self.of_priority.entry(priority).or_insert_with(|| {
                let bar = bars.insert(place, ProgressBar::new(0).with_style(style()));
                bar.set_prefix(format!("priority {priority}"));
                bar
            });
            bar.set_length(report.counts.accepted);
            bar.set_position(report.counts.ended());
            bar.set_message(match report.counts.dead {
                0 => String::new(),
                dead => format!("{dead} dead"),
            });
        }
    }

    fn clear(&self) {
        for bar in self.of_priority.values() {
            bar.finish_and_clear();
        }
    }
}

fn style() -> ProgressStyle {
    // The template is a constant; should it ever be wrong, the default bar is shown.
    ProgressStyle::with_template("{prefix:>12} [{bar:40}] {pos}/{len} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn in_words(snapshot: &Snapshot) -> String {
    let totals = snapshot.totals();
    let held: usize = snapshot.priorities.iter().map(|priority| priority.held).sum();
    let (running, retries) = (snapshot.running, snapshot.retries_waiting);
    let waiting = held.saturating_sub(running + retries);
    let (done, dead) = (totals.done, totals.dead);
    format!(
        "{done} done, {dead} dead, {running} running, {waiting} waiting, {retries} to be retried"
    )
}
