//! Where jobs end that will not be run again.
//!
//! The alternatives: [`MemoryDeadLetters`], bounded, and [`FileDeadLetters`], append-only JSON
//! Lines.

mod file;
mod letter;
mod log;
mod memory;
mod record;

use std::fmt;
use std::io;
use std::path::PathBuf;

pub use file::{FileDeadLetters, FileNotice, SyncPolicy};
pub use letter::{Body, DeadLetter, EntryId, Filter, Reason, UnknownReason};
pub use memory::{MemoryDeadLetters, WhenFull};

use crate::job::Job;

/// Keeps dead letters. All methods may be called from several threads at once.
pub trait DeadLetters<P>: fmt::Debug + Send + Sync {
    /// Keeps a letter, or says what became of it. The letter's [`entry`](DeadLetter::entry) is set
    /// here.
    fn add(&self, letter: DeadLetter<P>) -> Added<P>;

    /// How many letters are kept.
    fn len(&self) -> usize;

    /// Whether none is kept.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many letters were added and not kept, or were pushed out by later ones.
    fn lost(&self) -> u64;

    /// Shows the letters that match, oldest first, for as long as `show` returns `true`. Inside
    /// `show` the keeper must not be used: it may be locked.
    ///
    /// # Errors
    ///
    /// What kept a letter from being read.
    fn for_each(
        &self,
        filter: &Filter,
        show: &mut dyn FnMut(&DeadLetter<P>) -> bool,
    ) -> Result<(), DeadLetterError>;

    /// Removes the letters that match; says how many.
    ///
    /// # Errors
    ///
    /// What kept a letter from being removed; those before it are gone.
    fn remove(&self, filter: &Filter) -> Result<usize, DeadLetterError>;

    /// Gives the job of one letter to `accept`, and removes the letter if that succeeds. A job
    /// that is not accepted stays a dead letter. Of two calls for one letter only one gets it.
    ///
    /// The job comes with attempts from 1 and its generation raised by one.
    ///
    /// # Errors
    ///
    /// What kept the letter from being read or removed.
    fn redrive(
        &self,
        entry: EntryId,
        accept: &mut dyn FnMut(Job<P>) -> Result<(), Job<P>>,
    ) -> Result<Redriven, DeadLetterError>;

    /// Sees to it that what was added survives a crash, as far as this keeper can.
    ///
    /// # Errors
    ///
    /// What kept it from doing so.
    fn sync(&self) -> Result<(), DeadLetterError>;
}

/// What became of an added letter.
#[derive(Debug)]
#[must_use]
pub enum Added<P> {
    /// It is kept.
    Kept(EntryId),
    /// It is kept, and the oldest one was pushed out for it.
    KeptForOldest(EntryId),
    /// The keeper is full and refused it.
    RefusedFull,
    /// It could not be written, and is handed back.
    NotWritten(Box<DeadLetter<P>>, DeadLetterError),
}

/// What became of one letter that was to be redriven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Redriven {
    /// Its job was accepted; the letter is gone.
    Accepted,
    /// Its job was not accepted; the letter stays.
    NotAccepted,
    /// There is no such letter, or another call has it.
    Gone,
    /// The letter holds no job: the input it was made from was refused.
    NoJob,
}

/// Why dead letters could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeadLetterError {
    /// The operating system refused.
    #[error("{}: cannot {what}", path.display())]
    Io {
        /// What was to be done.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another process writes this file.
    #[error("{}: in use by another process", path.display())]
    InUse {
        /// Which file.
        path: PathBuf,
    },
    /// The file was opened to be looked at only.
    #[error("{}: opened for reading only", path.display())]
    ReadOnly {
        /// Which file.
        path: PathBuf,
    },
    /// A line is no dead letter.
    #[error("{}: line {line} is no dead letter: {reason}", path.display())]
    BadLine {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}
