//! The file of jobs that were not run to their end: input for the next run.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::job_line::{self, CommandJob};
use crate::say;

pub(super) struct Unfinished {
    path: PathBuf,
    mode: Mode,
}

/// What becomes of what the file holds already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It stays: these are other jobs.
    Append,
    /// It is the input of this run, so all of it is accounted for.
    Replace,
    /// As `Append`, but without jobs no file is made: nobody asked for one.
    AppendIfAny,
}

impl Unfinished {
    /// Decides where to write, and fails early if that cannot work.
    pub(super) fn check(args: &RunArgs) -> Result<Self, Failure> {
        let Some(path) = args.unfinished.clone() else {
            return Ok(Self { path: default_path(&args.file), mode: Mode::AppendIfAny });
        };
        if is_same_file(&path, &args.file) {
            return Ok(Self { path, mode: Mode::Replace });
        }
        // Without jobs this leaves an empty file: whoever named it can rely on it.
        open_to_append(&path).map_err(|error| cannot_write(&path, &error))?;
        Ok(Self { path, mode: Mode::Append })
    }

    pub(super) fn write(&self, jobs: &[&CommandJob]) -> Result<(), Failure> {
        let lines: String = jobs.iter().map(|job| job_line::write(job)).collect();
        let written = match self.mode {
            Mode::AppendIfAny if jobs.is_empty() => return Ok(()),
            Mode::Append | Mode::AppendIfAny => append(&self.path, lines.as_bytes()),
            Mode::Replace => replace(&self.path, lines.as_bytes()),
        };
        written.map_err(|error| cannot_write(&self.path, &error))?;
        if !jobs.is_empty() {
            say::note(&format!("{} unfinished jobs are in {}", jobs.len(), self.path.display()));
        }
        Ok(())
    }
}

fn default_path(input: &Path) -> PathBuf {
    let mut name = match input.as_os_str() {
        stdin if stdin == "-" => "overtake".into(),
        path => path.to_owned(),
    };
    name.push(".unfinished.jsonl");
    name.into()
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

fn open_to_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = open_to_append(path)?;
    file.write_all(lines)?;
    file.sync_data()
}

/// Replaces the file as a whole: at no moment is there half of it.
fn replace(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file = File::create(&beside)?;
    file.write_all(lines)?;
    file.sync_data()?;
    fs::rename(&beside, path)
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::because(format!("cannot write to {}", path.display()), error)
}
