//! Dead letters in memory, bounded.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use super::{Added, Body, DeadLetter, DeadLetterError, DeadLetters, EntryId, Filter, Redriven};
use crate::job::Job;
use crate::lock::lock;
use crate::panics::discard_each;

/// What a full keeper does with one more letter. Either way it is counted as
/// [`lost`](DeadLetters::lost), and the job counts as dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Keeps the old ones.
    Refuse,
    /// Keeps the new one and drops the oldest.
    DropOldest,
}

/// Keeps up to a limit of dead letters in memory.
///
/// ```
/// use overtake_runtime::{DeadLetters, MemoryDeadLetters, WhenFull};
///
/// let letters = MemoryDeadLetters::<u32>::new(100, WhenFull::DropOldest);
/// assert_eq!((letters.len(), letters.lost()), (0, 0));
/// ```
pub struct MemoryDeadLetters<P> {
    limit: usize,
    when_full: WhenFull,
    kept: Mutex<Kept<P>>,
}

struct Kept<P> {
    letters: BTreeMap<EntryId, DeadLetter<P>>,
    /// Letters taken out to be redriven. Their places are kept: they may come back.
    claimed: usize,
    last: EntryId,
    lost: u64,
}

impl<P> MemoryDeadLetters<P> {
    /// Keeps at most `limit` letters; with a limit of 0 every letter is only counted.
    #[must_use]
    pub fn new(limit: usize, when_full: WhenFull) -> Self {
        let kept = Kept { letters: BTreeMap::new(), claimed: 0, last: EntryId(0), lost: 0 };
        Self { limit, when_full, kept: Mutex::new(kept) }
    }
}

impl<P> Default for MemoryDeadLetters<P> {
    /// Ten thousand letters, then the oldest are dropped.
    fn default() -> Self {
        Self::new(10_000, WhenFull::DropOldest)
    }
}

impl<P: Send> DeadLetters<P> for MemoryDeadLetters<P> {
    fn add(&self, mut letter: DeadLetter<P>) -> Added<P> {
        let mut kept = lock(&self.kept);
        let full = kept.len() >= self.limit;
        // All places may be those of letters that are being redriven; then there is no oldest.
        let oldest = match self.when_full {
            WhenFull::DropOldest if full => kept.letters.pop_first(),
            WhenFull::DropOldest | WhenFull::Refuse => None,
        };
        kept.lost += u64::from(full);
        if full && oldest.is_none() {
            // The letter's payload may have a `Drop` of its own: not under the lock.
            drop(kept);
            return Added::RefusedFull;
        }
        let entry = EntryId(kept.last.0 + 1);
        kept.last = entry;
        letter.entry = entry;
        kept.letters.insert(entry, letter);
        drop(kept);
        if oldest.is_some() { Added::KeptForOldest(entry) } else { Added::Kept(entry) }
    }

    fn len(&self) -> usize {
        lock(&self.kept).len()
    }

    fn lost(&self) -> u64 {
        lock(&self.kept).lost
    }

    fn for_each(
        &self,
        filter: &Filter,
        show: &mut dyn FnMut(&DeadLetter<P>) -> bool,
    ) -> Result<(), DeadLetterError> {
        let kept = lock(&self.kept);
        let chosen = kept.letters.values().filter(|letter| filter.matches(letter));
        for letter in chosen {
            if !show(letter) {
                break;
            }
        }
        Ok(())
    }

    fn remove(&self, filter: &Filter) -> Result<usize, DeadLetterError> {
        let mut removed = Vec::new();
        {
            let mut kept = lock(&self.kept);
            let letters = std::mem::take(&mut kept.letters);
            for (entry, letter) in letters {
                if filter.matches(&letter) {
                    removed.push(letter);
                } else {
                    kept.letters.insert(entry, letter);
                }
            }
        }
        let count = removed.len();
        discard_each(removed);
        Ok(count)
    }

    fn redrive(
        &self,
        entry: EntryId,
        accept: &mut dyn FnMut(Job<P>) -> Result<(), Job<P>>,
    ) -> Result<Redriven, DeadLetterError> {
        let Some((job, rest)) = self.take_job(entry) else {
            let has_no_job = lock(&self.kept).letters.contains_key(&entry);
            return Ok(if has_no_job { Redriven::NoJob } else { Redriven::Gone });
        };
        let claim = Claim { kept: &self.kept };
        let before = (job.attempts_made, job.generation, job.timing);
        match accept(job.reborn()) {
            Ok(()) => Ok(Redriven::Accepted),
            Err(mut job) => {
                (job.attempts_made, job.generation, job.timing) = before;
                claim.put_back(entry, DeadLetter { body: Body::Job(job), ..rest });
                Ok(Redriven::NotAccepted)
            }
        }
    }

    fn sync(&self) -> Result<(), DeadLetterError> {
        Ok(())
    }
}

impl<P> MemoryDeadLetters<P> {
    /// Takes a letter out if it holds a job: the job, and the rest to put it back with.
    fn take_job(&self, entry: EntryId) -> Option<(Job<P>, DeadLetter<P>)> {
        let mut kept = lock(&self.kept);
        kept.letters.get(&entry)?.job()?;
        let letter = kept.letters.remove(&entry)?;
        kept.claimed += 1;
        let DeadLetter { entry, at, reason, error, body } = letter;
        let nothing = Body::Input { place: String::new(), text: String::new() };
        let rest = DeadLetter { entry, at, reason, error, body: nothing };
        match body {
            Body::Job(job) => Some((job, rest)),
            Body::Input { .. } => None,
        }
    }
}

impl<P> Kept<P> {
    fn len(&self) -> usize {
        self.letters.len() + self.claimed
    }
}

/// The place of a letter that was taken out; given up when dropped.
struct Claim<'a, P> {
    kept: &'a Mutex<Kept<P>>,
}

impl<P> Claim<'_, P> {
    fn put_back(self, entry: EntryId, letter: DeadLetter<P>) {
        let mut kept = lock(self.kept);
        kept.letters.insert(entry, letter);
        kept.claimed -= 1;
        drop(kept);
        std::mem::forget(self);
    }
}

impl<P> Drop for Claim<'_, P> {
    fn drop(&mut self) {
        lock(self.kept).claimed -= 1;
    }
}

/// A payload may panic in its `Drop`. None of them is to keep the others from being dropped.
impl<P> Drop for MemoryDeadLetters<P> {
    fn drop(&mut self) {
        discard_each(std::mem::take(&mut lock(&self.kept).letters).into_values());
    }
}

impl<P> fmt::Debug for MemoryDeadLetters<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = lock(&self.kept);
        write!(f, "MemoryDeadLetters({} of {}, {} lost)", kept.len(), self.limit, kept.lost)
    }
}
