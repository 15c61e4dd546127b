//! The checker beside a search through all orders, on small random histories.

use std::collections::{HashSet, VecDeque};

use overtake_core::BandSet;
use overtake_sim::check::{History, Operation, OperationKind, ViolationKind, check};
use proptest::prelude::*;

/// Whether some order of the calls, respecting real time, is one that the specification allows.
fn some_order_is_allowed(history: &History) -> bool {
    let mut seen = HashSet::new();
    search(&history.operations, 0, &mut vec![VecDeque::new(); 4], &mut seen)
}

/// Tries each call that may come next; `done` is a bit per call. The state of the bands follows
/// from the calls done and their order, which is why both are remembered.
fn search(
    operations: &[Operation],
    done: u32,
    bands: &mut Vec<VecDeque<u64>>,
    seen: &mut HashSet<(u32, Vec<VecDeque<u64>>)>,
) -> bool {
    if done.count_ones() as usize == operations.len() {
        return true;
    }
    if !seen.insert((done, bands.clone())) {
        return false;
    }
    let open = |index: usize| done & (1 << index) == 0;
    let first_return =
        (0..operations.len()).filter(|&i| open(i)).map(|i| operations[i].ret).min().unwrap_or(0);
    (0..operations.len())
        .filter(|&index| open(index) && operations[index].call <= first_return)
        .any(|index| {
            let before = bands.clone();
            let found = apply(&operations[index], bands)
                && search(operations, done | 1 << index, bands, seen);
            *bands = before;
            found
        })
}

fn apply(operation: &Operation, bands: &mut [VecDeque<u64>]) -> bool {
    let most_urgent = operation.set.iter().take(bands.len()).find(|&band| !bands[band].is_empty());
    match operation.kind {
        OperationKind::PushOk => {
            bands[operation.band].push_back(operation.value);
            true
        }
        OperationKind::PopOk => {
            most_urgent == Some(operation.band)
                && bands[operation.band].pop_front() == Some(operation.value)
        }
        OperationKind::PopEmpty => most_urgent.is_none(),
        _ => unreachable!("not generated"),
    }
}

/// What a random call does, before it has times.
#[derive(Clone, Debug)]
enum Call {
    Push(usize),
    /// Pops the nth value pushed anywhere.
    Pop(usize),
    Empty,
}

fn calls() -> impl Strategy<Value = Vec<(Call, u64, u64)>> {
    let call = prop_oneof![
        4 => (0..3_usize).prop_map(Call::Push),
        4 => (0..5_usize).prop_map(Call::Pop),
        1 => Just(Call::Empty),
    ];
    prop::collection::vec((call, 0..30_u64, 1..12_u64), 2..9)
}

fn history_of(calls: &[(Call, u64, u64)]) -> History {
    let pushed: Vec<usize> = calls
        .iter()
        .filter_map(|(call, ..)| if let Call::Push(band) = call { Some(*band) } else { None })
        .collect();
    let mut popped = HashSet::new();
    let mut next_value = 0;
    let mut operations = Vec::new();
    for (index, (call, at, length)) in calls.iter().enumerate() {
        let (kind, band, value) = match *call {
            Call::Push(band) => {
                next_value += 1;
                (OperationKind::PushOk, band, next_value - 1)
            }
            Call::Pop(nth) if nth < pushed.len() && popped.insert(nth) => {
                (OperationKind::PopOk, pushed[nth], nth as u64)
            }
            Call::Pop(_) | Call::Empty => (OperationKind::PopEmpty, 0, 0),
        };
        // No two times are equal: what happens at one moment is decided by nobody.
        let call = at * 100 + index as u64 * 2;
        let ret = (at + length) * 100 + index as u64 * 2 + 1;
        let (thread, set) = (index as u32, BandSet::ALL);
        operations.push(Operation { thread, kind, band, value, call, ret, set });
    }
    History { operations, capacities: Vec::new() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30_000))]

    #[test]
    fn the_patterns_say_what_a_search_says(calls in calls()) {
        let history = history_of(&calls);
        let verdict = check(&history);
        prop_assert_eq!(
            verdict.is_linearizable(),
            some_order_is_allowed(&history),
            "{:?}\n{:#?}", verdict, history
        );
    }
}

fn history(lines: &str) -> History {
    let text = format!("thread,op,band,value,call,ret,set\n{lines}");
    History::read_csv(text.as_bytes()).expect("a history")
}

fn only_violation(lines: &str) -> (ViolationKind, String) {
    let verdict = check(&history(lines));
    let witness = verdict.witness.expect("something is wrong");
    (witness.kind, witness.to_string())
}

#[test]
fn a_plain_sweep_is_caught_with_a_witness_in_words() {
    // It saw band 0 empty, then both were pushed, and it took from band 1.
    let lines = "0,pop_ok,1,8,0,100,\n1,push_ok,0,7,10,20,\n1,push_ok,1,8,30,40,\n";
    let (kind, words) = only_violation(lines);
    assert_eq!(kind, ViolationKind::Inversion);
    assert!(words.contains("thread 0 popped 8 from band 1"), "{words}");
    assert!(words.contains("thread 1 pushed 7 to band 0"), "{words}");
    assert_eq!(check(&history(lines)).inversions(), 1);
}

#[test]
fn a_chain_of_values_forbids_empty() {
    let lines = "0,push_ok,0,1,0,10,\n0,pop_ok,0,1,30,60,\n1,push_ok,1,2,15,20,\n\
                 1,pop_ok,1,2,50,70,\n2,pop_empty,,,22,45,\n";
    assert_eq!(only_violation(lines).0, ViolationKind::NotEmpty);
    let longer = lines.replace("22,45", "22,55");
    assert!(check(&history(&longer)).is_linearizable(), "both may be out by then");
}

#[test]
fn a_restricted_receiver_may_pass_what_it_may_not_take() {
    let lines = "0,push_ok,0,1,0,10,\n0,push_ok,1,2,20,30,\n1,pop_ok,1,2,40,50,SET\n";
    assert!(check(&history(&lines.replace("SET", "2"))).is_linearizable());
    assert_eq!(only_violation(&lines.replace("SET", "3")).0, ViolationKind::Inversion);
}

#[test]
fn planted_violations_of_every_other_kind() {
    let table = [
        ("0,pop_ok,0,1,0,10,\n", ViolationKind::Fresh),
        ("0,push_ok,0,1,20,30,\n1,pop_ok,0,1,0,10,\n", ViolationKind::Fresh),
        (
            "0,push_ok,0,1,0,1,\n0,push_ok,0,2,2,3,\n1,pop_ok,0,2,4,5,\n1,pop_ok,0,1,6,7,\n",
            ViolationKind::Fifo,
        ),
        ("0,close,,,0,5,\n1,push_ok,0,1,10,20,\n", ViolationKind::Closing),
        ("0,close,,,30,35,\n1,pop_closed,,,10,20,\n", ViolationKind::Closing),
        ("0,close,,,0,5,\n1,pop_empty,,,10,20,\n", ViolationKind::Closing),
    ];
    for (lines, kind) in table {
        assert!(check(&history(lines)).violations.contains_key(&kind), "{kind:?}: {lines}");
    }
    let with_capacity = |lines, capacity| History { capacities: vec![capacity], ..history(lines) };
    let three = "0,push_ok,0,1,0,1,\n0,push_ok,0,2,2,3,\n0,push_ok,0,3,4,5,\n";
    let verdict = check(&with_capacity(three, 2));
    assert!(verdict.violations.contains_key(&ViolationKind::OverCapacity), "{verdict:?}");
    assert!(check(&with_capacity(three, 3)).is_linearizable());
    let full = "0,push_ok,0,1,0,1,\n0,push_full,0,,2,3,\n";
    let verdict = check(&with_capacity(full, 2));
    assert!(verdict.violations.contains_key(&ViolationKind::NotFull), "{verdict:?}");
    assert!(check(&with_capacity(full, 1)).is_linearizable());
}

#[test]
fn a_file_is_read_back_as_it_was_written() {
    let lines =
        "0,push_ok,3,1,0,10,\n0,pop_ok,3,1,30,60,8\n2,pop_empty,,,70,75,3\n1,close,,,80,81,\n";
    let history = history(lines);
    let mut written = Vec::new();
    history.write_csv(&mut written).expect("memory");
    let again = History::read_csv(&*written).expect("what was written");
    let kinds = |history: &History| {
        history.operations.iter().map(|o| (o.kind, o.value, o.band, o.call)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&history), kinds(&again));
    let error = History::read_csv(&b"thread,op,band,value,call,ret,set\n0,jump,0,1,0,1,\n"[..]);
    assert!(error.unwrap_err().to_string().starts_with("line 2: field `op`: `jump`"));
    let error = History::read_csv(&b"a,b\n"[..]).unwrap_err().to_string();
    assert!(error.contains("`a,b`, not `thread,op"), "{error}");
}
