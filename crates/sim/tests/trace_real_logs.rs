//! The readers against real logs: the totals are counted from the files by other means.
//!
//! The logs are not ours to publish. They lie in a folder beside the repository; where that folder
//! is absent, each test says that it skips.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use overtake_sim::trace::{BandsBy, LoggedOutcome, QosClass, Trace, TraceFormat};

/// The log of that name, or `None` where the folder with the logs is absent.
fn real(name: &str) -> Option<Trace> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    if !folder.is_dir() {
        println!("skipped: {name} is not here, there is no folder {}", folder.display());
        return None;
    }
    let trace = Trace::open(folder.join(name)).unwrap();
    assert_eq!(trace.lines, (trace.jobs.len() + trace.skipped.len()) as u64);
    assert_eq!(trace.skipped, [], "{name}");
    assert!(trace.jobs.is_sorted_by_key(|job| (job.submit, job.line)));
    assert_eq!(trace.jobs[0].submit, Duration::ZERO);
    Some(trace)
}

/// Completed, failed, cancelled.
fn outcomes(trace: &Trace) -> [usize; 3] {
    [LoggedOutcome::Completed, LoggedOutcome::Failed, LoggedOutcome::Cancelled]
        .map(|outcome| trace.jobs.iter().filter(|job| job.outcome == outcome).count())
}

fn most_in_one_second(trace: &Trace) -> usize {
    let mut seconds = BTreeMap::new();
    for job in &trace.jobs {
        *seconds.entry(job.submit.as_secs()).or_insert(0) += 1;
    }
    seconds.into_values().max().unwrap_or(0)
}

/// The first and the last submit time as the log gives them, in seconds.
fn submits(trace: &Trace) -> (u64, u64) {
    let last = trace.jobs.last().unwrap().submit;
    (trace.first_submit.as_secs(), (trace.first_submit + last).as_secs())
}

fn queues(trace: &Trace) -> BTreeMap<Option<i64>, usize> {
    let mut queues = BTreeMap::new();
    for job in &trace.jobs {
        *queues.entry(job.queue).or_insert(0) += 1;
    }
    queues
}

fn run_times_of_zero(trace: &Trace) -> usize {
    trace.jobs.iter().filter(|job| job.run_time.is_zero()).count()
}

/// Each band's label, jobs and failed jobs.
fn bands(trace: &Trace, by: BandsBy) -> Vec<(String, usize, usize)> {
    let banding = by.assign(trace).unwrap();
    let mut failed = vec![0; banding.labels.len()];
    for (job, &band) in trace.jobs.iter().zip(&banding.bands) {
        failed[band] += usize::from(job.outcome == LoggedOutcome::Failed);
    }
    let counts = banding.counts();
    banding.labels.into_iter().zip(counts).zip(failed).map(|((l, n), f)| (l, n, f)).collect()
}

fn band(label: &str, jobs: usize, failed: usize) -> (String, usize, usize) {
    (label.to_owned(), jobs, failed)
}

#[test]
fn kth_whole() {
    let Some(trace) = real("kth-sp2-1996-2.1-cln.swf.gz") else { return };
    assert_eq!((trace.format, trace.lines), (TraceFormat::Swf, 28_476));
    assert_eq!(outcomes(&trace), [20_530, 7_946, 0]);
    assert_eq!(queues(&trace), BTreeMap::from([(None, 28_476)]));
    assert_eq!(submits(&trace), (599_850, 29_363_618));
    assert_eq!(most_in_one_second(&trace), 5);
    assert_eq!(run_times_of_zero(&trace), 8);
    assert_eq!(trace.header.computer.as_deref(), Some("IBM SP2"));
    assert_eq!(trace.header.unix_start_time, Some(843_480_031));
    let classes =
        [band("short", 23_063, 6_084), band("medium", 4_878, 1_632), band("long", 535, 230)];
    assert_eq!(bands(&trace, BandsBy::RequestedTime), classes);
    assert_eq!(bands(&trace, BandsBy::Auto), classes);
}

#[test]
fn kth_first_5000() {
    let Some(trace) = real("kth-sp2-1996-2.1-cln.first5000.swf") else { return };
    assert_eq!(trace.lines, 5_000);
    assert_eq!(outcomes(&trace), [3_305, 1_695, 0]);
    assert_eq!(queues(&trace), BTreeMap::from([(None, 5_000)]));
    assert_eq!(submits(&trace), (599_850, 6_657_376));
    assert_eq!(most_in_one_second(&trace), 5);
    let idle: Vec<_> =
        trace.jobs.iter().filter(|job| job.run_time.is_zero()).map(|job| &job.name).collect();
    assert_eq!(idle, ["2466", "4360", "4866"]);
    let classes = [band("short", 4_204, 1_394), band("medium", 712, 258), band("long", 84, 43)];
    assert_eq!(bands(&trace, BandsBy::RequestedTime), classes);
}

#[test]
fn kth_prefix_and_whole_agree() {
    let Some(whole) = real("kth-sp2-1996-2.1-cln.swf.gz") else { return };
    let Some(prefix) = real("kth-sp2-1996-2.1-cln.first5000.swf") else { return };
    assert_eq!(whole.jobs[..5_000], prefix.jobs);
}

#[test]
fn ricc_slice() {
    let Some(trace) = real("ricc-2010-2.jobs9001-17000.swf") else { return };
    assert_eq!(trace.lines, 8_000);
    assert_eq!(outcomes(&trace), [7_362, 0, 638]);
    assert_eq!(queues(&trace), BTreeMap::from([(Some(1), 7_929), (Some(2), 71)]));
    assert_eq!(submits(&trace), (905_341, 1_544_556));
    assert_eq!(most_in_one_second(&trace), 1_001);
    assert_eq!(run_times_of_zero(&trace), 9);
    let burst: Vec<u64> = trace
        .jobs
        .iter()
        .filter(|job| (trace.first_submit + job.submit).as_secs() == 1_544_424)
        .map(|job| job.name.parse().unwrap())
        .collect();
    assert_eq!(burst, (15_848..=16_848).collect::<Vec<_>>(), "the burst keeps its order");
    let expected = [band("queue 1", 7_929, 0), band("queue 2 (0)", 71, 0)];
    assert_eq!(bands(&trace, BandsBy::Queue), expected);
    let unnamed = BandsBy::Auto.assign(&trace).unwrap();
    assert_eq!(unnamed.by, BandsBy::RequestedTime, "its queues have no names");
}

#[test]
fn sdsc_first_10() {
    let Some(trace) = real("sdsc-sp2-1998-4.1-cln.first10.swf") else { return };
    assert_eq!(trace.lines, 10);
    assert_eq!(outcomes(&trace), [2, 0, 8]);
    assert_eq!(queues(&trace), BTreeMap::from([(Some(3), 5), (Some(4), 5)]));
    assert_eq!(submits(&trace), (0, 559_483));
    assert_eq!(most_in_one_second(&trace), 1);
    let names: Vec<_> = trace.header.queue_names.values().map(String::as_str).collect();
    let expected = ["interactive", "express", "high", "normal", "low", "standby", "No_Class"];
    assert_eq!(names, expected);
    for job in &trace.jobs[..3] {
        assert_eq!((job.outcome, job.run_time), (LoggedOutcome::Cancelled, Duration::ZERO));
    }
    assert!(trace.jobs[3..].iter().all(|job| !job.run_time.is_zero()));
    let expected = [band("queue 3 (normal)", 5, 0), band("queue 4 (low)", 5, 0)];
    assert_eq!(bands(&trace, BandsBy::Auto), expected);
}

#[test]
fn alibaba_pods() {
    let Some(trace) = real("alibaba-gpu-2023-openb-pods.csv") else { return };
    assert_eq!((trace.format, trace.lines), (TraceFormat::PodList, 8_152));
    assert_eq!(submits(&trace), (0, 12_901_761));
    assert_eq!(most_in_one_second(&trace), 4);

    let mut cells = BTreeMap::new();
    for job in &trace.jobs {
        let cell: &mut [usize; 3] = cells.entry(job.class.unwrap()).or_default();
        cell[match job.outcome {
            LoggedOutcome::Failed => 0,
            LoggedOutcome::Completed => 1,
            LoggedOutcome::Cancelled => 2,
        }] += 1;
    }
    // Failed, succeeded or running, pending.
    let expected = [
        (QosClass::LatencySensitive, [203, 153 + 3_837, 454]),
        (QosClass::Guaranteed, [0, 7, 0]),
        (QosClass::Burstable, [40, 39 + 19, 2]),
        (QosClass::BestEffort, [1_627, 1_330, 441]),
    ];
    assert_eq!(cells, BTreeMap::from(expected));
    assert_eq!(outcomes(&trace), [192 + 5_193, 1_870, 897]);

    let expected = [
        band("Guaranteed", 7, 0),
        band("LS", 4_647, 203),
        band("Burstable", 100, 40),
        band("BE", 3_398, 1_627),
    ];
    assert_eq!(bands(&trace, BandsBy::Auto), expected);
    assert_eq!(
        BandsBy::Queue.assign(&trace).unwrap_err().to_string(),
        "the jobs of the log have no queue numbers; they have QoS classes (`qos`)"
    );
}
