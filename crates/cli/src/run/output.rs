//! What a command prints, on its way into the log.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::io::{ioctl_fionread, read};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::log::Log;

/// How long the output of what a command has left running is still listened to. It may hold the
/// pipe for ever.
const GRACE: Duration = Duration::from_millis(100);

/// Longer lines are cut into pieces: output without line ends must not fill the memory.
const MAX_PIECE: usize = 64 * 1024;

const CHUNK: usize = 8 * 1024;

/// One of the pipes that a command prints into.
pub(super) struct Output<'a, R> {
    pipe: Option<R>,
    name: &'a str,
    log: &'a Log,
    /// What was read of a line whose end has not come yet.
    line: Vec<u8>,
}

impl<'a, R: AsyncRead + AsFd + Unpin> Output<'a, R> {
    pub(super) fn new(pipe: Option<R>, name: &'a str, log: &'a Log) -> Self {
        Self { pipe, name, log, line: Vec::new() }
    }

    /// Copies to the end. Cancelled, it has logged or kept all that was read.
    pub(super) async fn copy(&mut self) {
        let mut chunk = [0; CHUNK];
        while let Some(pipe) = &mut self.pipe
            && let Ok(length @ 1..) = pipe.read(&mut chunk).await
        {
            self.take(&chunk[..length]);
        }
        self.pipe = None;
        self.end_line();
    }

    /// Logs what the command, which has ended, had printed: all that is in the pipe now. What
    /// comes later is of others that hold the pipe, so nothing is waited for.
    pub(super) fn take_rest(&mut self) {
        if let Some(pipe) = self.pipe.take() {
            let mut left = ioctl_fionread(&pipe).map_or(0, |bytes| bytes as usize);
            let mut chunk = [0; CHUNK];
            while left > 0 {
                let length = match read(&pipe, &mut chunk[..left.min(CHUNK)]) {
                    Ok(length @ 1..) => length,
                    Err(rustix::io::Errno::INTR) => continue,
                    Ok(0) | Err(_) => break,
                };
                self.take(&chunk[..length]);
                left -= length;
            }
        }
        self.end_line();
    }

    fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(rest) => {
                    self.line.extend_from_slice(rest);
                    self.log.output(self.name, &self.line);
                    self.line.clear();
                }
                None => self.line.extend_from_slice(part),
            }
            if self.line.len() >= MAX_PIECE {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.log.output(self.name, &self.line);
            self.line.clear();
        }
    }
}

/// Listens to what a command, which has ended, has left running.
pub(super) async fn for_a_while(output: impl Future<Output = ()>) {
    let _ = timeout(GRACE, output).await;
}
