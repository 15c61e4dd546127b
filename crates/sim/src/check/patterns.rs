//! The checker: forbidden patterns, found in O(n log n).
//!
//! For complete calls with distinct values, unbounded bands and unrestricted receivers a history
//! is linearizable exactly if it has none of the patterns `Fresh`, `Fifo`, `Inversion`, `NoMoment`
//! and `NotEmpty`: Bouajjani, Enea and Wang, "Checking Linearizability of Concurrent Priority Queues",
//! CONCUR 2017. Restricted receivers, capacities and closing are judged soundly: what is reported
//! is a violation, but not every violation is sure to be reported.

use std::collections::HashMap;

use overtake_core::{BandSet, MAX_BANDS};

use super::history::{History, Operation, OperationKind};
use super::intervals::Cover;
use super::witness::{Verdict, Violation, ViolationKind};

/// Never.
const NEVER: u64 = u64::MAX;

/// A value's way: its push, and its pop if there was one.
#[derive(Clone, Copy, Debug)]
struct Way {
    push: Operation,
    pop: Option<Operation>,
}

impl Way {
    fn pop_call(&self) -> u64 {
        self.pop.map_or(NEVER, |pop| pop.call)
    }

    fn pop_ret(&self) -> u64 {
        self.pop.map_or(NEVER, |pop| pop.ret)
    }

    /// The moments at which the value was certainly inside.
    fn certainly_inside(&self) -> (u64, u64) {
        (self.push.ret, self.pop_call())
    }

    /// Its pop cannot have happened before this.
    fn earliest_pop(&self) -> u64 {
        self.push.call.max(self.pop_call())
    }
}

/// Judges a history.
#[must_use]
pub fn check(history: &History) -> Verdict {
    let mut verdict = Verdict { operations: history.operations.len(), ..Verdict::default() };
    let bands = ways(history, &mut verdict);
    let covers = Covers::of(&bands);
    for ways in &bands {
        fifo(ways, &mut verdict);
    }
    let mut moments = Moments { bands: &bands, covers, unions: HashMap::new() };
    for band in 0..bands.len() {
        moments.judge_pops(band, &mut verdict);
    }
    moments.judge_empty(history, &mut verdict);
    capacities(history, &bands, &mut verdict);
    closing(history, &mut verdict);
    verdict
}

/// The ways of the values of each band.
fn ways(history: &History, verdict: &mut Verdict) -> Vec<Vec<Way>> {
    let mut pushes: HashMap<u64, (Operation, Option<Operation>)> = HashMap::new();
    let of_kind = |kind| history.operations.iter().filter(move |operation| operation.kind == kind);
    for &push in of_kind(OperationKind::PushOk) {
        if let Some((earlier, _)) = pushes.insert(push.value, (push, None)) {
            let because = vec![earlier];
            verdict.add(ViolationKind::Fresh, || fresh(push, because));
        }
    }
    for &pop in of_kind(OperationKind::PopOk) {
        match pushes.get_mut(&pop.value) {
            Some((push, taken @ None)) if push.band == pop.band && push.call <= pop.ret => {
                *taken = Some(pop);
            }
            Some((push, taken)) => {
                let because = [Some(*push), *taken].into_iter().flatten().collect();
                verdict.add(ViolationKind::Fresh, || fresh(pop, because));
            }
            None => verdict.add(ViolationKind::Fresh, || fresh(pop, Vec::new())),
        }
    }
    let mut bands = vec![Vec::new(); MAX_BANDS];
    for (push, pop) in pushes.into_values() {
        bands[push.band].push(Way { push, pop });
    }
    for ways in &mut bands {
        ways.sort_unstable_by_key(|way| (way.push.call, way.push.value));
    }
    bands
}

fn fresh(culprit: Operation, because: Vec<Operation>) -> Violation {
    Violation { kind: ViolationKind::Fresh, culprit, because }
}

/// One value was in before another went in, and the other was out before this one was asked for.
fn fifo(ways: &[Way], verdict: &mut Verdict) {
    let by_push = Table::of(ways, |way| way.push.ret, Way::pop_call);
    for later in ways {
        let Some(pop) = later.pop else {
            continue;
        };
        if let Some((called, earlier)) = by_push.best_before(later.push.call)
            && called > pop.ret
        {
            let because = [Some(ways[earlier].push), Some(later.push), ways[earlier].pop];
            let because = because.into_iter().flatten().collect();
            verdict.add(ViolationKind::Fifo, || Violation {
                kind: ViolationKind::Fifo,
                culprit: pop,
                because,
            });
        }
    }
}

/// The largest of some figure over all ways whose key lies before a given one.
struct Table {
    /// Key, largest figure so far, whose it is; ascending by key.
    rows: Vec<(u64, u64, usize)>,
}

impl Table {
    fn of(ways: &[Way], key: impl Fn(&Way) -> u64, figure: impl Fn(&Way) -> u64) -> Self {
        Self::of_figures(ways.iter().map(|way| (key(way), figure(way))))
    }

    fn of_figures(figures: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut rows: Vec<_> =
            figures.enumerate().map(|(index, (key, figure))| (key, figure, index)).collect();
        rows.sort_unstable();
        let mut best: Option<(u64, usize)> = None;
        for row in &mut rows {
            let here = (row.1, row.2);
            let now = best.filter(|best| best.0 >= here.0).unwrap_or(here);
            (row.1, row.2) = now;
            best = Some(now);
        }
        Self { rows }
    }

    /// The largest figure among keys below `key`, and whose it is.
    fn best_before(&self, key: u64) -> Option<(u64, usize)> {
        let count = self.rows.partition_point(|row| row.0 < key);
        self.rows[..count].last().map(|&(_, figure, index)| (figure, index))
    }

    fn figure_before(&self, key: u64) -> u64 {
        self.best_before(key).map_or(0, |(figure, _)| figure)
    }
}

/// When each band certainly held something.
struct Covers(Vec<Cover>);

impl Covers {
    fn of(bands: &[Vec<Way>]) -> Self {
        let cover = |ways: &Vec<Way>| Cover::of(ways.iter().map(Way::certainly_inside).collect());
        Self(bands.iter().map(cover).collect())
    }
}

struct Moments<'a> {
    bands: &'a [Vec<Way>],
    covers: Covers,
    /// The covers of sets of bands that were asked for.
    unions: HashMap<BandSet, Cover>,
}

impl Moments<'_> {
    /// When at least one band of the set certainly held something.
    fn cover_of(&mut self, set: BandSet) -> &Cover {
        let covers = &self.covers.0;
        self.unions.entry(set).or_insert_with(|| {
            set.iter()
                .filter_map(|band| covers.get(band))
                .fold(Cover::default(), |union, cover| union.union(cover))
        })
    }

    /// Each pop needs a moment at which nothing more urgent was certainly inside, not before the
    /// pops of values that went in before its own.
    fn judge_pops(&mut self, band: usize, verdict: &mut Verdict) {
        let ways = &self.bands[band];
        let not_before = forced_order(ways);
        for (way, not_before) in ways.iter().zip(not_before) {
            let Some(pop) = way.pop else {
                continue;
            };
            let more_urgent = pop.set & BandSet::range(..band);
            let latest = match self.cover_of(more_urgent).around(pop.ret) {
                Some((begin, _)) => begin,
                None => pop.ret,
            };
            if latest < way.earliest_pop() {
                let (from, bands) = (way.earliest_pop(), self.bands);
                verdict.add(ViolationKind::Inversion, || Violation {
                    kind: ViolationKind::Inversion,
                    culprit: pop,
                    because: chain(bands, more_urgent, from, pop.ret),
                });
            } else if latest < not_before.0 {
                let because = [Some(ways[not_before.1].push), ways[not_before.1].pop];
                let because = because.into_iter().flatten().collect();
                verdict.add(ViolationKind::NoMoment, || Violation {
                    kind: ViolationKind::NoMoment,
                    culprit: pop,
                    because,
                });
            }
        }
    }

    fn judge_empty(&mut self, history: &History, verdict: &mut Verdict) {
        let nothing = [OperationKind::PopEmpty, OperationKind::PopClosed];
        for &pop in history.operations.iter().filter(|pop| nothing.contains(&pop.kind)) {
            if self.cover_of(pop.set).holds(pop.call, pop.ret) {
                let bands = self.bands;
                verdict.add(ViolationKind::NotEmpty, || Violation {
                    kind: ViolationKind::NotEmpty,
                    culprit: pop,
                    because: chain(bands, pop.set, pop.call, pop.ret),
                });
            }
        }
    }
}

/// For each value the latest moment that the pops of values before it in its band force on it, and
/// which value that is.
///
/// A value is before another if it was in before the other went in, or out before the other was
/// asked for, or out before the other went in; or by two such steps of different kinds.
fn forced_order(ways: &[Way]) -> Vec<(u64, usize)> {
    let in_before = Table::of(ways, |way| way.push.ret, Way::earliest_pop);
    let out_before = Table::of(ways, Way::pop_ret, Way::earliest_pop);
    let directly = |way: &Way| {
        [
            in_before.best_before(way.push.call),
            out_before.best_before(way.pop_call()),
            out_before.best_before(way.push.call),
        ]
    };
    let then_out = Table::of(ways, Way::pop_ret, |way| in_before.figure_before(way.push.call));
    let then_in =
        Table::of(ways, |way| way.push.ret, |way| out_before.figure_before(way.pop_call()));
    ways.iter()
        .map(|way| {
            let by_two = [then_out.best_before(way.pop_call()), then_in.best_before(way.push.call)];
            directly(way).into_iter().chain(by_two).flatten().max().unwrap_or((0, 0))
        })
        .collect()
}

/// The fewest values of the bands of `set` that were certainly inside, one or another, from `from`
/// to `to`: their pushes and pops.
fn chain(bands: &[Vec<Way>], set: BandSet, from: u64, to: u64) -> Vec<Operation> {
    let mut links = Vec::new();
    let mut covered_to = from;
    while let Some(way) = set
        .iter()
        .filter_map(|band| bands.get(band))
        .flatten()
        .filter(|way| way.push.ret < covered_to)
        .max_by_key(|way| way.pop_call())
    {
        if way.pop_call() <= covered_to && !links.is_empty() {
            break;
        }
        links.extend([Some(way.push), way.pop].into_iter().flatten());
        if way.pop_call() > to {
            break;
        }
        covered_to = way.pop_call();
    }
    links
}

/// A full answer needs enough values and calls around it; and never may more be inside for certain
/// than fit.
fn capacities(history: &History, bands: &[Vec<Way>], verdict: &mut Verdict) {
    for (band, &capacity) in history.capacities.iter().enumerate() {
        let ways = &bands[band];
        let mut begins: Vec<_> = ways.iter().map(|way| way.push.call).collect();
        let mut ends: Vec<_> = ways.iter().map(Way::pop_ret).collect();
        begins.sort_unstable();
        ends.sort_unstable();
        let on_band = |operation: &&Operation| match operation.kind {
            OperationKind::PushFull | OperationKind::PushClosed => operation.band == band,
            _ => false,
        };
        let others: Vec<_> = history.operations.iter().filter(on_band).collect();
        let mut calls: Vec<_> = others.iter().map(|other| other.call).collect();
        let mut returns: Vec<_> = others.iter().map(|other| other.ret).collect();
        calls.sort_unstable();
        returns.sort_unstable();
        for &&full in others.iter().filter(|full| full.kind == OperationKind::PushFull) {
            let values = overlapping(&begins, &ends, full);
            let other_calls = overlapping(&calls, &returns, full) - 1;
            if values + other_calls < capacity {
                let kind = ViolationKind::NotFull;
                verdict.add(kind, || Violation { kind, culprit: full, because: Vec::new() });
            }
        }
        over_capacity(ways, capacity, verdict);
    }
}

/// How many of the intervals with these sorted begins and ends overlap a call.
fn overlapping(begins: &[u64], ends: &[u64], call: Operation) -> usize {
    begins.partition_point(|&begin| begin <= call.ret)
        - ends.partition_point(|&end| end < call.call)
}

fn over_capacity(ways: &[Way], capacity: usize, verdict: &mut Verdict) {
    let mut changes: Vec<_> = ways
        .iter()
        .filter(|way| way.push.ret < way.pop_call())
        .flat_map(|way| [(way.push.ret, 1, way.push), (way.pop_call(), -1, way.push)])
        .collect();
    // At equal times those that go out go first: the two calls overlap.
    changes.sort_unstable_by_key(|&(at, change, _)| (at, change));
    let mut inside = 0_i64;
    for (_, change, push) in changes {
        inside += change;
        if change > 0 && inside > capacity as i64 {
            let kind = ViolationKind::OverCapacity;
            verdict.add(kind, || Violation { kind, culprit: push, because: Vec::new() });
        }
    }
}

/// After a close has returned nothing is open, before it was called nothing is closed. Without a
/// recorded close nothing is judged.
fn closing(history: &History, verdict: &mut Verdict) {
    let closes = || history.operations.iter().filter(|o| o.kind == OperationKind::Close);
    let (Some(first_call), Some(first_return)) =
        (closes().min_by_key(|o| o.call), closes().min_by_key(|o| o.ret))
    else {
        return;
    };
    for &operation in &history.operations {
        let because = match operation.kind {
            OperationKind::PushOk | OperationKind::PopEmpty
                if operation.call > first_return.ret =>
            {
                first_return
            }
            OperationKind::PushClosed | OperationKind::PopClosed
                if operation.ret < first_call.call =>
            {
                first_call
            }
            _ => continue,
        };
        let kind = ViolationKind::Closing;
        let because = vec![*because];
        verdict.add(kind, || Violation { kind, culprit: operation, because });
    }
}
