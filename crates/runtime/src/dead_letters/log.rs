//! The file itself: appending lines, and finding them again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::file::{FileNotice, State};
use super::record::Line;
use super::{DeadLetter, DeadLetterError, EntryId};
use crate::lock::lock;

/// An open file of lines, with the place of every letter that is not gone.
pub(super) struct Log {
    path: PathBuf,
    file: File,
    writable: bool,
    /// Where each letter's line begins.
    pub(super) index: BTreeMap<EntryId, u64>,
    pub(super) last: EntryId,
    /// Where the next line goes.
    pub(super) end: u64,
    unsynced: bool,
    /// Part of a line may stand after the end, as it could not be cut off.
    spoiled: bool,
}

impl Log {
    pub(super) fn open_to_write<P: DeserializeOwned>(
        path: &Path,
    ) -> Result<(Self, Vec<FileNotice>), DeadLetterError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path);
        let file = file.map_err(|source| io_error("open it", path, source))?;
        refuse_devices(&file, path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DeadLetterError::InUse { path: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(io_error("lock it", path, source)),
        }
        let mut log = Self::new(path, file, true);
        let torn = log.scan::<P>()?;
        if torn.is_some() {
            log.truncate_to_end()?;
        }
        Ok((log, Vec::from_iter(torn)))
    }

    pub(super) fn open_to_read<P: DeserializeOwned>(
        path: &Path,
    ) -> Result<(Self, Vec<FileNotice>), DeadLetterError> {
        let file = File::open(path).map_err(|source| io_error("open it", path, source))?;
        refuse_devices(&file, path)?;
        let mut log = Self::new(path, file, false);
        let torn = log.scan::<P>()?;
        Ok((log, Vec::from_iter(torn)))
    }

    fn new(path: &Path, file: File, writable: bool) -> Self {
        Self {
            path: path.to_owned(),
            file,
            writable,
            index: BTreeMap::new(),
            last: EntryId(0),
            end: 0,
            unsynced: false,
            spoiled: false,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn writable(&self) -> Result<(), DeadLetterError> {
        if self.writable {
            Ok(())
        } else {
            Err(DeadLetterError::ReadOnly { path: self.path.clone() })
        }
    }

    /// Reads the whole file once; returns what is torn at its end.
    fn scan<P: DeserializeOwned>(&mut self) -> Result<Option<FileNotice>, DeadLetterError> {
        let path = self.path.clone();
        let fail = |source| io_error("read it", &path, source);
        let mut reader = BufReader::new(self.file.try_clone().map_err(fail)?);
        reader.rewind().map_err(fail)?;
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let length = reader.read_until(b'\n', &mut bytes).map_err(fail)? as u64;
            if length == 0 {
                break;
            }
            let text = String::from_utf8_lossy(bytes.trim_ascii_end());
            if text.is_empty() {
                self.end += length;
                continue;
            }
            match Line::<P, String>::parse(&bytes) {
                // A whole line without its end: the crash came between the two.
                Ok(_) if !bytes.ends_with(b"\n") => return Ok(Some(torn(number, &text))),
                Ok(line) => self.note(line).map_err(|reason| self.bad_line(number, reason))?,
                Err(_) if !bytes.ends_with(b"\n") && begins_like_ours(&bytes) => {
                    return Ok(Some(torn(number, &text)));
                }
                Err(error) => return Err(self.bad_line(number, error)),
            }
            self.end += length;
        }
        Ok(None)
    }

    fn note<P>(&mut self, line: Line<P, String>) -> Result<(), String> {
        match line {
            Line::Gone { gone, .. } => {
                self.index.remove(&gone);
            }
            Line::Letter(record) => {
                let letter = record.into_letter()?;
                if letter.entry <= self.last {
                    return Err(format!("entry {} comes after entry {}", letter.entry, self.last));
                }
                self.last = letter.entry;
                self.index.insert(letter.entry, self.end);
            }
        }
        Ok(())
    }

    fn bad_line(&self, line: u64, reason: String) -> DeadLetterError {
        DeadLetterError::BadLine { path: self.path.clone(), line, reason }
    }

    /// Reads the letter that begins at its place in the index.
    pub(super) fn read<P: DeserializeOwned>(
        &mut self,
        entry: EntryId,
    ) -> Result<DeadLetter<P>, DeadLetterError> {
        let start = self.index[&entry];
        let fail = |source| io_error("read it", &self.path, source);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(start)).map_err(fail)?;
        let mut bytes = Vec::new();
        BufReader::new(file.take(u64::MAX)).read_until(b'\n', &mut bytes).map_err(fail)?;
        let changed = |reason: String| fail(io::Error::new(io::ErrorKind::InvalidData, reason));
        match Line::<P, String>::parse(&bytes) {
            Ok(Line::Letter(record)) => record.into_letter().map_err(|why| changed(why.to_owned())),
            Ok(Line::Gone { .. }) => Err(changed(format!("letter {entry} was overwritten"))),
            Err(error) => Err(changed(error)),
        }
    }

    /// Appends a line as a whole, or leaves the file as it was.
    pub(super) fn append(&mut self, line: &impl Serialize) -> Result<(), DeadLetterError> {
        self.writable()?;
        let invalid = |error: serde_json::Error| io_error("write to it", &self.path, error.into());
        let mut bytes = serde_json::to_vec(line).map_err(invalid)?;
        bytes.push(b'\n');
        if self.spoiled {
            self.truncate_to_end()?;
        }
        if let Err(source) = self.file.write_all(&bytes) {
            let error = io_error("write to it", &self.path, source);
            // Half a line would spoil the next one.
            let _ = self.truncate_to_end();
            return Err(error);
        }
        self.end += bytes.len() as u64;
        self.unsynced = true;
        Ok(())
    }

    /// Forces the lines since `start` to the disk, or takes them back.
    pub(super) fn sync_or_undo(&mut self, start: u64) -> Result<(), DeadLetterError> {
        let synced = self.sync();
        if synced.is_err() {
            self.end = start;
            let _ = self.truncate_to_end();
        }
        synced
    }

    pub(super) fn sync(&mut self) -> Result<(), DeadLetterError> {
        if self.unsynced {
            self.file.sync_data().map_err(|source| io_error("sync it", &self.path, source))?;
            self.unsynced = false;
        }
        Ok(())
    }

    /// Empties the file; entries go on being numbered from where they were in this process.
    pub(super) fn clear(&mut self) -> Result<(), DeadLetterError> {
        self.end = 0;
        self.index.clear();
        self.truncate_to_end()
    }

    fn truncate_to_end(&mut self) -> Result<(), DeadLetterError> {
        self.unsynced = true;
        let shortened = self.file.set_len(self.end);
        self.spoiled = shortened.is_err();
        shortened.map_err(|source| io_error("shorten it", &self.path, source))
    }
}

/// Closing the file is not enough: a child process on its way to its own program holds it open for
/// a moment, and the lock with it.
impl Drop for Log {
    fn drop(&mut self) {
        // If it fails, closing is all there is.
        let _ = self.file.unlock();
    }
}

fn io_error(what: &'static str, path: &Path, source: io::Error) -> DeadLetterError {
    DeadLetterError::Io { what, path: path.to_owned(), source }
}

/// A pipe never ends, and a device keeps nothing.
fn refuse_devices(file: &File, path: &Path) -> Result<(), DeadLetterError> {
    let what = "use it";
    let metadata = file.metadata().map_err(|source| io_error(what, path, source))?;
    if metadata.is_file() {
        return Ok(());
    }
    let source = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
    Err(io_error(what, path, source))
}

fn torn(line: u64, text: &str) -> FileNotice {
    FileNotice::TornLine { line, text: text.to_owned() }
}

/// Whether a broken last line can be one that we began to write. Anything else is somebody's
/// data, and not ours to cut off.
fn begins_like_ours(bytes: &[u8]) -> bool {
    [&br#"{"entry":"#[..], br#"{"gone":"#].iter().any(|ours| {
        let shared = ours.len().min(bytes.len());
        ours[..shared] == bytes[..shared]
    })
}

/// A thread that forces the file to the disk once per interval.
#[derive(Debug)]
pub(super) struct SyncThread {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl SyncThread {
    /// Without a thread, if none can be had, the operating system still writes in its own time.
    pub(super) fn start(interval: Duration, state: Arc<Mutex<State>>) -> Self {
        // Without a pause it would do nothing but look.
        let interval = interval.max(Duration::from_millis(1));
        let stop = Arc::<(Mutex<bool>, Condvar)>::default();
        let stopped = Arc::clone(&stop);
        let body = move || {
            let (flag, changed) = &*stopped;
            let mut stop = lock(flag);
            while !*stop {
                stop =
                    changed.wait_timeout(stop, interval).unwrap_or_else(PoisonError::into_inner).0;
                // A failed sync is tried again next time, and told by the explicit one at the end.
                let _ = lock(&state).log.sync();
            }
        };
        let thread = thread::Builder::new().name("dead-letter-sync".into()).spawn(body).ok();
        Self { stop, thread }
    }
}

impl Drop for SyncThread {
    fn drop(&mut self) {
        *lock(&self.stop.0) = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // It runs no user code; if it died, there is nothing to do about it here.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_is_gone_with_the_log_even_where_a_copy_of_the_file_lives_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("dead.jsonl");
        let (log, _) = Log::open_to_write::<u32>(&path).expect("a new file");
        // What a child process has for a moment.
        let _copy = log.file.try_clone().expect("a copy");
        assert!(Log::open_to_write::<u32>(&path).is_err());
        drop(log);
        assert!(Log::open_to_write::<u32>(&path).is_ok());
    }
}
