#![doc = include_str!("README.md")]

mod waiter;

use std::fmt;

use crate::band::BandSet;
use crate::fault::Fault;
use crate::sync::{Arc, Mutex, Ordering, Word, lock, model_fence};
use waiter::Cell;
pub(crate) use waiter::{Told, Waiter, Woken};

/// The list of those who wait, with a word that says for what.
pub(crate) struct Notifier {
    /// Bit `b` is set while somebody announced waits for band `b`. Written under the lock.
    interest: Word,
    /// How many have announced: one who waits for no band has no bit. Written under the lock.
    announced: Word,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    /// Most senior first.
    waiting: Vec<Entry>,
    /// Cells nobody uses now, so that waiting allocates only when more wait than ever before.
    spare: Vec<Arc<Cell>>,
    next_seniority: u64,
}

struct Entry {
    seniority: u64,
    set: BandSet,
    cell: Arc<Cell>,
}

impl Notifier {
    pub(crate) fn new() -> Self {
        Self { interest: Word::new(0), announced: Word::new(0), list: Mutex::new(List::default()) }
    }

    /// A1 and A2: waits for the bands of `set` from now on. The caller must look once more before
    /// it parks. `seniority` is that of an earlier announcement of the same wait.
    pub(crate) fn announce(&self, set: BandSet, seniority: Option<u64>) -> Waiter<'_> {
        let mut list = lock(&self.list);
        let seniority = seniority.unwrap_or_else(|| {
            list.next_seniority += 1;
            list.next_seniority
        });
        let cell = list.spare.pop().unwrap_or_default();
        let place = list.waiting.partition_point(|entry| entry.seniority < seniority);
        list.waiting.insert(place, Entry { seniority, set, cell: Arc::clone(&cell) });
        self.publish_interest(&list);
        drop(list);
        // ORDERING: E7, before the look for something to take.
        model_fence(Fault::AnnounceWithoutFence);
        Waiter::new(self, cell, seniority)
    }

    /// P2 to P4: band `band` became worth a look; tells the most senior waiter that has it. Says
    /// whether anybody waits for it.
    #[inline]
    pub(crate) fn tell_one(&self, band: usize) -> bool {
        // ORDERING: E7, after what made the band worth a look: a SeqCst write of a ring's word.
        model_fence(Fault::TellWithoutFence);
        let waited_for = self.interest().contains(band);
        if waited_for {
            self.tell_one_slow(band);
        }
        waited_for
    }

    #[cold]
    fn tell_one_slow(&self, band: usize) {
        let mut list = lock(&self.list);
        let Some(place) = list.waiting.iter().position(|entry| entry.set.contains(band)) else {
            return;
        };
        let entry = list.waiting.remove(place);
        self.publish_interest(&list);
        entry.cell.tell(Told::Band(band));
        drop(list);
        entry.cell.wake();
    }

    /// As [`tell_all`](Self::tell_all), and takes no lock where nobody waits.
    pub(crate) fn tell_all_who_wait(&self) {
        // ORDERING: E7, as in `tell_one`.
        model_fence(Fault::TellWithoutFence);
        if self.announced.load(Ordering::SeqCst) != 0 {
            self.tell_all();
        }
    }

    /// Tells everybody who waits now to look at everything.
    #[cold]
    pub(crate) fn tell_all(&self) {
        let mut list = lock(&self.list);
        let told = std::mem::take(&mut list.waiting);
        self.publish_interest(&list);
        for entry in &told {
            entry.cell.tell(Told::All);
        }
        drop(list);
        for entry in told {
            entry.cell.wake();
        }
    }

    /// Takes an entry out again and gives its cell back; says what it had been told.
    fn leave(&self, seniority: u64, cell: &Arc<Cell>) -> Option<Told> {
        let mut list = lock(&self.list);
        let told = cell.take_told();
        if told.is_none() {
            let place = list.waiting.partition_point(|entry| entry.seniority < seniority);
            debug_assert!(
                list.waiting.get(place).is_some_and(|entry| entry.seniority == seniority),
                "neither told nor in the list: {list:?}"
            );
            list.waiting.remove(place);
            self.publish_interest(&list);
        }
        list.spare.push(Arc::clone(cell));
        told
    }

    #[inline]
    fn interest(&self) -> BandSet {
        // ORDERING: E7.
        BandSet::from_bits(self.interest.load(Ordering::SeqCst))
    }

    fn publish_interest(&self, list: &List) {
        let union = list.waiting.iter().fold(BandSet::EMPTY, |union, entry| union | entry.set);
        // ORDERING: E7. The list itself is read under its lock.
        self.interest.store(union.bits(), Ordering::SeqCst);
        self.announced.store(list.waiting.len() as u64, Ordering::SeqCst);
    }
}

impl fmt::Debug for Notifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notifier(waited for: {:?})", self.interest())
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.waiting.iter().map(|e| (e.seniority, e.set))).finish()
    }
}
