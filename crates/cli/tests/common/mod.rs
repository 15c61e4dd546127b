//! Runs the command as a process of its own, in a folder of its own, watched by the clock.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// How long anything may take before it counts as stuck.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(60);

/// A folder in which the command runs; it goes with the test.
pub(crate) struct Folder(tempfile::TempDir);

/// The command, not yet started.
pub(crate) struct Overtake {
    command: Command,
    input: Option<Vec<u8>>,
}

/// The command while it runs.
pub(crate) struct Running {
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

/// What the command left.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The whole lines of a file, also while it is written; none if it is not there yet.
    pub(crate) fn json_lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// The names in these events of `events.jsonl`, in order.
    pub(crate) fn events(&self, event: &str) -> Vec<String> {
        let lines = self.json_lines("events.jsonl");
        let these = lines.iter().filter(|line| line["event"] == event);
        these.map(|line| text(line, "name").to_owned()).collect()
    }

    /// Waits until `events.jsonl` has as many of these events.
    pub(crate) fn wait_for_events(&self, event: &str, count: usize) {
        until(&format!("{count} times `{event}`"), || self.events(event).len() >= count);
    }

    /// The command with these arguments, separated by blanks.
    pub(crate) fn overtake(&self, arguments: &str) -> Overtake {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overtake"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Overtake { command, input: None }
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, arguments: &str) -> Finished {
        self.overtake(arguments).start().finish()
    }
}

impl Overtake {
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// What it reads from standard input, to the end.
    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    pub(crate) fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.command.stdin(stdin);
        self
    }

    pub(crate) fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    pub(crate) fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.command.stderr(stderr);
        self
    }

    /// Starts it, and collects what it prints unless that was sent elsewhere.
    pub(crate) fn start(mut self) -> Running {
        if self.input.is_some() {
            self.command.stdin(Stdio::piped());
        }
        let mut running = Self::spawn(&mut self.command);
        if let Some(bytes) = self.input {
            let mut stdin = running.child.stdin.take().expect("piped");
            // It may well end before it has read everything.
            thread::spawn(move || stdin.write_all(&bytes));
        }
        running
    }

    /// Starts it with a pipe to standard input that stays open.
    pub(crate) fn start_with_pipe(mut self) -> (Running, ChildStdin) {
        let mut running = Self::spawn(self.command.stdin(Stdio::piped()));
        let stdin = running.child.stdin.take().expect("piped");
        (running, stdin)
    }

    fn spawn(command: &mut Command) -> Running {
        let mut child = command.spawn().expect("started");
        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        Running { child, stdout, stderr }
    }
}

impl Running {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("its own child").is_some()
    }

    /// Waits for its end. Kills it, and fails, if it does not come.
    pub(crate) fn finish(mut self) -> Finished {
        let started = Instant::now();
        let mut stuck = false;
        while !self.has_ended() {
            if started.elapsed() > WATCHDOG && !stuck {
                stuck = true;
                let _ = self.child.kill();
            }
            thread::sleep(Duration::from_millis(2));
        }
        let code = self.child.wait().expect("its own child").code();
        let text = |thread: Option<JoinHandle<Vec<u8>>>| {
            let bytes = thread.map(|thread| thread.join().expect("reads only"));
            String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
        };
        let finished = Finished { code, stdout: text(self.stdout), stderr: text(self.stderr) };
        assert!(!stuck, "it was stuck: {finished:#?}");
        finished
    }
}

impl Finished {
    /// The JSON object on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn expect_stderr(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "`{part}` is not said: {self:#?}");
        self
    }
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("readable");
        bytes
    })
}

/// Polls until something has come true.
#[track_caller]
pub(crate) fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < WATCHDOG, "did not come: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A number in a JSON object.
#[track_caller]
pub(crate) fn number(object: &Value, field: &str) -> u64 {
    object[field].as_u64().unwrap_or_else(|| panic!("no number `{field}` in {object}"))
}

/// A string in a JSON object.
#[track_caller]
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object[field].as_str().unwrap_or_else(|| panic!("no text `{field}` in {object}"))
}

/// `lines` as a file.
pub(crate) fn jsonl(lines: impl IntoIterator<Item = Value>) -> String {
    lines.into_iter().fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").expect("a string");
        text
    })
}

/// Whether a process is there and has not ended.
pub(crate) fn is_alive(pid: i32) -> bool {
    let Ok(stat) = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")) else {
        return false;
    };
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// A job that runs until the file `open` is there.
pub(crate) fn gate() -> Value {
    let script = "until [ -e open ]; do sleep 0.01; done";
    serde_json::json!({"name": "gate", "command": ["sh", "-c", script]})
}

/// Jobs that succeed at once, named `job 0` and so on.
pub(crate) fn quick(count: usize) -> impl Iterator<Item = Value> {
    let job = |number| serde_json::json!({"name": format!("job {number}"), "command": ["true"]});
    (0..count).map(job)
}
