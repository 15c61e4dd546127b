//! Dead letters in an append-only file of JSON Lines.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::log::{Log, SyncThread};
use super::record::{Line, Record};
use super::{Added, Body, DeadLetter, DeadLetterError, DeadLetters, EntryId, Filter, Redriven};
use crate::job::Job;
use crate::lock::lock;
use crate::panics::discard;

/// When appended lines are forced to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Each line, before it is acknowledged.
    Each,
    /// Once per interval, if there is something new.
    Every(Duration),
    /// Only by [`DeadLetters::sync`]; otherwise whenever the operating system likes.
    Never,
}

/// Something that was found, and mended, when a file was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileNotice {
    /// The last line was torn by a crash while it was written; it was never acknowledged.
    TornLine {
        /// Which line, from 1.
        line: u64,
        /// What is there of it.
        text: String,
    },
}

impl fmt::Display for FileNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::TornLine { line, text } = self;
        write!(f, "line {line} was torn while it was written, and is left out: {text}")
    }
}

/// Keeps dead letters in a file, one JSON object a line.
///
/// The file is only ever appended to: a letter that leaves is noted in a line of its own. One
/// process at a time may write it; any number may look. Payloads are written with `serde`.
///
/// ```
/// use overtake_runtime::{DeadLetters, FileDeadLetters, Filter, SyncPolicy};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("dead.jsonl");
/// let letters = FileDeadLetters::<String>::open(&path, SyncPolicy::Each)?;
/// assert!(letters.is_empty() && path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FileDeadLetters<P> {
    state: Arc<Mutex<State>>,
    sync_policy: SyncPolicy,
    notices: Vec<FileNotice>,
    /// Forces the file to the disk now and then; stops when dropped.
    _sync_thread: Option<SyncThread>,
    payload: PhantomData<fn(P) -> P>,
}

pub(super) struct State {
    pub(super) log: Log,
    /// Letters whose jobs are being redriven right now.
    claimed: HashSet<EntryId>,
}

impl<P: Serialize + DeserializeOwned> FileDeadLetters<P> {
    /// Opens a file for writing, or makes it, and keeps other writers out.
    ///
    /// # Errors
    ///
    /// [`Io`](DeadLetterError::Io); [`InUse`](DeadLetterError::InUse) if another process writes
    /// it; [`BadLine`](DeadLetterError::BadLine) if it is no file of dead letters with this
    /// payload. Only a last line that was torn by a crash is no error: see
    /// [`notices`](Self::notices).
    pub fn open(path: impl AsRef<Path>, sync_policy: SyncPolicy) -> Result<Self, DeadLetterError> {
        let (log, notices) = Log::open_to_write::<P>(path.as_ref())?;
        let state = Arc::new(Mutex::new(State { log, claimed: HashSet::new() }));
        let sync_thread = match sync_policy {
            SyncPolicy::Every(interval) => Some(SyncThread::start(interval, Arc::clone(&state))),
            SyncPolicy::Each | SyncPolicy::Never => None,
        };
        Ok(Self { state, sync_policy, notices, _sync_thread: sync_thread, payload: PhantomData })
    }

    /// Opens an existing file to look at it, also while another process writes it.
    ///
    /// # Errors
    ///
    /// [`Io`](DeadLetterError::Io), also if there is no such file;
    /// [`BadLine`](DeadLetterError::BadLine).
    pub fn view(path: impl AsRef<Path>) -> Result<Self, DeadLetterError> {
        let (log, notices) = Log::open_to_read::<P>(path.as_ref())?;
        let state = Arc::new(Mutex::new(State { log, claimed: HashSet::new() }));
        let sync_policy = SyncPolicy::Never;
        Ok(Self { state, sync_policy, notices, _sync_thread: None, payload: PhantomData })
    }

    /// What was found, and mended, when the file was opened.
    pub fn notices(&self) -> &[FileNotice] {
        &self.notices
    }

    fn append(&self, state: &mut State, line: &impl Serialize) -> Result<(), DeadLetterError> {
        let start = state.log.end;
        state.log.append(line)?;
        if self.sync_policy == SyncPolicy::Each { state.log.sync_or_undo(start) } else { Ok(()) }
    }

    fn note_gone(&self, state: &mut State, entry: EntryId) -> Result<(), DeadLetterError> {
        let note = Line::<&P, &str>::Gone { gone: entry, at: SystemTime::now() };
        self.append(state, &note)?;
        state.log.index.remove(&entry);
        Ok(())
    }

    /// Reads a letter and keeps others from redriving it meanwhile.
    fn claim(&self, entry: EntryId) -> Result<Option<DeadLetter<P>>, DeadLetterError> {
        let mut state = lock(&self.state);
        state.log.writable()?;
        if !state.log.index.contains_key(&entry) || !state.claimed.insert(entry) {
            return Ok(None);
        }
        let letter = state.log.read(entry);
        if letter.is_err() {
            state.claimed.remove(&entry);
        }
        letter.map(Some)
    }
}

/// Keeps others from redriving a letter, until dropped.
struct Claim<'a> {
    state: &'a Mutex<State>,
    entry: EntryId,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        lock(self.state).claimed.remove(&self.entry);
    }
}

impl<P: Serialize + DeserializeOwned + Send> DeadLetters<P> for FileDeadLetters<P> {
    fn add(&self, mut letter: DeadLetter<P>) -> Added<P> {
        let mut state = lock(&self.state);
        let entry = EntryId(state.log.last.0 + 1);
        letter.entry = entry;
        let start = state.log.end;
        match self.append(&mut state, &Line::Letter(Record::of(&letter))) {
            Ok(()) => {
                state.log.last = entry;
                state.log.index.insert(entry, start);
                Added::Kept(entry)
            }
            Err(error) => Added::NotWritten(Box::new(letter), error),
        }
    }

    fn len(&self) -> usize {
        lock(&self.state).log.index.len()
    }

    fn lost(&self) -> u64 {
        0
    }

    fn for_each(
        &self,
        filter: &Filter,
        show: &mut dyn FnMut(&DeadLetter<P>) -> bool,
    ) -> Result<(), DeadLetterError> {
        let entries: Vec<_> = lock(&self.state).log.index.keys().copied().collect();
        for entry in entries {
            let letter = {
                let mut state = lock(&self.state);
                if !state.log.index.contains_key(&entry) {
                    continue;
                }
                state.log.read::<P>(entry)?
            };
            if filter.matches(&letter) && !show(&letter) {
                break;
            }
        }
        Ok(())
    }

    fn remove(&self, filter: &Filter) -> Result<usize, DeadLetterError> {
        let mut chosen = Vec::new();
        self.for_each(filter, &mut |letter| {
            chosen.push(letter.entry);
            true
        })?;
        let mut state = lock(&self.state);
        state.log.writable()?;
        chosen
            .retain(|entry| state.log.index.contains_key(entry) && !state.claimed.contains(entry));
        for &entry in &chosen {
            self.note_gone(&mut state, entry)?;
        }
        if state.log.index.is_empty() {
            state.log.clear()?;
        }
        Ok(chosen.len())
    }

    /// A crash between the acceptance of the job and the note that its letter is gone leaves
    /// both: the job may then run twice, but is never lost.
    fn redrive(
        &self,
        entry: EntryId,
        accept: &mut dyn FnMut(Job<P>) -> Result<(), Job<P>>,
    ) -> Result<Redriven, DeadLetterError> {
        let Some(letter) = self.claim(entry)? else {
            return Ok(Redriven::Gone);
        };
        let _claim = Claim { state: &self.state, entry };
        let Body::Job(job) = letter.body else {
            return Ok(Redriven::NoJob);
        };
        // Not under the lock: `accept` may block, and may add dead letters of its own.
        if let Err(job) = accept(job.reborn()) {
            discard(job);
            return Ok(Redriven::NotAccepted);
        }
        self.note_gone(&mut lock(&self.state), entry)?;
        Ok(Redriven::Accepted)
    }

    fn sync(&self) -> Result<(), DeadLetterError> {
        lock(&self.state).log.sync()
    }
}

impl<P> fmt::Debug for FileDeadLetters<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.state);
        let letters = state.log.index.len();
        write!(f, "FileDeadLetters({}, {letters} letters)", state.log.path().display())
    }
}
