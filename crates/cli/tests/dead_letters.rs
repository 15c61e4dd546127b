//! `overtake dead-letters`: looking into a file of dead letters, and emptying it, without losing any.

mod common;

use common::{Folder, gate, jsonl, number, quick, text};
use serde_json::{Value, json};

/// A folder with `dead.jsonl`: letters 1 to 4 hold jobs, the last one a refused line.
fn with_letters() -> Folder {
    let folder = Folder::new();
    let job = |name, priority, program| json!({"name": name, "priority": priority, "command": [program, "x"], "max_retries": 1});
    let jobs = [
        job("a", 0, "false"),
        job("b", 0, "false"),
        job("a", 2, "false"),
        job("gone", 1, "no-such-program"),
    ];
    folder.write("jobs.jsonl", jsonl(jobs) + "oops\n");
    let run = "run jobs.jsonl --workers 1 --hold --retry fixed:1ms --dead-letters dead.jsonl";
    folder.run(run).expect_code(1);
    folder
}

/// The letters that these filters choose.
fn list(folder: &Folder, filters: &str) -> Vec<Value> {
    let finished = folder.run(&format!("dead-letters list dead.jsonl --json {filters}"));
    let finished = finished.expect_code(0);
    finished.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Name and priority of each letter, sorted.
fn jobs_of(letters: &[Value]) -> Vec<String> {
    let mut jobs: Vec<_> = letters
        .iter()
        .map(|letter| match letter["name"].as_str() {
            Some(name) => format!("{name} {}", letter["priority"]),
            None => text(letter, "place").to_owned(),
        })
        .collect();
    jobs.sort();
    jobs
}

#[test]
fn a_list_shows_what_is_asked_for() {
    let folder = with_letters();
    let all = ["a 0", "a 2", "b 0", "gone 1", "jobs.jsonl:5"];
    assert_eq!(jobs_of(&list(&folder, "")), all);
    assert_eq!(jobs_of(&list(&folder, "--name a")), ["a 0", "a 2"]);
    assert_eq!(jobs_of(&list(&folder, "--priority 0")), ["a 0", "b 0"]);
    assert_eq!(jobs_of(&list(&folder, "--name a --priority 2")), ["a 2"]);
    assert_eq!(jobs_of(&list(&folder, "--reason handler")), ["gone 1"]);
    assert_eq!(jobs_of(&list(&folder, "--reason refused")), ["jobs.jsonl:5"]);
    assert!(list(&folder, "--name nobody").is_empty());
    for letter in list(&folder, "") {
        let entry = number(&letter, "entry");
        assert_eq!(list(&folder, &format!("--entry {entry}")), [letter]);
    }
    let finished = folder.run("dead-letters list dead.jsonl").expect_code(0);
    assert_eq!(finished.stdout.lines().count(), 5);
    finished.expect_stderr("5 dead letters in dead.jsonl");
    folder.run("dead-letters list dead.jsonl --reason boredom").expect_code(2);
}

#[test]
fn a_letter_holds_its_job_and_each_failed_attempt() {
    let folder = with_letters();
    let letter = list(&folder, "--name b").remove(0);
    assert_eq!(
        (text(&letter, "reason"), text(&letter, "error")),
        ("retries-used-up", "exit code 1")
    );
    assert_eq!(letter["command"], json!(["false", "x"]));
    assert_eq!((number(&letter, "attempts"), number(&letter, "generation")), (2, 0));
    let history = letter["history"].as_array().expect("attempts");
    let attempts: Vec<_> = history.iter().map(|failure| number(failure, "attempt")).collect();
    assert_eq!(attempts, [1, 2]);

    let entry = number(&letter, "entry");
    let show = format!("dead-letters show dead.jsonl {entry}");
    assert_eq!(folder.run(&format!("{show} --json")).expect_code(0).json(), letter);
    let shown = folder.run(&show).expect_code(0).stdout;
    for part in ["retries-used-up", "exit code 1", r#"["false","x"]"#, "attempt 1", "attempt 2"] {
        assert!(shown.contains(part), "`{part}` is not in {shown}");
    }
    let entry = number(&list(&folder, "--reason refused")[0], "entry");
    let shown = folder.run(&format!("dead-letters show dead.jsonl {entry}")).expect_code(0).stdout;
    assert!(shown.contains("jobs.jsonl:5") && shown.contains("oops"), "{shown}");

    let none = folder.run("dead-letters show dead.jsonl 99").expect_code(2);
    none.expect_stderr("dead.jsonl: there is no letter 99");
    let bad = folder.run("dead-letters show dead.jsonl x").expect_code(2);
    bad.expect_stderr("`x` is no number of a letter");
}

#[test]
fn redriven_jobs_are_lines_and_their_letters_are_gone() {
    let folder = with_letters();
    let finished = folder.run("dead-letters redrive dead.jsonl --name a").expect_code(0);
    let finished = finished.expect_stderr("2 jobs redriven from dead.jsonl");
    let first =
        r#"{"name":"a","priority":0,"command":["false","x"],"max_retries":1,"generation":1}"#;
    assert_eq!(finished.stdout.lines().next(), Some(first));
    assert_eq!(jobs_of(&list(&folder, "")), ["b 0", "gone 1", "jobs.jsonl:5"]);

    folder.write("again.jsonl", r#"{"command": ["before"]}"#);
    let finished = folder.run("dead-letters redrive dead.jsonl -o again.jsonl").expect_code(0);
    finished.expect_stderr("2 jobs redriven from dead.jsonl; 1 letters hold no job");
    let mut commands: Vec<_> =
        folder.json_lines("again.jsonl").iter().map(|job| job["command"][0].clone()).collect();
    assert_eq!(commands.remove(0), "before");
    commands.sort_by_key(ToString::to_string);
    assert_eq!(commands, ["false", "no-such-program"]);
    assert_eq!(jobs_of(&list(&folder, "")), ["jobs.jsonl:5"]);
}

#[test]
fn what_cannot_be_written_stays_a_letter() {
    let folder = with_letters();
    let before = list(&folder, "");
    let finished = folder.run("dead-letters redrive dead.jsonl --output /dev/full").expect_code(2);
    finished.expect_stderr("cannot write to /dev/full; all letters stay: No space left");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("there");
    let finished = folder.overtake("dead-letters redrive dead.jsonl").stdout(full).start().finish();
    finished.expect_code(2).expect_stderr("cannot write to standard output; all letters stay");
    for output in ["dead.jsonl", "./dead.jsonl"] {
        let redrive = format!("dead-letters redrive dead.jsonl --output {output}");
        folder.run(&redrive).expect_code(2).expect_stderr("holds the dead letters");
    }
    assert_eq!(list(&folder, ""), before);
}

#[test]
fn what_nobody_reads_stays_a_letter() {
    let folder = with_letters();
    let before = list(&folder, "");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let redrive = folder.overtake("dead-letters redrive dead.jsonl").stdout(writer).start();
    drop(reader);
    redrive.finish().expect_code(2).expect_stderr("all letters stay: Broken pipe");
    assert_eq!(list(&folder, ""), before);
}

#[test]
fn jobs_pass_from_their_letters_through_a_pipe_to_a_run_that_writes_the_same_file() {
    let folder = with_letters();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let run = "run - --workers 2 --retry fixed:1ms --dead-letters dead.jsonl --json";
    let run = folder.overtake(run).stdin(reader).start();
    let redrive = folder.overtake("dead-letters redrive dead.jsonl").stdout(writer).start();
    redrive.finish().expect_code(0).expect_stderr("4 jobs redriven");
    let summary = run.finish().expect_code(1).json();
    assert_eq!((number(&summary, "accepted"), number(&summary, "dead")), (4, 4));
    assert_eq!(jobs_of(&list(&folder, "")), ["a 0", "a 2", "b 0", "gone 1", "jobs.jsonl:5"]);
    for letter in list(&folder, "").iter().filter(|letter| letter["name"].is_string()) {
        assert_eq!(number(letter, "generation"), 1, "{letter}");
    }
}

#[test]
fn purged_letters_are_gone() {
    let folder = with_letters();
    let finished = folder.run("dead-letters purge dead.jsonl --reason refused").expect_code(0);
    finished.expect_stderr("1 dead letters removed from dead.jsonl");
    assert_eq!(jobs_of(&list(&folder, "")), ["a 0", "a 2", "b 0", "gone 1"]);
    folder.run("dead-letters purge dead.jsonl").expect_code(0).expect_stderr("4 dead letters");
    assert!(list(&folder, "").is_empty());
    folder.run("dead-letters purge dead.jsonl").expect_code(0).expect_stderr("0 dead letters");
}

#[test]
fn a_file_that_is_missing_or_foreign_is_named_and_left_alone() {
    let folder = Folder::new();
    folder.write("foreign.jsonl", "{\"some\": \"log\"}\nof others\n");
    let before = folder.read("foreign.jsonl");
    for command in ["list {}", "show {} 1", "redrive {}", "purge {}"] {
        for (file, said) in [("missing.jsonl", "No such file"), ("foreign.jsonl", "foreign.jsonl")]
        {
            let arguments = format!("dead-letters {}", command.replace("{}", file));
            folder.run(&arguments).expect_code(2).expect_stderr(file).expect_stderr(said);
        }
    }
    assert!(!folder.path("missing.jsonl").exists());
    assert_eq!(folder.read("foreign.jsonl"), before);
}

#[test]
fn while_a_run_writes_it_a_file_can_be_looked_at_only() {
    let folder = with_letters();
    folder.write("more.jsonl", jsonl([gate()].into_iter().chain(quick(1))));
    let run = "run more.jsonl --workers 1 --dead-letters dead.jsonl --events events.jsonl";
    let running = folder.overtake(run).start();
    folder.wait_for_events("started", 1);
    assert_eq!(list(&folder, "").len(), 5);
    // Both wait for a while, so let them do it together.
    let others = ["dead-letters purge dead.jsonl", "run jobs.jsonl --dead-letters dead.jsonl"];
    let others = others.map(|arguments| folder.overtake(arguments).start());
    for other in others {
        other.finish().expect_code(2).expect_stderr("dead.jsonl: in use by another process");
    }
    folder.write("open", "");
    running.finish().expect_code(0);
    assert_eq!(list(&folder, "").len(), 5);
}
