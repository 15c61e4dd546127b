//! The file of jobs that were not run to their end: input for the next run.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::job_file::{Identity, JobFile};
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
    pub(super) fn check(args: &RunArgs, input: Option<&Identity>) -> Result<Self, Failure> {
        let Some(path) = args.unfinished.clone() else {
            return Ok(Self { path: default_path(&args.file), mode: Mode::AppendIfAny });
        };
        if input.is_some() && Identity::at(&path).as_ref() == input {
            // What is replaced is the file, not a link to it.
            let path = fs::canonicalize(&path).map_err(|error| cannot_write(&path, &error))?;
            return Ok(Self { path, mode: Mode::Replace });
        }
        // Without jobs this leaves an empty file: whoever named it can rely on it.
        JobFile::open(&path).map_err(|error| cannot_write(&path, &error))?;
        Ok(Self { path, mode: Mode::Append })
    }

    /// The input was not read to its end, so what it holds must stay.
    pub(super) fn keep_input(&mut self) {
        if self.mode == Mode::Replace {
            *self = Self { path: default_path(&self.path), mode: Mode::AppendIfAny };
        }
    }

    pub(super) fn write(&self, jobs: &[&CommandJob]) -> Result<(), Failure> {
        let lines: String = jobs.iter().map(|job| job_line::write(job)).collect();
        let append = || JobFile::open(&self.path)?.append(lines.as_bytes());
        let written = match self.mode {
            Mode::AppendIfAny if jobs.is_empty() => return Ok(()),
            Mode::Append | Mode::AppendIfAny => append(),
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

/// Replaces the file as a whole: at no moment is there half of it.
fn replace(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file = File::create(&beside)?;
    file.set_permissions(fs::metadata(path)?.permissions())?;
    file.write_all(lines)?;
    file.sync_data()?;
    fs::rename(&beside, path)
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::because(format!("cannot write to {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_was_not_read_whole_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("jobs.jsonl");
        fs::write(&path, "unread\n").expect("written");
        let job = job_line::parse(br#"{"command": ["true"]}"#, 1, 1).expect("a job");
        let mut unfinished = Unfinished { path: path.clone(), mode: Mode::Replace };
        unfinished.keep_input();
        unfinished.write(&[&job]).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("read"), "unread\n");
        let beside = fs::read_to_string(default_path(&path)).expect("read");
        assert_eq!(beside, job_line::write(&job));
    }
}
