//! SIGINT and SIGTERM: whatever they interrupt, every job is accounted for.

mod common;

use std::fs::File;
use std::io::{self, Read, Write};
use std::iter::once;
use std::os::unix::fs::symlink;
use std::process::Command;

use common::{Folder, Running, gate, is_alive, jsonl, number, quick, text, until};
use rustix::io::ioctl_fionread;
use rustix::process::Signal;
use serde_json::json;

/// Of 31 jobs one runs, 3 wait, and the others wait for room.
const JOBS: usize = 30;
const LATE: usize = 27;

/// A run of 31 jobs from `jobs.jsonl`, at the moment at which it cannot go on without [`open`].
fn in_mid_run(folder: &Folder, arguments: &str) -> Running {
    folder.write("jobs.jsonl", jsonl(once(gate()).chain(quick(JOBS))));
    let all = "--workers 1 --capacity 4 --priorities 1 --json --events events.jsonl";
    let running = folder.overtake(&format!("run {arguments} {all}")).start();
    folder.wait_for_events("started", 1);
    folder.wait_for_events("submitted", 1 + JOBS - LATE);
    running
}

fn names_of(folder: &Folder, file: &str) -> Vec<String> {
    folder.json_lines(file).iter().map(|job| text(job, "name").to_owned()).collect()
}

/// All 31 names once, in these lists together.
fn assert_each_once(lists: [Vec<String>; 2]) {
    let mut all = lists.concat();
    all.sort();
    let mut expected: Vec<_> = once(gate()).chain(quick(JOBS)).collect();
    expected.sort_by_key(|job| text(job, "name").to_owned());
    let expected: Vec<_> = expected.iter().map(|job| text(job, "name")).collect();
    assert_eq!(all, expected);
}

#[test]
fn the_first_signal_drains_and_the_rest_is_input_for_the_next_run() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = Folder::new();
        let running = in_mid_run(&folder, "jobs.jsonl");
        running.signal(signal);
        // The file is read on, to hand back what is in it.
        folder.wait_for_events("returned", LATE);
        folder.write("open", "");
        let finished = running.finish().expect_code(3);
        let finished = finished.expect_stderr("27 unfinished jobs are in jobs.jsonl.unfinished");
        let summary = finished.json();
        assert_eq!(number(&summary, "accepted"), 31);
        assert_eq!((number(&summary, "done"), number(&summary, "returned")), (4, 27));
        assert_eq!(number(&summary["bands"][0], "accepted"), 31);
        let before = folder.events("succeeded");

        let again = "run jobs.jsonl.unfinished.jsonl --json --events events.jsonl";
        let summary = folder.run(again).expect_code(0).json();
        assert_eq!(number(&summary, "done"), 27);
        assert_each_once([before, folder.events("succeeded")]);
    }
}

#[test]
fn the_second_signal_stops_after_what_runs() {
    let folder = Folder::new();
    let running = in_mid_run(&folder, "jobs.jsonl --unfinished rest.jsonl");
    running.signal(Signal::INT);
    folder.wait_for_events("returned", LATE);
    running.signal(Signal::TERM);
    folder.wait_for_events("returned", JOBS);
    folder.write("open", "");
    let summary = running.finish().expect_code(3).json();
    assert_eq!((number(&summary, "done"), number(&summary, "returned")), (1, 30));
    assert_eq!(folder.events("succeeded"), ["gate"]);
    assert_each_once([vec!["gate".to_owned()], names_of(&folder, "rest.jsonl")]);
}

#[test]
fn the_third_signal_kills_what_runs() {
    let folder = Folder::new();
    let sleeper =
        json!({"name": "sleeper", "command": ["sh", "-c", "echo $$ > pid; sleep 60; true"]});
    folder.write("jobs.jsonl", jsonl(once(sleeper.clone()).chain(quick(2))));
    let arguments =
        "run jobs.jsonl --workers 1 --capacity 2 --priorities 1 --json --events events.jsonl";
    let running = folder.overtake(arguments).start();
    until("the pid", || folder.path("pid").exists() && folder.read("pid").ends_with('\n'));
    folder.wait_for_events("submitted", 2);
    for nth in 1..=3 {
        running.signal(Signal::INT);
        folder.wait_for_events("returned", nth);
    }
    let summary = running.finish().expect_code(3).json();
    assert_eq!((number(&summary, "done"), number(&summary, "returned")), (0, 3));
    assert!(!is_alive(folder.read("pid").trim().parse().expect("a pid")));
    let rest = folder.json_lines("jobs.jsonl.unfinished.jsonl");
    let killed = rest.iter().find(|job| job["name"] == "sleeper").expect("handed back");
    assert_eq!(killed["command"], sleeper["command"]);
    assert!(killed["attempts_made"].is_null(), "to be killed is no failure: {killed}");
}

#[test]
fn a_pipe_that_stays_open_is_left() {
    let folder = Folder::new();
    let arguments = "run --workers 1 --json --events events.jsonl --dead-letters dead.jsonl";
    let (running, mut pipe) = folder.overtake(arguments).start_with_pipe();
    pipe.write_all(jsonl(quick(3)).as_bytes()).expect("it reads");
    folder.wait_for_events("succeeded", 3);
    running.signal(Signal::TERM);
    let summary = running.finish().expect_code(0).json();
    assert_eq!(number(&summary, "done"), 3);

    // What the first run wrote must not be taken for the second one's.
    std::fs::remove_file(folder.path("events.jsonl")).expect("written");
    let (running, mut pipe) = folder.overtake(arguments).start_with_pipe();
    pipe.write_all(b"{\"command\": [\"true\"]}\n{\"command\": [\"tr").expect("it reads");
    folder.wait_for_events("succeeded", 1);
    until("the half line is read", || ioctl_fionread(&pipe) == Ok(0));
    running.signal(Signal::INT);
    running.finish().expect_code(1).expect_stderr("standard input:2: refused: a signal came");
    let letter = folder.run("dead-letters list dead.jsonl --json").expect_code(0).json();
    assert_eq!(text(&letter, "line"), "{\"command\": [\"tr");
    assert!(!folder.path("overtake.unfinished.jsonl").exists());
}

#[test]
fn held_jobs_are_handed_back_unstarted() {
    let folder = Folder::new();
    let arguments = "run --hold --json --events events.jsonl";
    let (running, mut pipe) = folder.overtake(arguments).start_with_pipe();
    pipe.write_all(jsonl(quick(JOBS)).as_bytes()).expect("it reads");
    until("all is read", || ioctl_fionread(&pipe) == Ok(0));
    running.signal(Signal::INT);
    let summary = running.finish().expect_code(3).json();
    assert_eq!((number(&summary, "accepted"), number(&summary, "returned")), (30, 30));
    assert!(folder.events("started").is_empty());
    assert_eq!(folder.events("submitted").len(), JOBS);
    assert_eq!(names_of(&folder, "overtake.unfinished.jsonl").len(), JOBS);
}

#[test]
fn a_named_pipe_that_nobody_opens_can_be_left() {
    let folder = Folder::new();
    let fifo = folder.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let running = folder.overtake("run fifo").start();
    until("it runs", || is_in_open(&running));
    running.signal(Signal::TERM);
    assert_eq!(running.finish().code, None, "the signal has ended it");
}

/// Whether the process sleeps, which it does nowhere before it opens its input.
fn is_in_open(running: &Running) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", running.id())).expect("it runs");
    let is_ours = std::fs::read_to_string(format!("/proc/{}/comm", running.id())).expect("it runs");
    is_ours.trim() == "overtake" && stat.contains(") S ")
}

#[test]
fn runs_of_an_interrupted_job_are_its_limit_plus_one() {
    let folder = Folder::new();
    let job = json!({"name": "fails", "command": ["false"], "max_retries": 3});
    folder.write("jobs.jsonl", jsonl([job]));
    let first = "run jobs.jsonl --retry fixed:1h --unfinished rest.jsonl --events events.jsonl";
    let running = folder.overtake(first).start();
    folder.wait_for_events("retrying", 1);
    running.signal(Signal::TERM);
    running.finish().expect_code(3);
    let mut runs = folder.events("started").len();
    assert_eq!(number(&folder.json_lines("rest.jsonl")[0], "attempts_made"), 1);

    folder.run("run rest.jsonl --retry fixed:1ms --events events.jsonl").expect_code(1);
    runs += folder.events("started").len();
    assert_eq!(runs, 4);
}

#[test]
fn the_input_is_replaced_if_it_is_the_unfinished_file() {
    let (by_name, by_link, by_stdin) = ("jobs.jsonl", "./link", "-");
    for input in [by_name, by_link, by_stdin] {
        let folder = Folder::new();
        symlink("jobs.jsonl", folder.path("link")).expect("linked");
        folder.write("jobs.jsonl", jsonl(once(gate()).chain(quick(JOBS))));
        let all = "--workers 1 --capacity 4 --priorities 1 --events events.jsonl";
        let unfinished = if input == by_name { "link" } else { "jobs.jsonl" };
        let run = folder.overtake(&format!("run {input} {all} --unfinished {unfinished}"));
        let run = match input {
            "-" => run.stdin(File::open(folder.path("jobs.jsonl")).expect("there")),
            _ => run,
        };
        let running = run.start();
        folder.wait_for_events("started", 1);
        folder.wait_for_events("submitted", 4);
        running.signal(Signal::INT);
        folder.wait_for_events("returned", LATE);
        folder.write("open", "");
        running.finish().expect_code(3);
        let done = folder.events("succeeded");
        assert_each_once([done, names_of(&folder, "jobs.jsonl")]);
        assert!(folder.path("link").is_symlink());
    }
}

#[test]
fn another_unfinished_file_keeps_what_it_holds() {
    let folder = Folder::new();
    folder.write("rest.jsonl", r#"{"name": "older", "command": ["true"]}"#);
    let running = in_mid_run(&folder, "jobs.jsonl --unfinished rest.jsonl");
    running.signal(Signal::INT);
    folder.wait_for_events("returned", LATE);
    folder.write("open", "");
    running.finish().expect_code(3);
    let names = names_of(&folder, "rest.jsonl");
    assert_eq!((names.len(), &*names[0]), (LATE + 1, "older"));

    folder.run("run rest.jsonl --unfinished rest.jsonl --json").expect_code(0);
    assert_eq!(folder.read("rest.jsonl"), "", "all of it was done");
}

#[test]
fn nobody_reading_standard_error_cannot_keep_it_from_ending() {
    let folder = Folder::new();
    let noisy = json!({"name": "noisy", "command": ["sh", "-c", "echo $$ > pid; exec yes"]});
    folder.write("jobs.jsonl", jsonl(once(noisy).chain(quick(2))));
    let (mut unread, stderr) = io::pipe().expect("a pipe");
    let arguments =
        "run jobs.jsonl --workers 1 --capacity 2 --priorities 1 --events events.jsonl --json";
    let running = folder.overtake(arguments).stderr(stderr).start();
    folder.wait_for_events("submitted", 2);
    until("the pipe is full", || ioctl_fionread(&unread).is_ok_and(|bytes| bytes > 60_000));
    for nth in 1..=2 {
        running.signal(Signal::INT);
        folder.wait_for_events("returned", nth);
    }
    running.signal(Signal::INT);
    let rest = "jobs.jsonl.unfinished.jsonl";
    until("the unfinished file", || folder.json_lines(rest).len() == 3);
    assert!(names_of(&folder, rest).contains(&"noisy".to_owned()));

    let reader = std::thread::spawn(move || unread.read_to_end(&mut Vec::new()));
    running.finish().expect_code(3);
    reader.join().expect("reads only").expect("readable");
    let pid = folder.read("pid").trim().parse().expect("a pid");
    until("the command has ended", || !is_alive(pid));
}
