//! Whatever bytes come as a log: they are read or refused, and every data line is accounted for.

use overtake_sim::trace::{Trace, TraceFormat};
use proptest::prelude::*;

const PODS: &str = "name,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

/// The head of a gzip file, up to where the packed bytes begin.
const GZIP: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// Whatever comes: no panic, every data line accounted for, jobs in order.
fn check(log: &[u8]) -> Option<Trace> {
    let trace = Trace::read(log, "log").ok()?;
    assert_eq!(trace.lines, (trace.jobs.len() + trace.skipped.len()) as u64);
    assert!(trace.lines > 0);
    assert!(trace.jobs.is_sorted_by_key(|job| job.submit));
    assert!(trace.jobs.first().is_none_or(|job| job.submit.is_zero()));
    for job in &trace.jobs {
        assert!(job.submit.checked_add(job.run_time).is_some());
        assert!(job.queue.is_none_or(|queue| queue >= 0));
    }
    assert!(trace.skipped.is_sorted_by_key(|skipped| skipped.line));
    Some(trace)
}

/// A field as logs have it, and as they should not.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        80 => (0..6_u32).prop_map(|number| number.to_string()),
        20 => Just("-1".to_owned()),
        1 => any::<f64>().prop_map(|number| number.to_string()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => "[-+.0-9eE]{0,8}",
        1 => "[^\n]{0,4}",
    ]
}

fn swf_lines() -> impl Strategy<Value = String> {
    let whole = prop::collection::vec(field(), 18);
    let any_length = prop::collection::vec(field(), 0..21);
    let line = prop_oneof![6 => whole, 1 => any_length].prop_map(|line| line.join(" "));
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        head in prop::sample::select(vec![b"".as_slice(), b"; \n", b"1 2\n", PODS.as_bytes(), GZIP]),
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        check(&[head, &bytes].concat());
    }

    #[test]
    fn any_swf_lines_are_counted(body in swf_lines()) {
        // Blank and comment as the format says it, not as the reader does it.
        let data = body
            .split('\n')
            .map(|line| line.trim_matches([' ', '\t', '\r', '\u{c}']))
            .filter(|line| !line.is_empty() && !line.starts_with(';'))
            .count();
        let trace = check(format!(";\n{body}").as_bytes());
        prop_assert_eq!(trace.map_or(0, |trace| trace.lines), data as u64);
    }

    #[test]
    fn any_pod_lines_are_read_or_skipped(
        words in prop::collection::vec(("LS|BE|Burstable|x", "Running|Failed|Pending|y"), 1..12),
        times in prop::collection::vec((field(), field(), field()), 1..12),
    ) {
        let mut log = PODS.to_owned();
        for ((qos, phase), (creation, deletion, scheduled)) in words.iter().zip(&times) {
            log += &format!("p,{qos},{phase},{creation},{deletion},{scheduled}\n");
        }
        let trace = check(log.as_bytes()).expect("the header is good and there is a line");
        prop_assert_eq!(trace.format, TraceFormat::PodList);
        prop_assert_eq!(trace.lines, words.len().min(times.len()) as u64);
    }
}
