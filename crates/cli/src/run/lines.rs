//! Lines of a file or a pipe, also while they arrive, until the input ends or a signal comes.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};

use crate::exit::Failure;
use crate::job_file::Identity;

/// Lines longer than this are refused without being kept.
pub(super) const MAX_LINE: usize = 1024 * 1024;

/// A file, a pipe or a terminal, opened.
pub(super) struct Input {
    file: File,
    /// What it is called in messages.
    name: String,
    /// A file has all of its lines already, so even after a signal they are read and handed
    /// back. A pipe or a terminal may never end.
    is_file: bool,
    /// `None` for what is no file.
    pub(super) identity: Option<Identity>,
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let cannot = |error| Failure::because(format!("cannot read {}", path.display()), &error);
        let (file, name) = if path.as_os_str() == "-" {
            let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(cannot)?;
            (File::from(stdin), "standard input".to_owned())
        } else {
            (File::open(path).map_err(cannot)?, path.display().to_string())
        };
        let metadata = file.metadata().map_err(cannot)?;
        if metadata.is_dir() {
            return Err(Failure::new(format!("cannot read {name}: it is a directory")));
        }
        let identity = Identity::of(&metadata);
        Ok(Self { file, name, is_file: metadata.is_file(), identity })
    }
}

/// Reads lines. Never blocks in a read that a signal could not end.
pub(super) struct Lines {
    input: Input,
    /// Readable once a signal has come.
    wake: OwnedFd,
    buffer: Vec<u8>,
    read_to: usize,
    number: u64,
    ended: bool,
}

/// A line with its number, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    /// Without its end.
    pub(super) bytes: Vec<u8>,
    pub(super) end: LineEnd,
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// As a line should.
    Whole,
    /// The input ends first.
    InputEnded,
    /// A signal came first.
    Interrupted,
    /// It goes on beyond [`MAX_LINE`].
    TooLong,
}

impl Lines {
    pub(super) fn new(input: Input, wake: OwnedFd) -> Self {
        Self { input, wake, buffer: Vec::new(), read_to: 0, number: 0, ended: false }
    }

    /// What the input is called in messages.
    pub(super) fn name(&self) -> &str {
        &self.input.name
    }

    /// The next line that is not blank; `None` at the end of the input, or of what a signal lets
    /// be read.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let Some(line) = self.next_even_blank()? else {
                return Ok(None);
            };
            if !line.bytes.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
    }

    fn next_even_blank(&mut self) -> io::Result<Option<Line>> {
        loop {
            let unread = &self.buffer[self.read_to..];
            if let Some(length) = unread.iter().position(|&byte| byte == b'\n') {
                let end = if length > MAX_LINE { LineEnd::TooLong } else { LineEnd::Whole };
                return Ok(Some(self.cut(length, 1, end)));
            }
            let length = unread.len();
            if length > MAX_LINE {
                self.skip_to_line_end()?;
                return Ok(Some(self.cut(MAX_LINE, 0, LineEnd::TooLong)));
            }
            if self.ended || !self.fill()? {
                self.ended = true;
                let end =
                    if self.interrupted()? { LineEnd::Interrupted } else { LineEnd::InputEnded };
                return Ok((length > 0).then(|| self.cut(length, 0, end)));
            }
        }
    }

    fn cut(&mut self, length: usize, end_length: usize, end: LineEnd) -> Line {
        let start = self.read_to;
        let bytes = self.buffer[start..start + length.min(MAX_LINE)].trim_ascii_end().to_vec();
        self.read_to = start + length + end_length;
        self.number += 1;
        Line { number: self.number, bytes, end }
    }

    /// Drops the rest of a line that is too long from the input, and keeps its beginning.
    fn skip_to_line_end(&mut self) -> io::Result<()> {
        let start = self.read_to;
        loop {
            let rest = &self.buffer[start + MAX_LINE..];
            if let Some(length) = rest.iter().position(|&byte| byte == b'\n') {
                self.buffer.drain(start + MAX_LINE..=start + MAX_LINE + length);
                return Ok(());
            }
            self.buffer.truncate(start + MAX_LINE);
            if !self.fill()? {
                self.ended = true;
                return Ok(());
            }
        }
    }

    /// Reads more; `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        const CHUNK: usize = 64 * 1024;
        if !self.input.is_file && self.wait_readable()? == Ready::Signal {
            return Ok(false);
        }
        if self.read_to >= CHUNK {
            self.buffer.drain(..self.read_to);
            self.read_to = 0;
        }
        let filled = self.buffer.len();
        self.buffer.resize(filled + CHUNK, 0);
        let read = loop {
            match self.input.file.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(filled + *read.as_ref().unwrap_or(&0));
        read.map(|read| read > 0)
    }

    fn wait_readable(&self) -> io::Result<Ready> {
        loop {
            let mut fds = [readable(self.input.file.as_fd()), readable(self.wake.as_fd())];
            match poll(&mut fds, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) if !fds[1].revents().is_empty() => return Ok(Ready::Signal),
                Ok(_) if !fds[0].revents().is_empty() => return Ok(Ready::Input),
                Ok(_) => {}
            }
        }
    }

    fn interrupted(&self) -> io::Result<bool> {
        let mut fds = [readable(self.wake.as_fd())];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        Ok(!self.input.is_file && poll(&mut fds, Some(&now))? > 0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ready {
    Input,
    Signal,
}

fn readable(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, Write};

    use super::*;

    /// Lines of a file with this text, and the other end of the signal's pipe.
    fn lines_of(text: &[u8]) -> (Lines, PipeWriter) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text).expect("written");
        let (wake, signal) = io::pipe().expect("a pipe");
        (Lines::new(Input::open(file.path()).expect("opened"), wake.into()), signal)
    }

    fn all(lines: &mut Lines) -> Vec<(u64, String, LineEnd)> {
        std::iter::from_fn(|| lines.next().expect("readable"))
            .map(|line| (line.number, String::from_utf8_lossy(&line.bytes).into_owned(), line.end))
            .collect()
    }

    #[test]
    fn blank_lines_count_but_are_no_lines() {
        let (mut lines, _signal) = lines_of(b"a\r\n\n  \nb\nc");
        let expected =
            [(1, "a", LineEnd::Whole), (4, "b", LineEnd::Whole), (5, "c", LineEnd::InputEnded)];
        let expected = expected.map(|(number, text, end)| (number, text.to_owned(), end));
        assert_eq!(all(&mut lines), expected);
    }

    #[test]
    fn a_line_that_is_too_long_costs_only_itself() {
        for extra in [1, 200_000, 3 * MAX_LINE] {
            let mut text = vec![b'x'; MAX_LINE + extra];
            text.extend_from_slice(b"\nnext\n");
            let (mut lines, _signal) = lines_of(&text);
            let read = all(&mut lines);
            assert_eq!(read[0].2, LineEnd::TooLong);
            assert_eq!(read[0].1.len(), MAX_LINE);
            assert_eq!(read[1..], [(2, "next".to_owned(), LineEnd::Whole)]);
        }
    }

    #[test]
    fn a_signal_ends_a_pipe_and_keeps_what_was_read() {
        let (input, mut writer) = io::pipe().expect("a pipe");
        let (wake, mut signal) = io::pipe().expect("a pipe");
        let file = File::from(OwnedFd::from(input));
        let input = Input { file, name: "pipe".to_owned(), is_file: false, identity: None };
        let mut lines = Lines::new(input, wake.into());
        writer.write_all(b"one\ntwo\nhal").expect("room in the pipe");
        assert_eq!(lines.next().expect("readable").expect("a line").bytes, b"one");
        signal.write_all(b"!").expect("room in the pipe");
        let expected = [(2, "two", LineEnd::Whole), (3, "hal", LineEnd::Interrupted)];
        assert_eq!(all(&mut lines), expected.map(|(n, text, end)| (n, text.to_owned(), end)));
    }
}
