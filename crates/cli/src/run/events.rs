//! The events file: everything that happens, one JSON object a line.

use std::fs::File;
use std::io::{self, LineWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

use crate::exit::Failure;

/// Writes events. Without a file it does nothing.
pub(super) struct Events {
    started: Instant,
    file: Option<EventsFile>,
}

struct EventsFile {
    path: PathBuf,
    writer: Mutex<Writer>,
}

struct Writer {
    lines: LineWriter<File>,
    /// The first failure; what comes after it is not written.
    failed: Option<io::Error>,
}

/// One line of the file.
#[derive(Debug, Serialize)]
pub(super) struct EventLine<'a> {
    pub(super) event: &'static str,
    pub(super) name: &'a str,
    pub(super) priority: Option<usize>,
    pub(super) attempt: u32,
    pub(super) worker: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a str>,
}

#[derive(Serialize)]
struct Timed<'a> {
    at_us: u64,
    #[serde(flatten)]
    event: &'a EventLine<'a>,
}

impl Events {
    pub(super) fn open(path: Option<&Path>, started: Instant) -> Result<Self, Failure> {
        let open = |path: &Path| {
            let cannot =
                |error| Failure::because(format!("cannot write to {}", path.display()), &error);
            let lines = LineWriter::new(File::create(path).map_err(cannot)?);
            let writer = Mutex::new(Writer { lines, failed: None });
            Ok::<_, Failure>(EventsFile { path: path.to_owned(), writer })
        };
        Ok(Self { started, file: path.map(open).transpose()? })
    }

    pub(super) fn tell(&self, event: &EventLine<'_>) {
        let Some(file) = &self.file else {
            return;
        };
        let mut writer = file.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.failed.is_some() {
            return;
        }
        // Read under the lock: times in the file never go back.
        let at_us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let line = serde_json::to_vec(&Timed { at_us, event });
        let written = line.map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            writer.lines.write_all(&line)
        });
        writer.failed = written.err();
    }

    /// Says whether everything was written.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut writer = file.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = writer.failed.take().or_else(|| writer.lines.flush().err());
        failed.map_or(Ok(()), |error| {
            let what = format!("the events in {} are incomplete", file.path.display());
            Err(Failure::because(what, &error))
        })
    }
}
