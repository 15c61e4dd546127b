//! `overtake dead-letters`: looking into a file of dead letters, and emptying it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

use overtake_runtime::{Body, DeadLetter, DeadLetters, EntryId, FileDeadLetters, Filter};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;

use crate::args::{DeadLettersArgs, DeadLettersCommand};
use crate::exit::{Exit, Failure};
use crate::job_file::{Identity, JobFile};
use crate::job_line::{self, CommandSpec};
use crate::run::open_dead_letters;
use crate::say;

type Letter = DeadLetter<CommandSpec>;

pub(crate) fn run(args: &DeadLettersArgs) -> Result<Exit, Failure> {
    match &args.command {
        DeadLettersCommand::List { which, json } => list(&which.file, &which.filter(), *json),
        DeadLettersCommand::Show { file, entry, json } => show(file, *entry, *json),
        DeadLettersCommand::Redrive { which, output } => {
            redrive(&which.file, &which.filter(), output.as_deref())
        }
        DeadLettersCommand::Purge { which } => purge(&which.file, &which.filter()),
    }
}

fn view(path: &Path) -> Result<FileDeadLetters<CommandSpec>, Failure> {
    let letters = FileDeadLetters::view(path)?;
    for notice in letters.notices() {
        say::note(&format!("{}: {notice}", path.display()));
    }
    Ok(letters)
}

/// Opens a file that must be there already, to change it.
fn open(path: &Path) -> Result<FileDeadLetters<CommandSpec>, Failure> {
    File::open(path)
        .map_err(|error| Failure::because(format!("cannot open {}", path.display()), &error))?;
    open_dead_letters(path)
}

fn list(path: &Path, filter: &Filter, json: bool) -> Result<Exit, Failure> {
    let letters = view(path)?;
    let mut text = String::new();
    let mut count = 0_u64;
    letters.for_each(filter, &mut |letter| {
        count += 1;
        text += &if json { as_json(letter) } else { as_line(letter) };
        true
    })?;
    say::stdout(text.as_bytes())?;
    if !json {
        say::note(&format!("{count} dead letters in {}", path.display()));
    }
    Ok(Exit::Fine)
}

fn show(path: &Path, entry: EntryId, json: bool) -> Result<Exit, Failure> {
    let letters = view(path)?;
    let mut text = None;
    letters.for_each(&Filter { entry: Some(entry), ..Filter::default() }, &mut |letter| {
        text = Some(if json { as_json(letter) } else { in_full(letter) });
        false
    })?;
    let missing = || Failure::new(format!("{}: there is no letter {entry}", path.display()));
    say::stdout(text.ok_or_else(missing)?.as_bytes())?;
    Ok(Exit::Fine)
}

/// The lines are all out, and as far as can be seen in other hands, before the first letter goes: a
/// crash may double jobs, it never loses one.
fn redrive(path: &Path, filter: &Filter, output: Option<&Path>) -> Result<Exit, Failure> {
    let letters = open(path)?;
    let mut output = Lines::to(output, path)?;
    let (mut redriven, mut without_job) = (Vec::new(), 0_u64);
    let mut lines = String::new();
    letters.for_each(filter, &mut |letter| {
        match letter.job() {
            Some(job) => {
                lines += &job_line::write(&job.clone().reborn());
                redriven.push(letter.entry);
            }
            None => without_job += 1,
        }
        true
    })?;
    output.add(lines.as_bytes()).and_then(|()| output.wait_until_read()).map_err(|error| {
        Failure::because(format!("cannot write to {}; all letters stay", output.name()), &error)
    })?;
    for &entry in &redriven {
        letters.remove(&Filter { entry: Some(entry), ..Filter::default() })?;
    }
    let left = if without_job > 0 {
        format!("; {without_job} letters hold no job, as their input was refused, and stay")
    } else {
        String::new()
    };
    let count = redriven.len();
    say::note(&format!("{count} jobs redriven from {}{left}", path.display()));
    Ok(Exit::Fine)
}

/// Where redriven jobs go.
enum Lines<'a> {
    Stdout,
    File(JobFile, &'a Path),
}

impl<'a> Lines<'a> {
    fn to(output: Option<&'a Path>, letters: &Path) -> Result<Self, Failure> {
        let Some(path) = output else {
            return Ok(Self::Stdout);
        };
        let identity = Identity::at(path);
        if identity.is_some() && identity == Identity::at(letters) {
            let path = path.display();
            return Err(Failure::new(format!("{path} holds the dead letters; it gets no jobs")));
        }
        let file = JobFile::open(path).map_err(|error| {
            Failure::because(format!("cannot write to {}", path.display()), &error)
        })?;
        Ok(Self::File(file, path))
    }

    fn add(&mut self, line: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(line).and_then(|()| out.flush())
            }
            Self::File(file, _) => file.append(line),
        }
    }

    /// What is in a pipe and not yet read goes with its reader. So this waits for the reader, and
    /// says if it went away before.
    fn wait_until_read(&self) -> io::Result<()> {
        let Self::Stdout = self else {
            return Ok(());
        };
        let out = io::stdout();
        if !is_pipe(&out)? {
            return Ok(());
        }
        while rustix::io::ioctl_fionread(&out)? > 0 {
            if has_no_reader(&out)? {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
        Ok(())
    }

    fn name(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Stdout => "standard output".into(),
            Self::File(_, path) => path.to_string_lossy(),
        }
    }
}

fn is_pipe(out: &impl AsFd) -> io::Result<bool> {
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(out)?.st_mode);
    Ok(kind == rustix::fs::FileType::Fifo)
}

/// Whether the last reader of a pipe has gone; waits a moment for that to happen.
fn has_no_reader(out: &impl AsFd) -> io::Result<bool> {
    let mut fds = [PollFd::new(out, PollFlags::empty())];
    let moment = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
    poll(&mut fds, Some(&moment))?;
    Ok(fds[0].revents().contains(PollFlags::ERR))
}

fn purge(path: &Path, filter: &Filter) -> Result<Exit, Failure> {
    let letters = open(path)?;
    let removed = letters.remove(filter)?;
    say::note(&format!("{removed} dead letters removed from {}", path.display()));
    Ok(Exit::Fine)
}

fn as_json(letter: &Letter) -> String {
    let mut object = json!({
        "entry": letter.entry,
        "at": humantime::format_rfc3339_millis(letter.at).to_string(),
        "reason": letter.reason,
        "error": letter.error,
    });
    match &letter.body {
        Body::Job(job) => {
            object["name"] = json!(job.name());
            object["priority"] = json!(job.priority());
            object["command"] = json!(job.payload().command);
            object["attempts"] = json!(job.attempts_made());
            object["generation"] = json!(job.generation());
            object["history"] = json!(job.history());
        }
        Body::Input { place, text } => {
            object["place"] = json!(place);
            object["line"] = json!(text);
        }
    }
    object.to_string() + "\n"
}

fn as_line(letter: &Letter) -> String {
    let at = humantime::format_rfc3339_seconds(letter.at);
    let priority = letter.job().map_or("-".to_owned(), |job| job.priority().to_string());
    let DeadLetter { entry, reason, error, .. } = letter;
    let (name, error) = (say::one_line(letter.name()), say::one_line(error));
    format!("{entry:>6}  {at}  {reason:<15}  {priority:>2}  {name}: {error}\n")
}

fn in_full(letter: &Letter) -> String {
    let mut text = String::new();
    let mut field = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<12}{value}");
    };
    field("entry", &letter.entry);
    field("at", &humantime::format_rfc3339_millis(letter.at));
    field("reason", &letter.reason);
    field("error", &letter.error);
    match &letter.body {
        Body::Input { place, text } => {
            field("place", place);
            field("line", text);
        }
        Body::Job(job) => {
            field("name", &job.name());
            field("priority", &job.priority());
            field("generation", &job.generation());
            field("command", &json!(job.payload().command));
            for failure in job.history() {
                let at = humantime::format_rfc3339_millis(failure.at);
                let ran_for = humantime::format_duration(failure.ran_for);
                let attempt = format!("attempt {}", failure.attempt);
                field(&attempt, &format_args!("{at}, after {ran_for}: {}", failure.error));
            }
        }
    }
    text
}
