//! The file of dead letters of a run.
//!
//! Only one process can write such a file, and `dead-letters redrive FILE | run - --dead-letters FILE`
//! is two of them: redrive holds the file until its lines have been read. So a run that reads a pipe
//! opens the file at its first letter. Any other run opens it at once, and fails at once if it is
//! in use.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use overtake_runtime::{
    Added, DeadLetter, DeadLetterError, DeadLetters, EntryId, FileDeadLetters, Filter, Job,
    Redriven, SyncPolicy,
};

use crate::exit::Failure;
use crate::job_line::CommandSpec;
use crate::say;

type Letters = FileDeadLetters<CommandSpec>;

/// How long another process that writes the file is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct RunLetters {
    path: PathBuf,
    opened: Mutex<Opened>,
}

#[derive(Debug)]
enum Opened {
    NotYet,
    /// It could not be had in time once; it is tried again, but not waited for.
    InUse,
    Open(Letters),
}

impl RunLetters {
    /// Opens the file, or only sees to it that it can be made and holds nothing but dead letters.
    pub(super) fn new(path: &Path, reads_a_pipe: bool) -> Result<Self, Failure> {
        let path = path.to_owned();
        if !reads_a_pipe {
            let opened = Mutex::new(Opened::Open(open_dead_letters(&path)?));
            return Ok(Self { path, opened });
        }
        let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
        file.map_err(|error| {
            Failure::because(format!("cannot write to {}", path.display()), &error)
        })?;
        Letters::view(&path)?;
        Ok(Self { path, opened: Mutex::new(Opened::NotYet) })
    }

    fn lock(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the file, which is opened if it is not open yet.
    fn with<R>(&self, body: impl FnOnce(&Letters) -> R) -> Result<R, DeadLetterError> {
        let mut opened = self.lock();
        if !matches!(*opened, Opened::Open(_)) {
            let patience = if matches!(*opened, Opened::InUse) { Duration::ZERO } else { PATIENCE };
            *opened = Opened::InUse;
            *opened = Opened::Open(open_patiently(&self.path, patience)?);
        }
        match &*opened {
            Opened::Open(letters) => Ok(body(letters)),
            Opened::NotYet | Opened::InUse => unreachable!("it was opened above"),
        }
    }

    /// Does something with the file if it is open.
    fn if_open<R>(&self, body: impl FnOnce(&Letters) -> R) -> Option<R> {
        match &*self.lock() {
            Opened::Open(letters) => Some(body(letters)),
            Opened::NotYet | Opened::InUse => None,
        }
    }
}

fn open_patiently(path: &Path, patience: Duration) -> Result<Letters, DeadLetterError> {
    let started = Instant::now();
    let letters = loop {
        match Letters::open(path, SyncPolicy::Each) {
            Err(DeadLetterError::InUse { .. }) if started.elapsed() < patience => {
                thread::sleep(Duration::from_millis(20));
            }
            other => break other?,
        }
    };
    for notice in letters.notices() {
        say::note(&format!("{}: {notice}", path.display()));
    }
    Ok(letters)
}

/// Opens a file of dead letters to change it. Another process that is about to be through with it
/// is waited for.
pub(crate) fn open_dead_letters(path: &Path) -> Result<Letters, Failure> {
    Ok(open_patiently(path, PATIENCE)?)
}

impl DeadLetters<CommandSpec> for RunLetters {
    fn add(&self, letter: DeadLetter<CommandSpec>) -> Added<CommandSpec> {
        let mut letter = Some(letter);
        let added = self.with(|letters| letter.take().map(|letter| letters.add(letter)));
        match (added, letter) {
            (Ok(Some(added)), _) => added,
            (Err(error), Some(letter)) => Added::NotWritten(Box::new(letter), error),
            (Ok(None) | Err(_), _) => unreachable!("the letter is given away once"),
        }
    }

    fn len(&self) -> usize {
        self.if_open(|letters| letters.len()).unwrap_or(0)
    }

    fn lost(&self) -> u64 {
        self.if_open(|letters| letters.lost()).unwrap_or(0)
    }

    fn for_each(
        &self,
        filter: &Filter,
        show: &mut dyn FnMut(&DeadLetter<CommandSpec>) -> bool,
    ) -> Result<(), DeadLetterError> {
        self.with(|letters| letters.for_each(filter, show))?
    }

    fn remove(&self, filter: &Filter) -> Result<usize, DeadLetterError> {
        self.with(|letters| letters.remove(filter))?
    }

    fn redrive(
        &self,
        entry: EntryId,
        accept: &mut dyn FnMut(Job<CommandSpec>) -> Result<(), Job<CommandSpec>>,
    ) -> Result<Redriven, DeadLetterError> {
        self.with(|letters| letters.redrive(entry, accept))?
    }

    fn sync(&self) -> Result<(), DeadLetterError> {
        self.if_open(|letters| letters.sync()).unwrap_or(Ok(()))
    }
}
