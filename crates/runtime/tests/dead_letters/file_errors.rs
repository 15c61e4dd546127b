//! Letters that cannot be written come back.

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::process::Command;

use overtake_runtime::{
    Added, Builder, DeadLetterError, DeadLetters, FileDeadLetters, Filter, Job, Reason, SyncPolicy,
};
use serde::{Deserialize, Serialize, Serializer};

use super::common::{assert_balance, letters};
use super::{keep, letter};

/// A payload that refuses to be written if it is odd.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct OnlyEven(u32);

impl Serialize for OnlyEven {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(2) {
            (self.0,).serialize(to)
        } else {
            Err(serde::ser::Error::custom("odd"))
        }
    }
}

#[test]
fn g6_a_letter_that_cannot_be_written_is_in_the_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dead.jsonl");
    let keeper = FileDeadLetters::<OnlyEven>::open(&path, SyncPolicy::Never).expect("opens");
    let runtime = Builder::new().priorities(1).dead_letters(keeper).manual().expect("valid");
    for number in 0..4 {
        runtime
            .publish_dead(Job::new("dead", OnlyEven(number)), Reason::Handler, "no")
            .expect("open");
    }
    let report = runtime.stop();
    assert_balance(&report);
    assert_eq!((report.totals.dead, runtime.dead_letters().len()), (4, 2));
    let unwritten: Vec<_> =
        report.unwritten.iter().filter_map(|(letter, _)| Some(letter.job()?.payload().0)).collect();
    assert_eq!(unwritten, [1, 3]);
    assert!(matches!(report.unwritten[0].1, DeadLetterError::Io { what: "write to it", .. }));
    let lines = fs::read_to_string(&path).expect("readable").lines().count();
    assert_eq!(lines, 2, "nothing of the others is in the file");
}

#[test]
fn what_is_no_regular_file_is_refused() {
    for path in ["/dev/null", "/dev/full", "/dev/zero"] {
        let opened = FileDeadLetters::<u32>::open(path, SyncPolicy::Each);
        assert!(matches!(opened, Err(DeadLetterError::Io { .. })), "{path}");
        assert!(FileDeadLetters::<u32>::view(path).is_err(), "{path}");
    }
}

const FULL_DISK: &str = "OVERTAKE_TEST_FULL_DISK";

/// Only does something in the child process of the test below: writes until the file may not
/// grow any more.
#[test]
fn child_that_fills_the_disk() {
    let Ok(path) = std::env::var(FULL_DISK) else {
        return;
    };
    let keeper = FileDeadLetters::<String>::open(&path, SyncPolicy::Each).expect("opens");
    let size = Cell::new(1);
    let add = || keeper.add(letter("long", "x".repeat(size.replace(size.get() + 97))));
    let (back, error) = loop {
        match add() {
            Added::Kept(_) => {}
            Added::NotWritten(back, error) => break (back, error),
            Added::KeptForOldest(_) | Added::RefusedFull => unreachable!("a file has no limit"),
        }
    };
    assert_eq!(back.job().expect("a job").payload().len(), size.get() - 97);
    assert!(matches!(error, DeadLetterError::Io { what: "write to it", .. }), "{error}");
    assert!(matches!(add(), Added::NotWritten(..)), "still full");
    // A short letter may still fit, and follows a whole line.
    size.set(0);
    let short = matches!(add(), Added::Kept(_));
    writeln!(std::io::stdout(), "\nkept {} {short}", keeper.len()).expect("a pipe");
}

#[test]
fn a_full_disk_hands_the_letter_back_and_leaves_no_torn_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dead.jsonl");
    // Without the trap the signal would end the process where a full disk only fails the write.
    let limited = r#"trap '' XFSZ; ulimit -f 16; exec "$0" "$@""#;
    let child = Command::new("sh")
        .args(["-c", limited])
        .arg(std::env::current_exe().expect("this test"))
        .args(["--exact", "file_errors::child_that_fills_the_disk"])
        .env(FULL_DISK, &path)
        .output()
        .expect("a shell");
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{output}");
    let kept = output.lines().find_map(|line| line.strip_prefix("kept ")).expect("told");
    let (kept, short) = kept.split_once(' ').expect("two words");

    let keeper = FileDeadLetters::<String>::open(&path, SyncPolicy::Never).expect("opens");
    assert!(keeper.notices().is_empty(), "{:?}", keeper.notices());
    assert_eq!(keeper.len().to_string(), kept, "what was acknowledged, and no more");
    let last = letters(&keeper, &Filter::default()).pop().expect("some");
    assert_eq!(last.job().expect("a job").payload().is_empty(), short == "true");
    keep(&keeper, letter("goes on", String::new()));
}
