//! Logs with odd, broken and hostile lines: each line is replayed or skipped for a reason that is
//! said, and no number is used for what it does not mean.

use std::time::Duration;

use overtake_sim::trace::{LoggedOutcome, Trace};

const PODS: &str = "name,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

/// A job line of queue 1 that asked for 600 s.
fn line(number: &str, submit: &str, run_time: &str, status: &str) -> String {
    format!("{number} {submit} 0 {run_time} 4 -1 -1 4 600 -1 {status} 1 1 -1 1 -1 -1 -1\n")
}

/// A good job line with one field replaced; the first field is 1.
fn with(field: usize, value: &str) -> String {
    let good = line("1", "10", "5", "1");
    let mut fields: Vec<_> = good.split_whitespace().collect();
    fields[field - 1] = value;
    fields.join(" ") + "\n"
}

fn read(log: impl AsRef<[u8]>) -> Trace {
    let trace = Trace::read(log.as_ref(), "log").unwrap();
    assert_eq!(trace.lines, (trace.jobs.len() + trace.skipped.len()) as u64);
    trace
}

/// The skipped lines in words; there must be `jobs` jobs beside them.
fn skipped(log: impl AsRef<[u8]>, jobs: usize) -> Vec<String> {
    let trace = read(log);
    assert_eq!(trace.jobs.len(), jobs);
    trace.skipped.iter().map(ToString::to_string).collect()
}

fn submits(trace: &Trace) -> Vec<u64> {
    trace.jobs.iter().map(|job| job.submit.as_secs()).collect()
}

fn names(trace: &Trace) -> Vec<&str> {
    trace.jobs.iter().map(|job| job.name.as_str()).collect()
}

#[test]
fn kind_32_run_time_zero_is_kept() {
    let trace = read(line("1", "0", "0", "1") + &line("2", "0", "0.4", "0"));
    let jobs: Vec<_> = trace.jobs.iter().map(|job| (job.run_time, job.outcome)).collect();
    let expected = [
        (Duration::ZERO, LoggedOutcome::Completed),
        (Duration::from_millis(400), LoggedOutcome::Failed),
    ];
    assert_eq!(jobs, expected);
}

#[test]
fn kind_32_minus_one_is_unknown() {
    let log = with(3, "-1") + &with(5, "-1") + &with(8, "-1") + &with(9, "-1") + &with(15, "-1");
    let trace = read(log);
    assert_eq!(submits(&trace), [0; 5]);
    let requested: Vec<_> = trace.jobs.iter().map(|job| job.requested_time.is_some()).collect();
    assert_eq!(requested, [true, true, true, false, true]);
    let queues: Vec<_> = trace.jobs.iter().map(|job| job.queue).collect();
    assert_eq!(queues, [Some(1), Some(1), Some(1), Some(1), None]);
}

#[test]
fn kind_32_an_unknown_run_time_is_only_right_for_a_job_that_never_ran() {
    let log = ["0", "1", "5"].map(|status| line("1", "7", "-1", status)).concat();
    let expected = |line| {
        format!(
            "line {line}: field 4 (run time): `-1`, that is unknown, and the job cannot be \
             replayed without it"
        )
    };
    assert_eq!(skipped(&log, 1), [expected(1), expected(2)]);
    let job = read(&log).jobs.remove(0);
    assert_eq!((job.outcome, job.run_time), (LoggedOutcome::Cancelled, Duration::ZERO));
}

#[test]
fn kind_32_cancelled_while_running_keeps_its_run_time() {
    let job = read(line("1", "7", "9", "5")).jobs.remove(0);
    assert_eq!((job.outcome, job.run_time), (LoggedOutcome::Cancelled, Duration::from_secs(9)));
}

#[test]
fn kind_32_an_unknown_submit_time_is_skipped() {
    let expected = "line 1: field 2 (submit time): `-1`, that is unknown, and the job cannot be \
                    replayed without it";
    assert_eq!(skipped(line("1", "-1", "5", "1"), 0), [expected]);
}

#[test]
fn kind_32_processors_and_waits_are_not_used() {
    let log = with(5, "0") + &with(8, "0") + &with(3, "-20") + &with(6, "1.5") + &with(17, "12");
    assert_eq!(read(log).jobs.len(), 5);
}

#[test]
fn kind_32_times_may_be_fractions() {
    let trace = read(line("1", "12.5", "0.25", "1") + &line("2", "13", "1", "1"));
    assert_eq!(trace.first_submit, Duration::from_millis(12_500));
    assert_eq!(trace.jobs[1].submit, Duration::from_millis(500));
    assert_eq!(trace.jobs[0].run_time, Duration::from_millis(250));
}

#[test]
fn kind_32_not_finite() {
    for value in ["nan", "NaN", "inf", "-inf", "1e400"] {
        for (field, name) in [(2, "submit time"), (4, "run time"), (7, "used memory")] {
            let expected =
                format!("line 1: field {field} ({name}): `{value}` is not a finite number");
            assert_eq!(skipped(with(field, value), 0), [expected]);
        }
    }
}

#[test]
fn kind_32_negative_times_and_queues() {
    for (field, name) in [(2, "submit time"), (4, "run time"), (9, "requested time"), (15, "queue")]
    {
        let expected = format!("line 1: field {field} ({name}): `-2` is negative");
        assert_eq!(skipped(with(field, "-2"), 0), [expected]);
    }
}

#[test]
fn kind_32_a_field_that_is_no_number() {
    let log = with(8, "four") + &with(11, "1.5") + &with(15, "0.5");
    let expected = [
        "line 1: field 8 (requested processors): `four` is not a number",
        "line 2: field 11 (status): `1.5` is not a whole number",
        "line 3: field 15 (queue): `0.5` is not a whole number",
    ];
    assert_eq!(skipped(log, 0), expected);
}

#[test]
fn kind_32_field_count() {
    let good = line("1", "0", "5", "1");
    let short = good.trim_end().strip_suffix(" -1").unwrap();
    let log = format!("{good}{short}\n{} -1\n{good}", good.trim_end());
    let expected = [
        "line 2: number of fields: 17 instead of 18",
        "line 3: number of fields: 19 instead of 18",
    ];
    assert_eq!(skipped(log, 2), expected);
}

#[test]
fn kind_32_status() {
    let statuses = ["2", "3", "4", "-1", "6"];
    let log = statuses.map(|status| line("1", "0", "5", status)).concat();
    let partial = "marks a partial execution; the job has a line for the whole";
    let unknown = "is none of 0 (failed), 1 (completed), 5 (cancelled)";
    let expected: Vec<_> = (1..)
        .zip(statuses)
        .zip([partial, partial, partial, unknown, unknown])
        .map(|((line, status), why)| format!("line {line}: field 11 (status): `{status}` {why}"))
        .collect();
    assert_eq!(skipped(log, 0), expected);
}

#[test]
fn kind_32_tabs_and_runs_of_blanks() {
    let spread = line("1", "0", "5", "1").trim_end().replace(' ', " \t ");
    assert_eq!(read(format!("  \t{spread} \t\n")), read(line("1", "0", "5", "1")));
}

#[test]
fn kind_32_comments_and_blank_lines_do_not_count() {
    let good = line("1", "0", "5", "1");
    let log = format!("\n; Queue: 1 urgent\n\n{good}  ; between\n \t\n{good};\n");
    let trace = read(log);
    assert_eq!((trace.lines, trace.jobs[0].line, trace.jobs[1].line), (2, 4, 7));
    assert_eq!(trace.header.queue_names[&1], "urgent");
}

#[test]
fn kind_32_crlf() {
    let log = "; Queue: 1 urgent\n".to_owned() + &line("1", "0", "5", "1") + "\n" + "1 2\n";
    let (unix, dos) = (read(&log), read(log.replace('\n', "\r\n")));
    assert_eq!(unix, dos);
    assert_eq!((dos.jobs.len(), dos.skipped.len()), (1, 1));

    let log = PODS.to_owned() + "a,LS,Failed,1,3,2\n";
    assert_eq!(read(&log), read(log.replace('\n', "\r\n")));
}

#[test]
fn kind_32_a_truncated_last_line_is_said_to_be_cut_off() {
    let good = line("1", "0", "5", "1");
    let expected = ["line 2: cut off, without a line end; number of fields: 3 instead of 18"];
    assert_eq!(skipped(format!("{good}2 5 1"), 1), expected);
    assert_eq!(skipped(good.repeat(2).trim_end(), 2), [""; 0]);

    let expected = ["line 3: cut off, without a line end; number of fields: 2 instead of 6"];
    assert_eq!(skipped(format!("{PODS}a,LS,Failed,1,3,2\nb,L"), 1), expected);
}

#[test]
fn kind_32_bytes_that_are_no_text() {
    let good = line("1", "0", "5", "1");
    let mut log = b"; caf\xe9\n".to_vec();
    log.extend(good.as_bytes());
    log.extend(b"1 2 \xff 4\n");
    log.extend(good.as_bytes());
    assert_eq!(skipped(log, 2), ["line 3: not UTF-8 from byte 5 of the line on"]);
}

#[test]
fn kind_32_a_line_without_end_does_not_fill_the_memory() {
    let good = line("1", "0", "5", "1");
    let log = format!("{good}{}\n{good}", "1 ".repeat(1 << 20));
    assert_eq!(skipped(log, 2), ["line 2: longer than 65536 bytes"]);
}

#[test]
fn kind_32_start_before_submit_is_kept_and_end_before_start_is_not() {
    let log = format!("{PODS}a,LS,Failed,10,12,4\nb,BE,Running,10,12,13\n");
    let expected = ["line 3: field 5 (deletion_time): `12` is before the start at `13`"];
    assert_eq!(skipped(&log, 1), expected);
    assert_eq!(read(&log).jobs[0].run_time, Duration::from_secs(8));
}

#[test]
fn kind_32_an_open_quote_costs_one_line() {
    let log = format!("{PODS}\"a,LS,Failed,1,3,2\nb,LS,Failed,1,3,2\nc,BE,Running,1,3,2\n");
    assert_eq!(skipped(log, 2), ["line 2: number of fields: 1 instead of 6"]);
}

#[test]
fn kind_33_unsorted_is_sorted_stably() {
    let submits_of_log = ["10", "0", "5", "20", "5", "0"];
    let log: String = (1..)
        .zip(submits_of_log)
        .map(|(number, submit)| line(&number.to_string(), submit, "1", "1"))
        .collect();
    let trace = read(log);
    assert_eq!(submits(&trace), [0, 0, 5, 5, 10, 20]);
    assert_eq!(names(&trace), ["2", "6", "3", "5", "1", "4"]);
    let lines: Vec<_> = trace.jobs.iter().map(|job| job.line).collect();
    assert_eq!(lines, [2, 6, 3, 5, 1, 4]);
}

#[test]
fn kind_33_equal_submits_keep_their_order() {
    // Ten different times, far from sorted, each a hundred times.
    let times = (0..1_000).map(|number| (number * 7 + number / 10) % 10);
    let log: String = (0..)
        .zip(times)
        .map(|(number, time): (u64, u64)| line(&number.to_string(), &time.to_string(), "1", "1"))
        .collect();
    let trace = read(log);
    assert!(trace.jobs.is_sorted_by_key(|job| (job.submit, job.line)));
    let seconds: Vec<_> = (0..10).flat_map(|second| [second; 100]).collect();
    assert_eq!(submits(&trace), seconds);
}

#[test]
fn kind_33_duplicate_job_numbers_are_kept() {
    assert_eq!(names(&read(line("8", "0", "1", "0") + &line("8", "4", "1", "1"))), ["8", "8"]);
}

#[test]
fn kind_33_times_beyond_32_bits() {
    let big = [(1 << 31) - 1, 1 << 31, (1 << 32) + 1, (1 << 53) + 1, (1 << 63) - 1];
    let log: String =
        big.iter().map(|time: &u64| line("1", &time.to_string(), &time.to_string(), "1")).collect();
    let trace = read(line("0", "0", "0", "1") + &log);
    assert_eq!(submits(&trace)[1..], big);
    let ends: Vec<_> = trace.jobs.iter().map(|job| job.submit + job.run_time).collect();
    assert_eq!(ends[5], Duration::from_secs(u64::MAX - 1));
}

#[test]
fn kind_33_times_that_cannot_be_exact_are_refused() {
    let log = ["9223372036854775808", "18446744073709551616", "1e18"]
        .map(|time| line("1", time, "1", "1"))
        .concat();
    for (index, reason) in skipped(log, 0).iter().enumerate() {
        let start = format!("line {}: field 2 (submit time): `", index + 1);
        assert!(reason.starts_with(&start), "{reason}");
        assert!(reason.ends_with("` is too large to be kept exactly"), "{reason}");
    }
}
