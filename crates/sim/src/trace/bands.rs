//! Which band each job of a trace goes to.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use overtake_core::MAX_BANDS;
use thiserror::Error;

use super::{Trace, TraceJob};

const SHORT: Duration = Duration::from_secs(4 * 3_600);
const MEDIUM: Duration = Duration::from_secs(15 * 3_600);

/// What decides the band of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BandsBy {
    /// The number of its queue: the lower, the more urgent. Jobs without one come last.
    Queue,
    /// How long its user said that it would run: short (up to 4 hours) before medium (up to 15
    /// hours) before long. Jobs without a requested time come last.
    RequestedTime,
    /// Its [`QosClass`](super::QosClass).
    Qos,
    /// What suits the log: `Qos` for a pod list; for an SWF log `Queue` if its header gives words
    /// to more than one of its queues, as bare numbers carry no order of urgency; else
    /// `RequestedTime`, and with no requested times the queues as they are.
    #[default]
    Auto,
}

/// The bands of a trace's jobs. Bands are numbered without gaps, and each has a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banding {
    /// What decided; never [`BandsBy::Auto`].
    pub by: BandsBy,
    /// A label for each band, the most urgent first.
    pub labels: Vec<String>,
    /// The band of each job, in the order of [`Trace::jobs`]; 0 is the most urgent.
    pub bands: Vec<usize>,
}

/// Why the jobs of a trace cannot be put into bands.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BandingError {
    /// The log does not have what was asked for.
    #[error("the jobs of the log have no {}; they have {}", kind(*by), list(has))]
    Lacks {
        /// What was asked for.
        by: BandsBy,
        /// What could decide instead.
        has: Vec<BandsBy>,
    },
    /// There are more queues than bands.
    #[error(
        "the log has {queues} queues, jobs without one counted as one more, and there can be at \
         most {MAX_BANDS} bands"
    )]
    TooManyQueues {
        /// How many bands would be needed.
        queues: usize,
    },
    /// Every line of the log was skipped.
    #[error("the log has no job to put into a band: all of its {lines} data lines were skipped")]
    NoJobs {
        /// The number of data lines.
        lines: u64,
    },
}

/// A name that no [`BandsBy`] has.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is none of queue, requested-time, qos, auto")]
pub struct UnknownBandsBy(pub String);

impl BandsBy {
    /// Every way, as a list for help texts.
    pub const ALL: [Self; 4] = [Self::Queue, Self::RequestedTime, Self::Qos, Self::Auto];

    /// The name that [`FromStr`] understands.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::RequestedTime => "requested-time",
            Self::Qos => "qos",
            Self::Auto => "auto",
        }
    }

    /// Gives each job of `trace` its band.
    ///
    /// # Errors
    ///
    /// [`BandingError::Lacks`] if no job has what should decide, [`BandingError::TooManyQueues`]
    /// if there are more queues than bands, and [`BandingError::NoJobs`] if there is no job.
    pub fn assign(self, trace: &Trace) -> Result<Banding, BandingError> {
        if trace.jobs.is_empty() {
            return Err(BandingError::NoJobs { lines: trace.lines });
        }
        let has: Vec<_> = [Self::Queue, Self::RequestedTime, Self::Qos]
            .into_iter()
            .filter(|by| trace.jobs.iter().any(|job| by.is_known(job)))
            .collect();
        let by = if self == Self::Auto { Self::suited(trace, &has) } else { self };
        if !has.contains(&by) {
            return Err(BandingError::Lacks { by, has });
        }
        let banding = match by {
            Self::RequestedTime => {
                dense(by, trace, |job| Span::of(job.requested_time), |span| span.label().into())
            }
            // An unknown class or queue sorts last.
            Self::Qos => dense(
                by,
                trace,
                |job| (job.class.is_none(), job.class),
                |(_, class)| class.map_or("unknown".into(), |class| class.to_string()),
            ),
            // `Auto` stands for another by now.
            Self::Queue | Self::Auto => dense(
                by,
                trace,
                |job| (job.queue.is_none(), job.queue),
                |(_, queue)| queue_label(trace, queue),
            ),
        };
        match banding.labels.len() {
            queues if queues > MAX_BANDS => Err(BandingError::TooManyQueues { queues }),
            _ => Ok(banding),
        }
    }

    fn is_known(self, job: &TraceJob) -> bool {
        match self {
            Self::Queue => job.queue.is_some(),
            Self::RequestedTime => job.requested_time.is_some(),
            Self::Qos => job.class.is_some(),
            Self::Auto => false,
        }
    }

    /// What `Auto` stands for; `Auto` itself if the log has nothing.
    fn suited(trace: &Trace, has: &[Self]) -> Self {
        let queues: BTreeSet<_> = trace.jobs.iter().filter_map(|job| job.queue).collect();
        let has_words = |queue: &&i64| {
            let name = trace.header.queue_names.get(queue);
            name.is_some_and(|name| name.contains(char::is_alphabetic))
        };
        if has.contains(&Self::Qos) {
            Self::Qos
        } else if queues.iter().filter(has_words).count() > 1 {
            Self::Queue
        } else {
            has.last().copied().unwrap_or(Self::Auto)
        }
    }
}

impl Banding {
    /// How many jobs each band has.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.labels.len()];
        for &band in &self.bands {
            counts[band] += 1;
        }
        counts
    }
}

/// A class of requested times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Span {
    Short,
    Medium,
    Long,
    Unknown,
}

impl Span {
    fn of(requested: Option<Duration>) -> Self {
        match requested {
            None => Self::Unknown,
            Some(time) if time <= SHORT => Self::Short,
            Some(time) if time <= MEDIUM => Self::Medium,
            Some(_) => Self::Long,
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Medium => "medium",
            Self::Long => "long",
            Self::Unknown => "unknown",
        }
    }
}

/// Numbers the keys that occur, in their order.
fn dense<K: Ord + Copy>(
    by: BandsBy,
    trace: &Trace,
    key: impl Fn(&TraceJob) -> K,
    label: impl Fn(K) -> String,
) -> Banding {
    let keys: Vec<K> = trace.jobs.iter().map(key).collect();
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let bands = keys.iter().map(|key| distinct.partition_point(|other| other < key)).collect();
    Banding { by, labels: distinct.into_iter().map(label).collect(), bands }
}

fn queue_label(trace: &Trace, queue: Option<i64>) -> String {
    match queue.map(|queue| (queue, trace.header.queue_names.get(&queue))) {
        None => "no queue".to_owned(),
        Some((queue, None)) => format!("queue {queue}"),
        Some((queue, Some(name))) => format!("queue {queue} ({name})"),
    }
}

const fn kind(by: BandsBy) -> &'static str {
    match by {
        BandsBy::Queue => "queue numbers",
        BandsBy::RequestedTime => "requested times",
        BandsBy::Qos => "QoS classes",
        BandsBy::Auto => "queue numbers, requested times or QoS classes",
    }
}

fn list(has: &[BandsBy]) -> String {
    let kinds: Vec<_> = has.iter().map(|&by| format!("{} (`{by}`)", kind(by))).collect();
    if kinds.is_empty() { "just submit and run times".to_owned() } else { kinds.join(" and ") }
}

impl fmt::Display for BandsBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for BandsBy {
    type Err = UnknownBandsBy;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|by| by.name() == name);
        found.ok_or_else(|| UnknownBandsBy(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace of jobs that differ in queue and requested time only.
    fn trace(jobs: &[(i64, i64)]) -> Trace {
        let mut log = "; Queue: 3 urgent\n; Queue: 7 bulk\n; Queue: 8 0\n".to_owned();
        for (queue, requested) in jobs {
            log += &format!("1 0 0 1 1 -1 -1 1 {requested} -1 1 1 1 -1 {queue} -1 -1 -1\n");
        }
        Trace::read(log.as_bytes(), "made up").unwrap()
    }

    #[test]
    fn every_name_is_read_back() {
        for by in BandsBy::ALL {
            assert_eq!(by.to_string().parse(), Ok(by));
        }
        let error = "Queue".parse::<BandsBy>().unwrap_err().to_string();
        assert_eq!(error, "`Queue` is none of queue, requested-time, qos, auto");
    }

    #[test]
    fn queues_ascend_and_jobs_without_one_come_last() {
        let banding = BandsBy::Queue.assign(&trace(&[(7, 1), (-1, 1), (2, 1), (7, 1)])).unwrap();
        assert_eq!(banding.labels, ["queue 2", "queue 7 (bulk)", "no queue"]);
        assert_eq!(banding.bands, [1, 2, 0, 1]);
        assert_eq!(banding.counts(), [1, 2, 1]);
    }

    #[test]
    fn requested_times_fall_into_classes_at_their_limits() {
        let times = [54_001, 54_000, 14_401, 14_400, 0, -1];
        let banding = BandsBy::RequestedTime.assign(&trace(&times.map(|time| (1, time)))).unwrap();
        assert_eq!(banding.labels, ["short", "medium", "long", "unknown"]);
        assert_eq!(banding.bands, [2, 1, 1, 0, 0, 3]);
    }

    #[test]
    fn a_class_without_a_job_leaves_no_gap() {
        let banding = BandsBy::RequestedTime.assign(&trace(&[(1, 99_999), (1, 1)])).unwrap();
        assert_eq!(banding.labels, ["short", "long"]);
        assert_eq!(banding.bands, [1, 0]);
    }

    #[test]
    fn auto_takes_what_tells_the_jobs_apart() {
        let by = |jobs: &[_]| BandsBy::Auto.assign(&trace(jobs)).map(|banding| banding.by);
        assert_eq!(by(&[(3, 1), (7, 1)]), Ok(BandsBy::Queue));
        assert_eq!(by(&[(7, 1), (8, 1)]), Ok(BandsBy::RequestedTime), "`0` is no word");
        assert_eq!(by(&[(1, 1), (-1, 1)]), Ok(BandsBy::RequestedTime));
        assert_eq!(by(&[(1, -1), (1, -1)]), Ok(BandsBy::Queue));
        assert_eq!(
            by(&[(-1, -1)]).unwrap_err().to_string(),
            "the jobs of the log have no queue numbers, requested times or QoS classes; they have \
             just submit and run times"
        );
    }

    #[test]
    fn what_the_log_lacks_is_said_with_what_it_has() {
        let error = BandsBy::Qos.assign(&trace(&[(1, 1)])).unwrap_err().to_string();
        assert_eq!(
            error,
            "the jobs of the log have no QoS classes; they have queue numbers (`queue`) and \
             requested times (`requested-time`)"
        );
    }

    #[test]
    fn sixty_four_queues_are_the_most() {
        let mut jobs: Vec<_> = (0..64).map(|queue| (queue, 1)).collect();
        assert_eq!(BandsBy::Queue.assign(&trace(&jobs)).unwrap().labels.len(), 64);
        jobs.push((-1, 1));
        assert_eq!(
            BandsBy::Queue.assign(&trace(&jobs)),
            Err(BandingError::TooManyQueues { queues: 65 })
        );
    }

    #[test]
    fn a_trace_without_jobs_has_no_bands() {
        let mut trace = trace(&[(1, 1)]);
        trace.jobs.clear();
        assert_eq!(BandsBy::Auto.assign(&trace), Err(BandingError::NoJobs { lines: 1 }));
    }
}
