//! Lines that are no jobs, and files that cannot be read: what is said, and that the rest goes on.

mod common;

use std::iter::once;

use common::{Folder, gate, jsonl, number, quick, text};
use rustix::process::Signal;
use serde_json::{Value, json};

const GOOD: &[u8] = b"{\"command\": [\"true\"]}\n";

/// Runs `bad` between two good lines, and checks all that must be told about it.
#[track_caller]
fn refused(bad: &[u8], reason: &str) -> Value {
    let folder = Folder::new();
    folder.write("jobs.jsonl", [GOOD, bad, b"\n", GOOD].concat());
    let arguments = "run jobs.jsonl --json --events events.jsonl --dead-letters dead.jsonl";
    let finished = folder.run(arguments).expect_code(1);
    let finished = finished.expect_stderr("overtake: jobs.jsonl:2: refused: ");
    let summary = finished.json();
    assert_eq!((number(&summary, "done"), number(&summary, "refused")), (2, 1));
    assert_eq!((number(&summary, "accepted"), number(&summary, "dead")), (2, 0));
    let finished = finished.expect_stderr(reason);
    assert_eq!(finished.stderr.matches("refused").count(), 1, "told once: {}", finished.stderr);

    let event = folder.json_lines("events.jsonl");
    let event = event.iter().find(|event| event["event"] == "refused").expect("told");
    assert_eq!(text(event, "name"), "jobs.jsonl:2");
    assert!(text(event, "error").contains(reason), "{event}");

    let letter = folder.run("dead-letters list dead.jsonl --json").expect_code(0).json();
    assert_eq!((text(&letter, "reason"), text(&letter, "place")), ("refused", "jobs.jsonl:2"));
    assert!(text(&letter, "error").contains(reason), "{letter}");
    letter
}

#[test]
fn each_kind_of_bad_line_costs_only_itself() {
    let table: [(&[u8], &str); 12] = [
        (b"make index", "it is not JSON: expected value at column 1"),
        (b"[\"true\"]", "it is JSON, but not an object"),
        (b"{}", "field `command` is missing"),
        (b"{\"command\": [\"true\"], \"prio\": 1}", "unknown field `prio`; the fields are: name,"),
        (b"{\"command\": [\"true\"], \"priority\": 10}", "10 is out of range; there are 10"),
        (b"{\"command\": [\"true\"], \"priority\": -1}", "-1 is not a whole number from 0"),
        (b"{\"command\": [\"true\"], \"timeout_ms\": -5}", "field `timeout_ms`: -5 is not a whole"),
        (b"{\"command\": [\"true\"], \"max_retries\": 1e3}", "1000.0 is not a whole number"),
        (b"{\"command\": []}", "field `command` is empty"),
        (b"{\"command\": \"true\"}", "is not an array of strings"),
        (b"{\"command\": [\"true\"]} {}", "it is not JSON: trailing characters at column"),
        (b"{\"command\": [\"true\"]", "it is not JSON: EOF while parsing"),
    ];
    for (line, reason) in table {
        let letter = refused(line, reason);
        assert_eq!(text(&letter, "line").as_bytes(), line);
    }
}

#[test]
fn a_line_that_is_not_utf8_is_kept_as_far_as_it_is() {
    let letter = refused(b"{\"name\": \"caf\xe9\"}", "it is not UTF-8 from byte 13 on");
    assert_eq!(text(&letter, "line"), "{\"name\": \"caf\u{fffd}\"}");
}

#[test]
fn a_line_over_a_mebibyte_is_refused_and_its_beginning_kept() {
    let mut line = b"{\"command\": [\"true\", \"".to_vec();
    line.resize(3 << 20, b'x');
    line.extend_from_slice(b"\"]}");
    let letter = refused(&line, "it is longer than 1048576 bytes");
    assert_eq!(text(&letter, "line").as_bytes(), &line[..1 << 20]);
}

#[test]
fn a_last_line_without_its_end_is_a_line() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", GOOD.trim_ascii_end());
    let summary = folder.run("run jobs.jsonl --json").expect_code(0).json();
    assert_eq!(number(&summary, "done"), 1);
}

#[test]
fn a_last_line_that_was_cut_off_is_told_as_such() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", [GOOD, &GOOD[..12]].concat());
    let finished = folder.run("run jobs.jsonl --json").expect_code(1);
    let finished =
        finished.expect_stderr("jobs.jsonl:2: refused: the input ends in it; it is not JSON");
    assert_eq!(number(&finished.json(), "done"), 1);
}

#[test]
fn line_ends_of_other_systems_and_blank_lines_are_no_trouble() {
    let folder = Folder::new();
    let lines = "{\"command\": [\"true\"]}\r\n\r\n   \n{\"command\": [\"true\"]}\r\n{\"command\"";
    folder.write("jobs.jsonl", lines);
    let finished = folder.run("run jobs.jsonl --json --events events.jsonl").expect_code(1);
    assert_eq!(number(&finished.json(), "done"), 2);
    // A job without a name has that of its line, and blank lines count.
    let mut names = folder.events("succeeded");
    names.sort();
    assert_eq!(names, ["job-1", "job-4"]);
    finished.expect_stderr("jobs.jsonl:5: refused");
}

#[test]
fn nothing_to_do_is_fine() {
    for nothing in ["", "\n\n"] {
        let folder = Folder::new();
        folder.write("jobs.jsonl", nothing);
        for hold in ["", "--hold"] {
            let run = format!("run jobs.jsonl --json {hold}");
            let summary = folder.run(&run).expect_code(0).json();
            assert_eq!((number(&summary, "accepted"), number(&summary, "refused")), (0, 0));
        }
    }
}

#[test]
fn bad_lines_of_held_and_of_piped_input_are_refused_alike() {
    let folder = Folder::new();
    let input = [b"oops\n", GOOD].concat();
    for hold in ["", "--hold"] {
        let run = format!("run - --json --dead-letters dead{hold}.jsonl {hold}");
        let finished = folder.overtake(&run).input(input.clone()).start().finish();
        let finished = finished.expect_code(1).expect_stderr("standard input:1: refused");
        assert_eq!(number(&finished.json(), "done"), 1);
        let list = folder.run(&format!("dead-letters list dead{hold}.jsonl")).expect_code(0);
        assert!(list.stdout.contains("standard input:1: it is not JSON"), "{list:?}");
    }
}

#[test]
fn a_command_that_cannot_be_started_is_dead_at_once() {
    let folder = Folder::new();
    folder.write("not-executable", "");
    let jobs =
        ["no-such-program", "./not-executable", "."].map(|program| json!({"command": [program]}));
    folder.write("jobs.jsonl", jsonl(jobs));
    let run = "run jobs.jsonl --json --dead-letters dead.jsonl";
    let summary = folder.run(run).expect_code(1).json();
    assert_eq!((number(&summary, "dead"), number(&summary, "retried")), (3, 0));
    let list = folder.run("dead-letters list dead.jsonl").stdout;
    assert!(list.contains("cannot start `no-such-program`: No such file"), "{list}");
    assert!(list.contains("cannot start `./not-executable`: Permission denied"), "{list}");
}

#[test]
fn what_cannot_be_read_or_written_is_said_before_anything_runs() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", jsonl([json!({"command": ["touch", "ran"]})]));
    folder.write("text.jsonl", "not dead letters\n");
    let table = [
        ("run missing.jsonl", "cannot read missing.jsonl: No such file"),
        ("run .", "cannot read .: it is a directory"),
        ("run jobs.jsonl --events no/where", "cannot write to no/where: No such file"),
        ("run jobs.jsonl --log no/where", "cannot write to no/where: No such file"),
        ("run jobs.jsonl --unfinished no/where", "cannot write to no/where: No such file"),
        ("run jobs.jsonl --dead-letters no/where", "no/where"),
        ("run jobs.jsonl --dead-letters text.jsonl", "text.jsonl"),
        ("run jobs.jsonl --workers 0", "invalid value '0' for '--workers"),
        ("run jobs.jsonl --priorities 33", "invalid value '33' for '--priorities"),
        ("run jobs.jsonl --retry often", "expected `none`, `fixed:1s`"),
        ("run jobs.jsonl --shutdown-timeout soon", "`soon` is no duration"),
    ];
    for (arguments, said) in table {
        folder.run(arguments).expect_code(2).expect_stderr(said);
    }
    assert!(!folder.path("ran").exists());
    assert_eq!(folder.read("text.jsonl"), "not dead letters\n");
}

#[test]
fn a_file_with_two_uses_is_refused_and_stays_as_it_is() {
    let folder = Folder::new();
    let jobs = jsonl(quick(2));
    folder.write("jobs.jsonl", &jobs);
    std::fs::hard_link(folder.path("jobs.jsonl"), folder.path("link")).expect("linked");
    let table = [
        ("run jobs.jsonl --events ./jobs.jsonl", "--events: ./jobs.jsonl is the input as well"),
        ("run jobs.jsonl --log link", "--log: link is the input as well"),
        ("run link --dead-letters jobs.jsonl", "--dead-letters: jobs.jsonl is the input as well"),
        ("run jobs.jsonl --events new --log new", "--log: new is --events as well"),
        ("run jobs.jsonl --unfinished ./new --log new", "--log: new is --unfinished as well"),
    ];
    for (arguments, said) in table {
        folder.run(arguments).expect_code(2).expect_stderr(said);
        assert_eq!(folder.read("jobs.jsonl"), jobs);
    }
    folder.run("run jobs.jsonl --events /dev/null --log /dev/null").expect_code(0);
}

#[test]
fn events_that_cannot_be_written_are_a_failure_but_the_jobs_run() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", jsonl(quick(3)));
    let finished = folder.run("run jobs.jsonl --json --events /dev/full").expect_code(2);
    let finished = finished.expect_stderr("the events in /dev/full are incomplete");
    assert_eq!(number(&finished.json(), "done"), 3);
}

#[test]
fn unfinished_jobs_that_cannot_be_written_are_printed() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", jsonl(once(gate()).chain(quick(2))));
    let run = "run jobs.jsonl --workers 1 --capacity 1 --priorities 1 --events events.jsonl";
    let running = folder.overtake(&format!("{run} --unfinished /dev/full")).start();
    folder.wait_for_events("started", 1);
    running.signal(Signal::INT);
    folder.wait_for_events("returned", 2);
    folder.write("open", "");
    let finished = running.finish().expect_code(2).expect_stderr("cannot write to /dev/full");
    for name in ["job 0", "job 1"] {
        let line = format!("{{\"name\":\"{name}\",\"priority\":0,\"command\":[\"true\"]}}\n");
        assert!(finished.stderr.contains(&line), "{finished:?}");
    }
}
