//! In a file: what is written is found again, and what is not ours is left alone.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use overtake_runtime::{
    Body, DeadLetter, DeadLetterError, DeadLetters, EntryId, FileDeadLetters, FileNotice, Filter,
    Reason, SyncPolicy,
};
use tempfile::TempDir;

use super::common::letters;
use super::{keep, letter};

fn new_path() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dead.jsonl");
    (folder, path)
}

fn open(path: &Path) -> FileDeadLetters<String> {
    FileDeadLetters::open(path, SyncPolicy::Never).expect("opens")
}

fn refusal(path: &Path) -> DeadLetterError {
    FileDeadLetters::<String>::open(path, SyncPolicy::Never).expect_err("refused")
}

fn all(keeper: &FileDeadLetters<String>) -> Vec<DeadLetter<String>> {
    letters(keeper, &Filter::default())
}

/// A file with three letters in it.
fn three_letters() -> (TempDir, PathBuf) {
    let (folder, path) = new_path();
    let keeper = open(&path);
    for name in ["one", "two", "three"] {
        keep(&keeper, letter(name, format!("payload of {name}\n")));
    }
    (folder, path)
}

#[test]
fn a_letter_comes_back_as_it_went_in() {
    let (_folder, path) = new_path();
    let mut written = Vec::new();
    {
        let keeper = open(&path);
        for reason in Reason::ALL {
            let mut letter =
                DeadLetter { reason, ..letter("名前 \"quoted\"", "päy\nload".to_owned()) };
            letter.entry = keep(&keeper, letter.clone());
            written.push(letter);
        }
        let body = Body::Input { place: "in:3".to_owned(), text: "\u{0}\u{1f}{".to_owned() };
        let mut refused = DeadLetter { body, ..letter("", String::new()) };
        refused.entry = keep(&keeper, refused.clone());
        written.push(refused);
        assert_eq!(all(&keeper), written);
    }
    let keeper = open(&path);
    assert!(keeper.notices().is_empty());
    assert_eq!(all(&keeper), written);
    assert_eq!(keep(&keeper, letter("next", String::new())), EntryId(8), "numbering goes on");
}

#[test]
fn the_file_is_only_appended_to() {
    let (_folder, path) = three_letters();
    let before = fs::read(&path).expect("readable");
    let keeper = open(&path);
    let second = Filter { entry: Some(EntryId(2)), ..Filter::default() };
    assert_eq!(keeper.remove(&second).expect("writable"), 1);
    keep(&keeper, letter("four", String::new()));
    drop(keeper);
    let after = fs::read(&path).expect("readable");
    assert!(after.starts_with(&before));
    let names: Vec<_> = all(&open(&path)).iter().map(|it| it.name().to_owned()).collect();
    assert_eq!(names, ["one", "three", "four"]);
}

#[test]
fn a_purged_file_is_empty() {
    let (_folder, path) = three_letters();
    let keeper = open(&path);
    assert_eq!(keeper.remove(&Filter::default()).expect("writable"), 3);
    assert_eq!(fs::metadata(&path).expect("there").len(), 0);
    assert_eq!(keep(&keeper, letter("four", String::new())), EntryId(4));
    assert_eq!(all(&keeper)[0].name(), "four");
    drop(keeper);
    assert_eq!(all(&open(&path)).len(), 1);
}

#[test]
fn a_torn_last_line_is_cut_off_and_told_wherever_it_is_torn() {
    let (_folder, whole) = three_letters();
    let bytes = fs::read(&whole).expect("readable");
    let last_line = 1 + bytes[..bytes.len() - 1].iter().rposition(|&b| b == b'\n').expect("lines");
    // The last of these is the whole line without its end.
    for cut in last_line + 1..bytes.len() {
        let (_folder, path) = new_path();
        fs::write(&path, &bytes[..cut]).expect("writable");
        let keeper = open(&path);
        let text = String::from_utf8_lossy(bytes[last_line..cut].trim_ascii_end()).into_owned();
        assert_eq!(keeper.notices(), [FileNotice::TornLine { line: 3, text }]);
        assert_eq!(keeper.len(), 2);
        assert_eq!(keep(&keeper, letter("after it", String::new())), EntryId(3));
        drop(keeper);
        let keeper = open(&path);
        assert!(keeper.notices().is_empty(), "mended");
        assert_eq!(all(&keeper)[2].name(), "after it");
    }
}

#[test]
fn looking_mends_nothing() {
    let (_folder, path) = three_letters();
    let mut bytes = fs::read(&path).expect("readable");
    bytes.extend_from_slice(b"{\"entry\":4,\"a");
    fs::write(&path, &bytes).expect("writable");
    let view = FileDeadLetters::<String>::view(&path).expect("opens");
    assert_eq!((view.len(), view.notices().len()), (3, 1));
    assert_eq!(fs::read(&path).expect("readable"), bytes);
}

#[test]
fn a_foreign_file_is_refused_and_left_untouched() {
    let foreign: [&[u8]; 8] = [
        b"dear diary",
        b"dear diary\n",
        b"{\"name\":\"x\"}",
        b"[1,2,3]\n",
        b"{\n  \"entry\": 1\n}\n",
        b"\x7fELF\x02\x01\x00\x00\xff\xfe",
        b"id,name\n1,x\n",
        b"\0\0\0\0",
    ];
    for bytes in foreign {
        let (_folder, path) = new_path();
        fs::write(&path, bytes).expect("writable");
        let error = refusal(&path);
        assert!(matches!(error, DeadLetterError::BadLine { line: 1, .. }), "{error}");
        assert!(FileDeadLetters::<String>::view(&path).is_err());
        assert_eq!(fs::read(&path).expect("readable"), bytes, "byte for byte");
    }
}

#[test]
fn a_bad_line_in_the_middle_is_named() {
    let (_folder, path) = three_letters();
    let text = fs::read_to_string(&path).expect("readable");
    let lines: Vec<_> = text.lines().collect();
    let without_body = r#"{"entry":2,"at":0,"reason":"handler","error":""}"#;
    let unknown_reason = lines[1].replace("retries-used-up", "bad-luck");
    for bad in ["{\"entry\":2,", "null", without_body, &unknown_reason, lines[0]] {
        fs::write(&path, [lines[0], bad, lines[2], ""].join("\n")).expect("writable");
        let before = fs::read(&path).expect("readable");
        let error = refusal(&path);
        assert!(matches!(error, DeadLetterError::BadLine { line: 2, .. }), "{error}");
        assert!(error.to_string().contains("line 2"), "{error}");
        assert_eq!(fs::read(&path).expect("readable"), before);
    }
}

#[test]
fn another_payload_is_refused() {
    let (_folder, path) = three_letters();
    let opened = FileDeadLetters::<u64>::open(&path, SyncPolicy::Never);
    assert!(matches!(opened, Err(DeadLetterError::BadLine { line: 1, .. })));
    assert_eq!(all(&open(&path)).len(), 3);
}

#[test]
fn empty_lines_do_not_matter() {
    let (_folder, path) = three_letters();
    let text = fs::read_to_string(&path).expect("readable").replace('\n', "\n\n \n");
    fs::write(&path, text).expect("writable");
    let keeper = open(&path);
    assert_eq!(all(&keeper)[2].name(), "three");
    keep(&keeper, letter("four", String::new()));
    drop(keeper);
    assert_eq!(all(&open(&path))[3].name(), "four");
}

#[test]
fn one_writes_and_others_look() {
    let (_folder, path) = three_letters();
    let writer = open(&path);
    assert!(matches!(refusal(&path), DeadLetterError::InUse { .. }));
    let view = FileDeadLetters::<String>::view(&path).expect("a look is allowed");
    keep(&writer, letter("four", String::new()));
    assert_eq!(all(&view).len(), 3, "as it was when it was opened");
    assert_eq!(all(&FileDeadLetters::view(&path).expect("opens")).len(), 4);

    let refused = view.add(letter("mine", String::new()));
    let overtake_runtime::Added::NotWritten(back, error) = refused else { panic!("{refused:?}") };
    assert!(matches!(error, DeadLetterError::ReadOnly { .. }) && back.name() == "mine");
    let removed = view.remove(&Filter::default());
    assert!(matches!(removed, Err(DeadLetterError::ReadOnly { .. })));
    let redriven = view.redrive(EntryId(1), &mut |_| panic!("not from here"));
    assert!(matches!(redriven, Err(DeadLetterError::ReadOnly { .. })));

    drop(writer);
    assert_eq!(all(&open(&path)).len(), 4, "free again");
}

#[test]
fn a_look_at_a_file_that_is_not_there_makes_none() {
    let (_folder, path) = new_path();
    assert!(matches!(
        FileDeadLetters::<String>::view(&path),
        Err(DeadLetterError::Io { what: "open it", .. })
    ));
    assert!(!path.exists());
}

#[test]
fn every_sync_policy_writes_every_letter() {
    for policy in [
        SyncPolicy::Each,
        SyncPolicy::Every(Duration::ZERO),
        SyncPolicy::Every(Duration::MAX),
        SyncPolicy::Never,
    ] {
        let (_folder, path) = new_path();
        let keeper = FileDeadLetters::open(&path, policy).expect("opens");
        for name in ["one", "two"] {
            keep(&keeper, letter(name, "x".to_owned()));
        }
        keeper.sync().expect("on the disk");
        drop(keeper);
        assert_eq!(all(&open(&path)).len(), 2, "{policy:?}");
    }
}

#[test]
fn what_somebody_else_cut_off_is_an_error_and_no_panic() {
    let (_folder, path) = three_letters();
    let keeper = open(&path);
    let file = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    file.set_len(0).expect("cut");
    let shown = keeper.for_each(&Filter::default(), &mut |_| true);
    assert!(matches!(shown, Err(DeadLetterError::Io { what: "read it", .. })));
    (&file).write_all(b"{}").expect("writes");
}
