//! A retry always finds its place again, however full it is.

mod common;

use common::{Folder, jsonl, number};
use serde_json::json;

/// Fails twice and then succeeds, by what it finds in its folder.
fn flaky(name: &str) -> serde_json::Value {
    let script = format!("echo >> {name}; [ $(wc -l < {name}) = 3 ]");
    json!({"name": name, "priority": 0, "command": ["sh", "-c", script]})
}

#[test]
fn jobs_that_fail_get_through_the_only_place() {
    let folder = Folder::new();
    folder.write("jobs.jsonl", jsonl((0..25).map(|job| flaky(&format!("job{job}")))));
    let arguments = "run jobs.jsonl --workers 4 --capacity 1 --priorities 1 --retry fixed:1ms --json \
                     --log log.txt";
    let summary = folder.run(arguments).expect_code(0).json();
    assert_eq!((number(&summary, "done"), number(&summary, "retried")), (25, 50));
}

#[test]
fn jobs_that_always_fail_leave_the_only_place() {
    let folder = Folder::new();
    let job = |job: usize| json!({"priority": job % 3, "command": ["false"], "max_retries": 2});
    folder.write("jobs.jsonl", jsonl((0..40).map(job)));
    for retry in ["none", "fixed:0s", "fixed:1ms", "exponential:1ms..2ms"] {
        let arguments = format!(
            "run jobs.jsonl --workers 4 --capacity 1 --priorities 3 --json --retry {retry} --log log.txt"
        );
        let summary = folder.run(&arguments).expect_code(1).json();
        assert_eq!((number(&summary, "dead"), number(&summary, "retried")), (40, 80), "{retry}");
    }
}
