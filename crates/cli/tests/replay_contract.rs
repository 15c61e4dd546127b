//! `overtake replay`: the figures that others rely on, for the sample and for real logs.

mod common;

use std::path::PathBuf;

use common::{Finished, Folder, number, text};
use serde_json::Value;

/// The log that the repository carries.
fn sample() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/samples/two-queues.swf"))
}

/// A real log, which only some machines have beside the workspace.
fn real_log(name: &str) -> Option<PathBuf> {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces")).join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

fn replay(log: impl Into<PathBuf>, arguments: &str) -> Finished {
    Folder::new().overtake(&format!("replay {arguments}")).arg(log.into()).start().finish()
}

/// `jobs`, `completed`, `failed`, `cancelled`.
fn logged(report: &Value) -> [u64; 4] {
    ["jobs", "completed", "failed", "cancelled"].map(|field| number(report, field))
}

fn seconds(report: &Value, band: usize, percentile: &str) -> f64 {
    report["bands"][band]["wait_s"][percentile].as_f64().expect("a number")
}

#[track_caller]
fn assert_consistent(report: &Value, limit: u64) {
    let of = |field| number(report, field);
    assert_eq!(of("lines"), of("jobs") + of("skipped"), "{report}");
    assert_eq!(of("jobs"), of("completed") + of("failed") + of("cancelled"), "{report}");
    assert_eq!(of("done"), of("completed"), "{report}");
    assert_eq!(of("dead"), of("failed"), "{report}");
    assert_eq!(of("discarded"), of("cancelled"), "{report}");
    let runs = of("completed") + of("cancelled") + of("failed") * (limit + 1);
    assert_eq!(of("runs"), runs, "{report}");
    let bands = report["bands"].as_array().expect("bands");
    for (index, band) in bands.iter().enumerate() {
        assert_eq!(number(band, "band"), index as u64);
        let waits =
            ["p50", "p90", "p99", "max"].map(|percentile| seconds(report, index, percentile));
        assert!(waits.is_sorted() && waits[0] >= 0.0, "{band}");
    }
    assert_eq!(bands.iter().map(|band| number(band, "jobs")).sum::<u64>(), of("jobs"), "{report}");
}

#[test]
fn the_sample_has_its_totals_under_both_policies() {
    for policy in ["strict", "fifo"] {
        let report = replay(sample(), &format!("--json --policy {policy}")).expect_code(0).json();
        assert_eq!(text(&report, "policy"), policy);
        assert_consistent(&report, 3);
        assert_eq!((number(&report, "lines"), number(&report, "skipped")), (400, 0));
        assert_eq!(logged(&report), [400, 315, 62, 23]);
    }
}

#[test]
fn a_replay_gives_the_same_bytes_each_time() {
    for arguments in ["--json", "", "--json --bands-by requested-time --workers 3"] {
        let first = replay(sample(), arguments).expect_code(0).stdout;
        assert_eq!(replay(sample(), arguments).stdout, first);
    }
}

#[test]
fn strict_spares_the_urgent_of_the_sample_what_fifo_does_not() {
    let [strict, fifo] = ["strict", "fifo"]
        .map(|policy| replay(sample(), &format!("--json --policy {policy}")).json());
    for percentile in ["p90", "p99", "max"] {
        let (with, without) = (seconds(&strict, 0, percentile), seconds(&fifo, 0, percentile));
        assert!(with * 2.0 < without, "{percentile}: {with} s and {without} s");
    }
}

#[test]
fn retries_are_as_many_as_asked_for() {
    for (arguments, limit) in
        [("--retry none", 0), ("--retry none --max-retries 2", 2), ("--max-retries 7", 7)]
    {
        let report = replay(sample(), &format!("--json {arguments}")).expect_code(0).json();
        assert_consistent(&report, limit);
    }
}

#[test]
fn the_table_has_both_policies_unless_one_is_chosen() {
    let rows =
        |text: &str, policy: &str| text.lines().filter(|line| line.starts_with(policy)).count();
    let both = replay(sample(), "").expect_code(0).stdout;
    assert_eq!((rows(&both, "strict "), rows(&both, "fifo ")), (2, 2), "{both}");
    let one = replay(sample(), "--policy fifo").expect_code(0).stdout;
    assert_eq!((rows(&one, "strict "), rows(&one, "fifo ")), (0, 2), "{one}");
    assert!(both.contains("400 lines: 400 jobs, 0 skipped"), "{both}");
}

const JOB: &str = " 0 -1 10 1 -1 -1 1 100 -1 1 1 1 1 1 -1 -1 -1\n";

#[test]
fn each_bad_line_is_counted_and_told() {
    let folder = Folder::new();
    let late = JOB.replacen(" 0 -1 10", " 90 -1 10", 1);
    let lines = [
        format!("1{late}"),
        format!("2{JOB}"),
        format!("3{}", JOB.replace(" -1 -1\n", " -1\n")),
        format!("4{}", JOB.replace('\n', " -1\n")),
        format!("5{}", JOB.replacen(" 10 ", " 1e999 ", 1)),
        format!("6{}", JOB.replacen(" 10 ", " 2.5 ", 1)),
        format!("7{}", JOB.replacen(" 0 ", " -1 ", 1)),
        "; a comment\n".to_owned(),
        "8 0 -1".to_owned(),
    ];
    folder.write("log.swf", lines.concat());
    let finished = folder.run("replay log.swf --json").expect_code(1);
    let report = finished.json();
    assert_consistent(&report, 3);
    assert_eq!((number(&report, "lines"), number(&report, "jobs")), (8, 3), "{finished:?}");
    let said = [
        "log.swf: skipped line 3: number of fields: 17 instead of 18",
        "log.swf: skipped line 4: number of fields: 19 instead of 18",
        "log.swf: skipped line 5: field 4 (run time): `1e999` is not a finite number",
        "log.swf: skipped line 7: field 2",
        "log.swf: skipped line 9: cut off, without a line end; number of fields: 3 instead of 18",
    ];
    for said in said {
        assert!(finished.stderr.contains(said), "`{said}` is not in {finished:?}");
    }
    assert_eq!(finished.stderr.matches(": skipped line ").count(), said.len());
    // The first line is of the last job: logs need not be sorted.
    assert_eq!(report["span_s"].as_f64(), Some(100.0));
}

#[test]
fn a_log_that_cannot_be_used_is_named() {
    let folder = Folder::new();
    folder.write("text.swf", "this is no log\n");
    folder.write("empty.swf", "");
    folder.write("skipped.swf", "1 2 3\n");
    for log in ["missing.swf", "text.swf", "empty.swf", "skipped.swf", "."] {
        folder.run(&format!("replay {log}")).expect_code(2).expect_stderr(log);
    }
    for (arguments, said) in [
        ("--bands-by qos", "two-queues.swf: the jobs of the log have no "),
        ("--bands-by colour", "`colour` is none of queue, requested-time, qos, auto"),
        ("--policy lottery", "`lottery` is no policy; the policies are `strict` and `fifo`"),
        ("--workers 0", "invalid value '0' for '--workers"),
    ] {
        replay(sample(), arguments).expect_code(2).expect_stderr(said);
    }
}

#[test]
fn the_real_log_with_failures_has_its_published_totals() {
    let Some(log) = real_log("kth-sp2-1996-2.1-cln.swf.gz") else {
        return;
    };
    let first = replay(&log, "--json").expect_code(0);
    let report = first.json();
    assert_consistent(&report, 3);
    assert_eq!(logged(&report), [28_476, 20_530, 7_946, 0]);
    assert_eq!(replay(&log, "--json").stdout, first.stdout);
    replay(&log, "--bands-by qos").expect_code(2).expect_stderr("have no ");
}

#[test]
fn the_real_bursts_are_overtaken_by_short_jobs() {
    let Some(log) = real_log("ricc-2010-2.jobs9001-17000.swf") else {
        return;
    };
    let [strict, fifo] = ["strict", "fifo"].map(|policy| {
        let report = replay(&log, &format!("--json --bands-by requested-time --policy {policy}"));
        report.expect_code(0).json()
    });
    for report in [&strict, &fifo] {
        assert_consistent(report, 3);
        assert_eq!(logged(report), [8_000, 7_362, 0, 638]);
    }
    for percentile in ["p50", "p99"] {
        let (with, without) = (seconds(&strict, 0, percentile), seconds(&fifo, 0, percentile));
        assert!(with * 10.0 < without, "{percentile}: {with} s and {without} s");
    }
}

#[test]
fn the_real_pod_list_is_read_by_class() {
    let Some(log) = real_log("alibaba-gpu-2023-openb-pods.csv") else {
        return;
    };
    let report = replay(log, "--json").expect_code(0).json();
    assert_consistent(&report, 3);
    // Pods that were still running count as completed, those that never started as cancelled.
    assert_eq!(logged(&report), [8_152, 192 + 5_193, 1_870, 897]);
    let bands = report["bands"].as_array().expect("bands");
    let of_class: Vec<_> =
        bands.iter().map(|band| (text(band, "label"), number(band, "jobs"))).collect();
    assert_eq!(of_class, [("Guaranteed", 7), ("LS", 4_647), ("Burstable", 100), ("BE", 3_398)]);
}
