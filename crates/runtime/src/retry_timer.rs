//! Jobs that wait for a time: retries with a delay, and snoozed ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::clock::Clock;
use crate::job::Job;
use crate::lock::lock;

/// Holds jobs until they are due. Holds no worker meanwhile.
pub(crate) struct RetryTimer<P> {
    shared: Arc<SharedHeap<P>>,
    clock: Clock,
}

struct SharedHeap<P> {
    heap: Mutex<Heap<P>>,
    changed: Condvar,
}

struct Heap<P> {
    waiting: BinaryHeap<Reverse<Waiting<P>>>,
    next_sequence: u64,
    closed: bool,
}

/// Ordered by due time, then by arrival.
struct Waiting<P> {
    due: Duration,
    sequence: u64,
    job: Job<P>,
}

impl<P: Send + 'static> RetryTimer<P> {
    pub(crate) fn new(clock: Clock) -> Self {
        let heap = Heap { waiting: BinaryHeap::new(), next_sequence: 0, closed: false };
        let shared = Arc::new(SharedHeap { heap: Mutex::new(heap), changed: Condvar::new() });
        let listener = Arc::downgrade(&shared);
        clock.on_advance(move || {
            let Some(shared) = listener.upgrade() else {
                return false;
            };
            // Taken and left: whoever looked at the old time has begun to wait by now.
            drop(lock(&shared.heap));
            shared.changed.notify_all();
            true
        });
        Self { shared, clock }
    }
}

impl<P> RetryTimer<P> {
    /// Keeps a job for `delay`. A delay beyond the clock's end means its end. A closed timer gives
    /// the job back.
    pub(crate) fn keep(&self, job: Job<P>, delay: Duration) -> Result<(), Job<P>> {
        let due = self.clock.now().saturating_add(delay);
        let mut heap = lock(&self.shared.heap);
        if heap.closed {
            return Err(job);
        }
        let sequence = heap.next_sequence;
        heap.next_sequence += 1;
        let nearest = heap.next_due().is_none_or(|nearest| due < nearest);
        heap.waiting.push(Reverse(Waiting { due, sequence, job }));
        drop(heap);
        if nearest {
            self.shared.changed.notify_all();
        }
        Ok(())
    }

    /// The next job whose time has come.
    pub(crate) fn take_due(&self) -> Option<Job<P>> {
        lock(&self.shared.heap).take_due(self.clock.now())
    }

    /// Waits for the next job whose time comes; `None` once closed.
    pub(crate) fn wait_due(&self) -> Option<Job<P>> {
        let mut heap = lock(&self.shared.heap);
        loop {
            if heap.closed {
                return None;
            }
            if let Some(job) = heap.take_due(self.clock.now()) {
                return Some(job);
            }
            let next = heap.next_due();
            heap = self.clock.wait(&self.shared.changed, heap, next);
        }
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.shared.heap).waiting.len()
    }

    pub(crate) fn next_due(&self) -> Option<Duration> {
        lock(&self.shared.heap).next_due()
    }

    /// How many jobs it keeps and when the next is due, at one moment.
    pub(crate) fn look(&self) -> (usize, Option<Duration>) {
        let heap = lock(&self.shared.heap);
        (heap.waiting.len(), heap.next_due())
    }

    /// Keeps nothing new and lets nothing become due any more.
    pub(crate) fn stop(&self) {
        lock(&self.shared.heap).closed = true;
        self.shared.changed.notify_all();
    }

    /// Stops, and gives back what it kept, in the order it was due.
    pub(crate) fn close(&self) -> Vec<Job<P>> {
        self.stop();
        let mut waiting = std::mem::take(&mut lock(&self.shared.heap).waiting);
        std::iter::from_fn(|| waiting.pop()).map(|Reverse(waiting)| waiting.job).collect()
    }
}

impl<P> Heap<P> {
    fn next_due(&self) -> Option<Duration> {
        self.waiting.peek().map(|Reverse(waiting)| waiting.due)
    }

    fn take_due(&mut self, now: Duration) -> Option<Job<P>> {
        if self.next_due()? > now {
            return None;
        }
        self.waiting.pop().map(|Reverse(waiting)| waiting.job)
    }
}

impl<P> Ord for Waiting<P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.sequence).cmp(&(other.due, other.sequence))
    }
}

impl<P> PartialOrd for Waiting<P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for Waiting<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P> Eq for Waiting<P> {}

impl<P> fmt::Debug for RetryTimer<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heap = lock(&self.shared.heap);
        write!(f, "RetryTimer({} waiting, next at {:?})", heap.waiting.len(), heap.next_due())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(jobs: impl IntoIterator<Item = Job<()>>) -> Vec<String> {
        jobs.into_iter().map(|job| job.name.into_owned()).collect()
    }

    #[test]
    fn kind_30_a_nearer_time_does_not_wait_for_a_farther_one() {
        let (clock, hand) = Clock::manual();
        let timer = RetryTimer::new(clock);
        for (name, seconds) in [("far", 5), ("near", 1), ("zero", 0), ("near too", 1)] {
            timer.keep(Job::new(name, ()), Duration::from_secs(seconds)).expect("open");
        }
        let due = || names(std::iter::from_fn(|| timer.take_due()));
        assert_eq!(due(), ["zero"]);
        hand.advance(Duration::from_millis(999));
        assert_eq!(due(), Vec::<String>::new(), "none fires early");
        hand.advance(Duration::from_millis(1));
        assert_eq!(due(), ["near", "near too"]);
        assert_eq!(timer.next_due(), Some(Duration::from_secs(5)));
    }

    #[test]
    fn kind_11_the_longest_delay_is_the_end_of_the_clock() {
        let (clock, hand) = Clock::manual();
        hand.advance(Duration::from_secs(60));
        let timer = RetryTimer::new(clock);
        timer.keep(Job::new("late", ()), Duration::MAX).expect("open");
        assert_eq!(timer.next_due(), Some(Duration::MAX));
        assert_eq!(names(timer.close()), ["late"]);
        assert!(timer.keep(Job::new("too late", ()), Duration::ZERO).is_err());
    }

    #[test]
    fn moving_the_hand_wakes_who_waits() {
        let (clock, hand) = Clock::manual();
        let timer = Arc::new(RetryTimer::new(clock));
        timer.keep(Job::new("later", ()), Duration::from_secs(3600)).expect("open");
        let waiting = std::thread::spawn({
            let timer = Arc::clone(&timer);
            move || timer.wait_due()
        });
        hand.advance(Duration::from_secs(3600));
        let job = waiting.join().expect("no panic").expect("due");
        assert_eq!(job.name(), "later");
    }
}
