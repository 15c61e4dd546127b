//! What jobs print and leave behind, and what the command prints itself.

mod common;

use std::io;

use common::{Folder, is_alive, jsonl, number, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn shell(name: &str, script: &str) -> Value {
    json!({"name": name, "command": ["sh", "-c", script], "max_retries": 0})
}

/// The log of a run of these jobs, one after the other.
fn log_of(folder: &Folder, jobs: impl IntoIterator<Item = Value>) -> String {
    folder.write("jobs.jsonl", jsonl(jobs));
    folder.run("run jobs.jsonl --workers 1 --log log.txt --json");
    folder.read("log.txt")
}

#[test]
fn both_outputs_are_logged_with_the_name() {
    let folder = Folder::new();
    let job = shell("a", "echo out; echo err >&2; printf 'no end'; exit 3");
    let log = log_of(&folder, [job.clone()]);
    let mut lines: Vec<_> = log.lines().collect();
    lines.sort_unstable();
    let failed = "a [attempt 1 failed: exit code 3]";
    assert_eq!(lines, [failed, "a [dead: exit code 3]", "a: err", "a: no end", "a: out"]);

    let finished = folder.run("run jobs.jsonl --json").expect_code(1);
    for line in lines {
        assert!(finished.stderr.lines().any(|said| said == line), "{line} is not in {finished:?}");
    }
}

#[test]
fn nothing_of_a_long_output_is_lost() {
    let folder = Folder::new();
    let log = log_of(&folder, [shell("long", "seq 200000")]);
    let expected: String = (1..=200_000).map(|number| format!("long: {number}\n")).collect();
    assert!(log == expected, "{} of {} bytes", log.len(), expected.len());

    let log = log_of(&Folder::new(), [shell("wide", "head -c 300000 /dev/zero | tr '\\0' x")]);
    assert_eq!(log.matches('x').count(), 300_000);
    assert!(log.lines().all(|line| line.len() < 100_000), "pieces");
}

#[test]
fn what_is_not_text_is_logged_as_it_is() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", jsonl([shell("raw", r"printf '\377\376\n'")]));
    folder.run("run jobs.jsonl --log log.txt").expect_code(0);
    assert_eq!(std::fs::read(folder.path("log.txt")).expect("read"), b"raw: \xff\xfe\n");
}

#[test]
fn a_name_cannot_break_its_line() {
    let folder = Folder::new();
    let log = log_of(&folder, [shell("two\nlines \u{1b}[2J", "echo out; exit 1")]);
    assert!(log.starts_with("two\\nlines \\u{1b}[2J: out\n"), "{log}");
    assert_eq!(log.lines().count(), 3, "{log}");
}

#[test]
fn what_is_left_in_the_background_holds_nothing_up() {
    let folder = Folder::new();
    let script = "sleep 600 & echo $! > pid; printf 'before the end'";
    let log = log_of(&folder, [shell("daemon", script), shell("next", "echo next")]);
    assert_eq!(log, "daemon: before the end\nnext: next\n");
    let pid = folder.read("pid").trim().parse().expect("a pid");
    assert!(is_alive(pid), "a job that succeeded may leave something running");
    kill_process(Pid::from_raw(pid).expect("not 0"), Signal::KILL).expect("it runs");
}

#[test]
fn what_prints_for_ever_in_the_background_holds_nothing_up() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", jsonl([shell("noise", "yes & echo $! > pid; echo last")]));
    folder.run("run jobs.jsonl --log log.txt").expect_code(0);
    assert!(folder.read("log.txt").contains("noise: last\n"));
    // Its pipe is closed, so it ends by itself.
    let pid = folder.read("pid").trim().parse().expect("a pid");
    until("the end of `yes`", || !is_alive(pid));
}

#[test]
fn a_timeout_ends_all_that_the_command_has_started() {
    let folder = Folder::new();
    let script = "(trap '' TERM; sh -c 'echo $$ > inner; sleep 600; true') & \
                  trap '' TERM; echo started; until [ -s inner ]; do :; done; wait; sleep 600";
    let job = json!({"name": "slow", "command": ["sh", "-c", script], "timeout_ms": 1000, "max_retries": 0});
    folder.write("jobs.jsonl", jsonl([job]));
    let arguments = "run jobs.jsonl --json --events events.jsonl --log log.txt";
    let summary = folder.run(arguments).expect_code(1).json();
    assert_eq!((number(&summary, "dead"), number(&summary, "retried")), (1, 0));
    let events = folder.json_lines("events.jsonl");
    let dead = events.iter().find(|event| event["event"] == "dead").expect("told");
    assert_eq!(dead["error"], "took longer than 1000 ms and was killed");
    let inner = folder.read("inner").trim().parse().expect("a pid");
    until("the grandchild has ended", || !is_alive(inner));
}

#[test]
fn a_command_may_clean_up_when_its_time_is_over() {
    let folder = Folder::new();
    let script = "trap 'echo cleaned up; exit 0' TERM; while :; do sleep 0.01; done";
    let job = json!({"name": "tidy", "command": ["sh", "-c", script], "timeout_ms": 500, "max_retries": 0});
    let log = log_of(&folder, [job]);
    assert!(log.contains("tidy: cleaned up\n") && log.contains("took longer than 500 ms"), "{log}");
}

#[test]
fn commands_get_no_input_and_leave_no_zombies() {
    let folder = Folder::new();
    let script = r#"cat; ours=$(grep -sl "^PPid:.$PPID\$" /proc/[0-9]*/status)
        [ -n "$ours" ] && cat $ours 2>&- | grep -c '^State:.Z'; true"#;
    let jobs = (0..5).map(|job| shell(&format!("job {job}"), script));
    let mut lines = jsonl(jobs);
    lines.push_str("this is no input for them\n");
    let run = folder.overtake("run - --workers 1 --log log.txt --hold").input(lines);
    run.start().finish().expect_code(1);
    let log = folder.read("log.txt");
    let counts: Vec<_> = log.lines().filter_map(|line| line.split(": ").nth(1)).collect();
    assert_eq!(counts, ["0"; 5], "{log}");
}

#[test]
fn a_command_that_a_signal_ends_has_failed() {
    let folder = Folder::new();
    let log = log_of(&folder, [shell("crash", "kill -SEGV $$")]);
    assert!(log.contains("crash [attempt 1 failed: killed by signal 11]"), "{log}");
    // Commands have the usual answer to a closed pipe, whatever ours is.
    assert_eq!(log_of(&Folder::new(), [shell("pipe", "yes | head -n 1")]), "pipe: y\n");
}

#[test]
fn the_summary_for_people_is_a_table() {
    let folder = Folder::new();
    let job =
        |priority, program| json!({"priority": priority, "command": [program], "max_retries": 1});
    folder.write("jobs.jsonl", jsonl([job(0, "true"), job(3, "false")]) + "oops\n");
    let finished = folder.run("run jobs.jsonl --retry fixed:1ms").expect_code(1);
    let lines: Vec<_> = finished.stdout.lines().collect();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[0])[..4], ["priority", "accepted", "done", "dead"]);
    assert_eq!(words(lines[1])[..4], ["0", "1", "1", "0"]);
    assert_eq!(words(lines[2])[..4], ["3", "1", "0", "1"]);
    assert!(lines[3].starts_with("2 accepted in "), "{finished:?}");
    let totals = "1 done, 1 dead, 0 discarded, 0 returned; 1 retries; 1 lines refused";
    assert!(lines[3].ends_with(totals), "{finished:?}");
}

#[test]
fn a_reader_that_went_away_is_no_panic() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", jsonl([shell("a", "exit 1")]));
    folder.run("run jobs.jsonl --dead-letters dead.jsonl").expect_code(1);
    for arguments in [
        "run jobs.jsonl --json",
        "run jobs.jsonl",
        "dead-letters list dead.jsonl",
        "dead-letters show dead.jsonl 1",
        "dead-letters redrive dead.jsonl",
        "completions bash",
    ] {
        let (reader, stdout) = io::pipe().expect("a pipe");
        drop(reader);
        let finished = folder.overtake(arguments).stdout(stdout).start().finish();
        let finished = finished.expect_code(2);
        assert!(finished.stderr.contains("standard output"), "{arguments}: {finished:?}");
        assert!(!finished.stderr.contains("panicked"), "{arguments}: {finished:?}");
    }
    let left = folder.run("dead-letters list dead.jsonl --json").expect_code(0).stdout;
    assert_eq!(left.lines().count(), 1, "the letter that could not be redriven stays");

    let (reader, stderr) = io::pipe().expect("a pipe");
    drop(reader);
    let finished = folder.overtake("run jobs.jsonl --json").stderr(stderr).start().finish();
    assert_eq!(number(&finished.expect_code(1).json(), "dead"), 1);
}

#[test]
fn help_has_examples_and_names_each_option() {
    let folder = Folder::new();
    let table: [(&str, &[&str]); 8] = [
        ("", &["run", "dead-letters", "replay", "completions", "Exit codes:"]),
        (
            "run",
            &[
                "--workers",
                "--priorities",
                "--capacity",
                "--hold",
                "--retry",
                "--max-retries",
                "--shutdown-timeout",
                "--dead-letters",
                "--unfinished",
                "--events",
                "--log",
                "--json",
                "timeout_ms",
                "expires_in_ms",
                "OVERTAKE_NAME",
                "Examples:",
            ],
        ),
        ("dead-letters", &["list", "show", "redrive", "purge", "Examples:"]),
        ("dead-letters list", &["--entry", "--reason", "--priority", "--name", "--json"]),
        ("dead-letters show", &["--json"]),
        ("dead-letters redrive", &["--entry", "--reason", "--priority", "--name", "--output"]),
        ("dead-letters purge", &["--entry", "--reason", "--priority", "--name"]),
        (
            "replay",
            &[
                "--bands-by",
                "--workers",
                "--policy",
                "--retry",
                "--max-retries",
                "--json",
                "Examples:",
            ],
        ),
    ];
    for (command, parts) in table {
        let help = folder.run(&format!("{command} --help")).expect_code(0).stdout;
        for part in parts {
            assert!(help.contains(part), "`{part}` is not in the help of `{command}`:\n{help}");
        }
    }
    assert!(folder.run("completions --help").expect_code(0).stdout.contains("Example"));
    folder.run("").expect_code(2);
    folder.run("walk").expect_code(2).expect_stderr("walk");
}

#[test]
fn shells_get_their_completions() {
    let folder = Folder::new();
    for (shell, part) in
        [("bash", "complete -F"), ("zsh", "#compdef overtake"), ("fish", "complete -c overtake")]
    {
        let script = folder.run(&format!("completions {shell}")).expect_code(0).stdout;
        assert!(script.contains(part) && script.contains("dead-letters"), "{shell}");
    }
}
