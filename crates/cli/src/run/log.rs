//! Where the output of jobs goes: line by line, each with the job's name.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::progress::Bars;
use crate::exit::Failure;
use crate::say;

pub(super) struct Log {
    to: Mutex<To>,
}

enum To {
    File(File),
    /// Standard error, around the progress bars if there are any.
    Screen(Bars),
}

impl Log {
    pub(super) fn open(path: Option<&Path>, bars: Bars) -> Result<Self, Failure> {
        let to = match path {
            None => To::Screen(bars),
            Some(path) => {
                let file = OpenOptions::new().append(true).create(true).open(path);
                let cannot =
                    |error| Failure::because(format!("cannot write to {}", path.display()), &error);
                To::File(file.map_err(cannot)?)
            }
        };
        Ok(Self { to: Mutex::new(to) })
    }

    /// Writes one line that a job has printed.
    pub(super) fn output(&self, name: &str, line: &[u8]) {
        let name = say::one_line(name);
        let mut bytes = Vec::with_capacity(name.len() + line.len() + 3);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(line);
        self.write(bytes);
    }

    /// Writes one line about a job.
    pub(super) fn remark(&self, name: &str, text: &str) {
        let (name, text) = (say::one_line(name), say::one_line(text));
        self.write(format!("{name} [{text}]").into_bytes());
    }

    fn write(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        // A log that cannot be written must not stop the work.
        let _: io::Result<()> = match &mut *self.to.lock().unwrap_or_else(PoisonError::into_inner) {
            To::File(file) => file.write_all(&line),
            To::Screen(bars) => bars.around(|| io::stderr().lock().write_all(&line)),
        };
    }
}
