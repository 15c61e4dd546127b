//! Files that are no log, are packed, or cannot be read to their end.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use overtake_sim::trace::{Trace, TraceError};

const PODS: &str = "name,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

/// A job line with that number.
fn line(number: u32) -> String {
    format!("{number} 0 0 5 4 -1 -1 4 600 -1 1 1 1 -1 1 -1 -1 -1\n")
}

fn lines(count: u32) -> String {
    (1..=count).map(line).collect()
}

fn read(log: impl AsRef<[u8]>) -> Trace {
    Trace::read(log.as_ref(), "log").unwrap()
}

#[test]
fn what_is_no_log_is_refused_by_name_and_line() {
    let error = |log: &[u8]| Trace::read(log, "log").unwrap_err().to_string();
    let not_a_trace = "log is no workload log: line 2 is neither an SWF comment or job nor the \
                       header of a pod list, but `# Notes`";
    assert_eq!(error(b"\n# Notes\n1 2 3\n"), not_a_trace);
    assert!(error(b"name,value\n").contains("line 1 is neither"));
    assert!(error(b"\x7fELF\x02\x01\0\xff").ends_with("but `\\u{7f}ELF\\u{2}\\u{1}\\0\u{fffd}`"));
    assert_eq!(
        error(b"name,qos,creation_time\n"),
        "log lacks the column `pod_phase` in its header, line 1"
    );
    let empty = |lines| {
        format!("log holds no job: all of its {lines} lines are blank, comments or the header")
    };
    assert_eq!(error(b""), empty(0));
    assert_eq!(error(b"; Version: 2\n\n"), empty(2));
    assert_eq!(error(PODS.as_bytes()), empty(1));
}

#[test]
fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.swf");
    let error = Trace::open(&path).unwrap_err();
    assert!(matches!(&error, TraceError::Open { .. }));
    assert!(error.to_string().starts_with(&format!("cannot open {}: ", path.display())));
    let error = Trace::open(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("cannot "), "{error}");
}

#[test]
fn gzip_is_told_by_its_bytes_and_not_by_the_name() {
    let log = format!("; Queue: 1 urgent\n{}", lines(3));
    let folder = tempfile::tempdir().unwrap();
    let packed = folder.path().join("packed.swf");
    std::fs::write(&packed, gzip(log.as_bytes())).unwrap();
    let plain = folder.path().join("plain.swf.gz");
    std::fs::write(&plain, &log).unwrap();
    let expected = read(&log);
    assert_eq!(Trace::open(packed).unwrap(), expected);
    assert_eq!(Trace::open(plain).unwrap(), expected);

    let (first, second) = log.split_at(40);
    let two_members = [gzip(first.as_bytes()), gzip(second.as_bytes())].concat();
    assert_eq!(read(two_members), expected);
}

#[test]
fn a_gzip_file_that_is_cut_off_is_an_error_with_its_line() {
    let log = lines(2_000);
    let packed = gzip(log.as_bytes());
    let error = Trace::read(&packed[..packed.len() / 2], "log").unwrap_err();
    let TraceError::Read { name, line, .. } = error else { panic!("{error}") };
    assert_eq!(name, "log");
    assert!((1..=2_000).contains(&line), "{line}");
}

#[test]
fn a_failing_reader_is_an_error_with_its_line() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("unplugged"))
        }
    }
    let log = lines(2);
    let error = Trace::read(log.as_bytes().chain(Broken), "log").unwrap_err();
    assert_eq!(error.to_string(), "cannot read line 3 of log: unplugged");
    let error = Trace::read(Broken, "log").unwrap_err();
    assert_eq!(error.to_string(), "cannot read line 1 of log: unplugged");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
