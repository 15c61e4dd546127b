//! The waiting jobs: two lanes per priority, retries before fresh ones.
//!
//! Both lanes of a priority are bands of one channel, each with a place for every job that its
//! permits let in. So a retry always finds room, keeps its priority, and passes fresh jobs. The places
//! hold boxes: most are empty at any time, and a ring has at least twice as many places as it needs.

use overtake_core::{BuildError, Builder, Receiver, SendError, Sender, TryRecvError};

use crate::job::Job;

#[derive(Debug)]
pub(crate) struct Lanes<P> {
    jobs: Sender<Box<Job<P>>>,
    workers: Receiver<Box<Job<P>>>,
}

/// Which of a priority's two lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Retry,
    Fresh,
}

impl Lane {
    const PER_PRIORITY: usize = 2;

    fn band(self, priority: usize) -> usize {
        priority * Self::PER_PRIORITY + usize::from(self == Self::Fresh)
    }
}

impl<P> Lanes<P> {
    /// The largest number of priorities that a channel has bands for.
    pub(crate) const MAX_PRIORITIES: usize = overtake_core::MAX_BANDS / Lane::PER_PRIORITY;

    pub(crate) fn new(capacities: &[usize]) -> Result<Self, BuildError> {
        let lanes = capacities.iter().flat_map(|&capacity| [capacity; Lane::PER_PRIORITY]);
        let (jobs, workers) = Builder::new().bands(&lanes.collect::<Vec<_>>()).build()?;
        Ok(Self { jobs, workers })
    }

    /// Puts an admitted job into its lane. There is room for it; should the channel need a moment
    /// to see that, this waits for that moment.
    pub(crate) fn put(&self, lane: Lane, job: Job<P>) -> Result<(), Job<P>> {
        let band = lane.band(job.priority);
        self.jobs.send(band, Box::new(job)).map_err(|SendError(job)| *job)
    }

    /// The next job, as soon as there is one; `None` once closed and empty.
    pub(crate) fn next(&self) -> Option<Job<P>> {
        self.workers.recv().ok().map(|job| *job)
    }

    /// The next job, if there is one now.
    pub(crate) fn try_next(&self) -> Result<Job<P>, TryRecvError> {
        self.workers.try_recv().map(|job| *job)
    }

    /// From here on jobs come out only to be handed back.
    pub(crate) fn close(&self) {
        self.jobs.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.jobs.is_closed()
    }

    pub(crate) fn waiting(&self, lane: Lane, priority: usize) -> usize {
        self.jobs.len_of(lane.band(priority))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_pass_fresh_jobs_of_their_own_priority_only() {
        let lanes = Lanes::new(&[2, 2]).expect("two priorities");
        let job = |priority, name| Job::new(name, ()).with_priority(priority);
        for (lane, job) in [
            (Lane::Fresh, job(1, "fresh bulk")),
            (Lane::Retry, job(1, "retried bulk")),
            (Lane::Fresh, job(0, "fresh urgent")),
            (Lane::Retry, job(0, "retried urgent")),
        ] {
            lanes.put(lane, job).expect("open");
        }
        lanes.close();
        let order: Vec<_> = std::iter::from_fn(|| lanes.next()).map(|job| job.name).collect();
        assert_eq!(order, ["retried urgent", "fresh urgent", "retried bulk", "fresh bulk"]);
    }
}
