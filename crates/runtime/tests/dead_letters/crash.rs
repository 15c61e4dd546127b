//! A process that is killed while it writes loses no letter that was acknowledged.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use overtake_runtime::{DeadLetters, EntryId, FileDeadLetters, Filter, SyncPolicy};

use super::common::letters;
use super::{keep, letter};

const PATH: &str = "OVERTAKE_TEST_KILLED_WRITER";

/// Only does something in the child process of the test below: adds letters, removes every third,
/// and tells each step once it is acknowledged.
#[test]
fn child_that_is_killed() {
    let Ok(path) = std::env::var(PATH) else {
        return;
    };
    let policy = if path.ends_with("each") { SyncPolicy::Each } else { SyncPolicy::Never };
    let keeper = FileDeadLetters::<String>::open(&path, policy).expect("opens");
    let mut out = std::io::stdout();
    // The test harness has begun a line.
    writeln!(out).expect("a pipe");
    loop {
        let entry = keep(&keeper, letter("killed", "x".repeat(700)));
        writeln!(out, "kept {entry}").expect("a pipe");
        if entry.0.is_multiple_of(3) {
            let filter = Filter { entry: Some(entry), ..Filter::default() };
            assert_eq!(keeper.remove(&filter).expect("writable"), 1);
            writeln!(out, "gone {entry}").expect("a pipe");
        }
    }
}

/// What a killed child has told: letters kept and letters gone.
#[derive(Default)]
struct Told {
    kept: BTreeSet<EntryId>,
    gone: BTreeSet<EntryId>,
}

impl Told {
    fn hear(&mut self, line: &str) {
        let entry = |text: &str| EntryId(text.parse().expect("a number"));
        if let Some(text) = line.strip_prefix("kept ") {
            self.kept.insert(entry(text));
        } else if let Some(text) = line.strip_prefix("gone ") {
            self.gone.insert(entry(text));
        }
    }
}

/// Starts a child, kills it after so many lines, and reads all that it has told.
fn told_until_killed(path: &Path, lines: usize) -> Told {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "crash::child_that_is_killed"])
        .env(PATH, path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut told = Told::default();
    for line in output.by_ref().map_while(Result::ok) {
        told.hear(&line);
        if told.kept.len() >= lines {
            child.kill().expect("its parent may");
            break;
        }
    }
    output.map_while(Result::ok).for_each(|line| told.hear(&line));
    assert!(!child.wait().expect("ends").success(), "killed, not failed");
    told
}

fn no_acknowledged_letter_is_lost(file_name: &str, rounds: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file_name);
    let mut expected = BTreeSet::new();
    for round in 0..rounds {
        let told = told_until_killed(&path, 1 + round * 7 % 40);
        expected.extend(&told.kept);
        expected.retain(|entry| !told.gone.contains(entry));

        let keeper = FileDeadLetters::<String>::open(&path, SyncPolicy::Never).expect("opens");
        let letters = letters(&keeper, &Filter::default());
        assert!(letters.iter().all(|it| it.job().is_some_and(|job| job.payload().len() == 700)));
        let found: BTreeSet<_> = letters.iter().map(|letter| letter.entry).collect();
        // The last step may have been made and not told.
        let lost: Vec<_> = expected.difference(&found).collect();
        assert!(
            lost.iter().all(|it| it.0.is_multiple_of(3)) && lost.len() <= 1,
            "{round}: lost {lost:?}"
        );
        let untold = found.difference(&expected).count();
        assert!(untold + lost.len() <= 1, "{round}: {untold} are there that nobody told of");
        expected = found;
    }
}

#[test]
fn g6_killed_without_syncing() {
    no_acknowledged_letter_is_lost("never", 20);
}

#[test]
fn g6_killed_while_syncing_each_line() {
    no_acknowledged_letter_is_lost("each", 20);
}
