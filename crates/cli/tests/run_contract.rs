//! What `overtake run` promises to those who read its summary and its events.

mod common;

use std::collections::BTreeMap;

use common::{Finished, Folder, jsonl, number, text};
use serde_json::{Value, json};

const JOBS: u64 = 400;
const PRIORITIES: u64 = 4;

/// One job in ten fails, each priority has its share, and names are in order of submission.
fn many_jobs() -> String {
    jsonl((0..JOBS).map(|job| {
        let command = if job % 10 == 3 { "false" } else { "true" };
        let priority = (job * 7 / 3) % PRIORITIES;
        json!({"name": format!("{job:04}"), "priority": priority, "command": [command]})
    }))
}

fn run_many(arguments: &str) -> (Folder, Finished) {
    let folder = Folder::new();
    folder.write("jobs.jsonl", many_jobs());
    let all = "run jobs.jsonl --json --events events.jsonl --dead-letters dead.jsonl --log log.txt \
               --retry fixed:1ms --max-retries 2";
    let finished = folder.run(&format!("{all} {arguments}"));
    (folder, finished)
}

#[track_caller]
fn assert_balanced(summary: &Value) {
    let [accepted, done, dead, discarded, returned] =
        ["accepted", "done", "dead", "discarded", "returned"].map(|field| number(summary, field));
    assert_eq!(accepted, done + dead + discarded + returned, "{summary}");
    for field in ["accepted", "done", "dead"] {
        let bands = summary["bands"].as_array().expect("bands");
        let sum: u64 = bands.iter().map(|band| number(band, field)).sum();
        assert_eq!(sum, number(summary, field), "{field} in {summary}");
    }
}

#[test]
fn the_totals_add_up() {
    let (folder, finished) = run_many("--workers 4 --priorities 4 --capacity 8");
    let summary = finished.expect_code(1).json();
    assert_balanced(&summary);
    let failing = JOBS / 10;
    let expected = [
        ("accepted", JOBS),
        ("done", JOBS - failing),
        ("retried", 2 * failing),
        ("dead", failing),
        ("discarded", 0),
        ("returned", 0),
        ("refused", 0),
    ];
    for (field, expected) in expected {
        assert_eq!(number(&summary, field), expected, "{field} in {summary}");
    }
    number(&summary, "elapsed_ms");
    for (priority, band) in (0..).zip(summary["bands"].as_array().expect("bands")) {
        assert_eq!(number(band, "priority"), priority);
        let wait = &band["wait_us"];
        let [p50, p99, max] = ["p50", "p99", "max"].map(|field| number(wait, field));
        assert!(p50 <= p99 && p99 <= max && max > 0, "{band}");
    }
    assert!(!folder.path("jobs.jsonl.unfinished.jsonl").exists(), "nothing is unfinished");
}

#[test]
fn held_jobs_start_in_strict_order() {
    let (folder, finished) = run_many("--workers 1 --hold --priorities 4 --capacity 1");
    finished.expect_code(1);
    // A retry keeps its priority, so every job of a priority starts before the next one's.
    let mut last = Vec::new();
    let mut first_starts = Vec::new();
    for event in folder.json_lines("events.jsonl") {
        if event["event"] == "started" && event["attempt"] == 1 {
            first_starts.push((number(&event, "priority"), text(&event, "name").to_owned()));
            last.push(number(&event, "at_us"));
        }
    }
    assert!(last.is_sorted());
    let mut in_order = first_starts.clone();
    in_order.sort();
    assert_eq!(first_starts.len() as u64, JOBS);
    assert_eq!(first_starts, in_order, "strict between priorities, in order of arrival inside");
}

#[test]
fn the_events_are_those_of_the_summary() {
    let (folder, finished) = run_many("--workers 3");
    let summary = finished.expect_code(1).json();
    let mut counts = BTreeMap::<String, u64>::new();
    let mut of_job = BTreeMap::<String, Vec<String>>::new();
    let mut last = 0;
    for event in folder.json_lines("events.jsonl") {
        let at = number(&event, "at_us");
        assert!(at >= last, "time goes back: {event}");
        last = at;
        let kind = text(&event, "event").to_owned();
        *counts.entry(kind.clone()).or_default() += 1;
        let on_worker = matches!(&*kind, "started" | "succeeded" | "failed");
        assert!(!on_worker || number(&event, "worker") < 3, "{event}");
        assert_eq!(event["error"].is_string(), matches!(&*kind, "failed" | "dead"), "{event}");
        assert!(event["priority"].is_u64(), "{event}");
        let told = format!("{kind} {}", number(&event, "attempt"));
        of_job.entry(text(&event, "name").to_owned()).or_default().push(told);
    }
    let of = |kind: &str| counts.get(kind).copied().unwrap_or_default();
    assert_eq!(of("submitted"), number(&summary, "accepted"));
    assert_eq!(of("succeeded"), number(&summary, "done"));
    assert_eq!(of("dead"), number(&summary, "dead"));
    assert_eq!(of("retrying"), number(&summary, "retried"));
    assert_eq!(of("started"), of("succeeded") + of("failed"));
    assert_eq!(of("started"), number(&summary, "accepted") + number(&summary, "retried"));

    let mut failing = ["submitted 1", "started 1", "failed 1", "retrying 2", "started 2"].to_vec();
    failing.extend(["failed 2", "retrying 3", "started 3", "failed 3", "dead 3"]);
    for (name, mut told) in of_job {
        // A job may be started before its publisher comes to tell of it.
        told.sort_by_key(|event| event != "submitted 1");
        if name.ends_with('3') {
            assert_eq!(told, failing, "{name}");
        } else {
            assert_eq!(told, ["submitted 1", "started 1", "succeeded 1"], "{name}");
        }
    }
}

#[test]
fn redriven_jobs_run_again() {
    let (folder, finished) = run_many("--workers 4 --priorities 4");
    finished.expect_code(1);
    folder.run("dead-letters redrive dead.jsonl --output again.jsonl").expect_code(0);
    let again = folder.json_lines("again.jsonl");
    assert_eq!(again.len() as u64, JOBS / 10);
    assert!(again.iter().all(|job| job["generation"] == 1 && job["attempts_made"].is_null()));

    let summary = folder
        .run("run again.jsonl --json --events events.jsonl --dead-letters dead.jsonl --priorities 4 --retry fixed:1ms --log log.txt")
        .expect_code(1)
        .json();
    assert_balanced(&summary);
    assert_eq!(number(&summary, "dead"), JOBS / 10);
    // The limit of the first run goes with the job.
    assert_eq!(number(&summary, "retried"), 2 * JOBS / 10);
    let letters = folder.run("dead-letters list dead.jsonl --json").expect_code(0);
    assert_eq!(letters.stdout.lines().count() as u64, JOBS / 10);
    assert!(letters.stdout.lines().all(|letter| letter.contains(r#""generation":1"#)));
}

#[test]
fn each_job_may_have_its_own_limit() {
    let folder = Folder::new();
    let job = |limit: u64| json!({"name": format!("{limit}"), "command": ["false"], "max_retries": limit});
    folder.write("jobs.jsonl", jsonl((0..6).map(job)));
    folder.run("run jobs.jsonl --retry fixed:1ms --events events.jsonl").expect_code(1);
    let started = folder.events("started");
    for limit in 0..6_usize {
        let runs = started.iter().filter(|name| **name == limit.to_string()).count();
        assert_eq!(runs, limit + 1);
    }
}

#[test]
fn what_expires_before_it_starts_is_dead_and_was_never_run() {
    let folder = Folder::new();
    let late =
        json!({"name": "late", "priority": 1, "command": ["touch", "ran"], "expires_in_ms": 0});
    let first = json!({"name": "first", "priority": 0, "command": ["sleep", "0.01"]});
    folder.write("jobs.jsonl", jsonl([first, late]));
    let arguments = "run jobs.jsonl --hold --workers 1 --json --dead-letters dead.jsonl";
    let summary = folder.run(arguments).expect_code(1).json();
    assert_eq!((number(&summary, "done"), number(&summary, "dead")), (1, 1));
    assert!(!folder.path("ran").exists());
    let letter = folder.run("dead-letters list dead.jsonl --json").expect_code(0).json();
    assert_eq!(letter["reason"], "expired");
}

#[test]
fn an_urgent_line_overtakes_the_backlog_of_a_pipe() {
    use std::io::Write;
    let folder = Folder::new();
    let (running, mut pipe) =
        folder.overtake("run - --workers 1 --json --events events.jsonl").start_with_pipe();
    // The first one ends when told to, so the others wait behind it.
    let gate =
        json!({"name": "gate", "command": ["sh", "-c", "until [ -e open ]; do sleep 0.01; done"]});
    let bulk =
        |number| json!({"name": format!("bulk {number}"), "priority": 9, "command": ["true"]});
    let mut lines = vec![gate];
    lines.extend((0..20).map(bulk));
    pipe.write_all(jsonl(lines).as_bytes()).expect("it reads");
    folder.wait_for_events("started", 1);
    let urgent = json!({"name": "urgent", "priority": 0, "command": ["true"]});
    pipe.write_all(jsonl([urgent]).as_bytes()).expect("it reads");
    folder.wait_for_events("submitted", 22);
    folder.write("open", "");
    drop(pipe);
    running.finish().expect_code(0);
    assert_eq!(folder.events("started")[..3], ["gate", "urgent", "bulk 0"]);
}

#[test]
fn a_command_knows_which_job_it_is() {
    let folder = Folder::new();
    let script = "echo $OVERTAKE_NAME $OVERTAKE_PRIORITY $OVERTAKE_ATTEMPT; exit 1";
    let job =
        json!({"name": "me", "priority": 2, "command": ["sh", "-c", script], "max_retries": 1});
    folder.write("jobs.jsonl", jsonl([job]));
    folder.run("run jobs.jsonl --retry fixed:1ms --log log.txt").expect_code(1);
    let log = folder.read("log.txt");
    assert!(log.contains("me: me 2 1\n") && log.contains("me: me 2 2\n"), "{log}");
}

#[test]
fn more_places_than_there_is_memory_for_are_refused() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", jsonl([json!({"command": ["true"]})]));
    let arguments = "run jobs.jsonl --capacity 16777216 --priorities 32";
    folder.run(arguments).expect_code(2).expect_stderr("--capacity 16777216 for each of 32");
}
