//! The generator of the sample log: every line of it is made up.

const SEED: u64 = 20_260_101;
const JOBS: usize = 400;
const BURST: usize = 120;
/// The second in which the whole burst is submitted.
const BURST_AT: u64 = 7_200;
/// The other jobs are submitted within this many seconds.
const SPREAD: u64 = 6 * 3_600;

const HEADER: &str = "\
; Version: 2.2
; Computer: none, this log is synthetic
; Installation: none, every job line is generated
; Note: SYNTHETIC. Written by the example make_sample_trace; no line comes from a real log.
; Note: 400 jobs over six hours, 120 of them in second 7200, in two queues; some fail, some are
;       cancelled, while they wait (run time -1) or while they run.
; MaxJobs: 400
; MaxRecords: 400
; MaxQueues: 2
; Queue: 1 urgent
; Queue: 2 bulk
;
";

/// A small SWF log, the same on every call: two named queues, a burst of 120 bulk jobs in one
/// second, failures, cancellations, run times of zero and unknown requested times.
///
/// The crate carries it as `samples/two-queues.swf`, for a first replay without a real log.
#[must_use]
pub fn sample_swf() -> String {
    let mut random = Random(SEED);
    let mut jobs: Vec<_> = (0..JOBS).map(|index| Job::make(index < BURST, &mut random)).collect();
    jobs.sort_by_key(|job| job.submit);

    let mut log = HEADER.to_owned();
    for (number, job) in (1..).zip(jobs) {
        log += &job.line(number);
    }
    log
}

struct Job {
    submit: u64,
    run_time: Option<u64>,
    requested_time: Option<u64>,
    status: u8,
    user: u64,
    queue: u8,
}

impl Job {
    fn make(in_burst: bool, random: &mut Random) -> Self {
        let submit = if in_burst { BURST_AT } else { random.below(SPREAD) };
        let urgent = !in_burst && random.below(5) < 2;
        let run_time = match random.below(40) {
            0 => 0,
            1 | 2 if !urgent => 3_600 + random.below(3 * 3_600),
            _ if urgent => 1 + random.below(30),
            _ => 10 + random.below(600),
        };
        let requested_time = match random.below(40) {
            0 => None,
            _ if urgent => Some(600),
            // Users ask for much more than they need.
            _ => Some([14_400, 14_400, 54_000, 86_400][random.below(4) as usize]),
        };
        let (status, run_time) = match random.below(100) {
            0..15 => (0, Some(run_time)),
            15..18 => (5, Some(run_time)),
            18..21 => (5, None),
            _ => (1, Some(run_time)),
        };
        let user = if in_burst { 3 } else { 1 + random.below(12) };
        Self { submit, run_time, requested_time, status, user, queue: if urgent { 1 } else { 2 } }
    }

    fn line(&self, number: usize) -> String {
        let Self { submit, status, user, queue, .. } = self;
        let [run_time, requested_time] = [self.run_time, self.requested_time]
            .map(|time| time.map_or("-1".to_owned(), |time| time.to_string()));
        format!(
            "{number:>5} {submit:>6} -1 {run_time:>6} 1 -1 -1 1 {requested_time:>6} -1 {status} \
             {user:>3} 1 -1 {queue} -1 -1 -1\n"
        )
    }
}

/// The SplitMix64 generator: a few lines, and the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; that small ones are a little likelier does not matter here.
    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{BandsBy, LoggedOutcome, Trace};
    use super::*;

    #[test]
    fn the_committed_sample_is_what_the_generator_makes() {
        let committed = include_str!("../../samples/two-queues.swf");
        assert!(
            committed == sample_swf(),
            "run the example make_sample_trace and commit its output"
        );
    }

    #[test]
    fn the_generator_makes_the_known_numbers_of_its_algorithm() {
        let mut random = Random(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_sample_has_all_that_its_header_promises() {
        let trace = Trace::read(sample_swf().as_bytes(), "sample").unwrap();
        assert_eq!((trace.jobs.len(), trace.skipped.len()), (JOBS, 0));
        let count = |wanted: fn(&super::super::TraceJob) -> bool| {
            trace.jobs.iter().filter(|job| wanted(job)).count()
        };
        let burst = Duration::from_secs(BURST_AT) - trace.first_submit;
        assert!(trace.jobs.iter().filter(|job| job.submit == burst).count() >= BURST);
        assert!(count(|job| job.outcome == LoggedOutcome::Failed) > 30);
        assert!(count(|job| job.outcome == LoggedOutcome::Cancelled) > 10);
        assert!(count(|job| job.outcome == LoggedOutcome::Cancelled && job.run_time.is_zero()) > 3);
        assert!(count(|job| job.requested_time.is_none()) > 3);
        assert!(BandsBy::Queue.assign(&trace).unwrap().counts()[0] > 80);
        assert_eq!(BandsBy::RequestedTime.assign(&trace).unwrap().labels.len(), 4);
    }
}
