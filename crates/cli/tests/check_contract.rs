//! `overtake check` and `overtake compare`: what other programs rely on.

mod common;

use common::{Folder, number};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_linearizable_design_passes_and_its_history_is_read_back() {
    let folder = Folder::new();
    let arguments = "check --contender mutex_heap --ops 30000 --bands 8 --record h.csv --json";
    let recorded = folder.run(arguments);
    assert_eq!(recorded.code, Some(0), "{recorded:?}");
    let verdict = json(&recorded.stdout);
    assert_eq!(verdict["linearizable"], true);
    assert_eq!((number(&verdict, "ops"), number(&verdict, "inversions")), (30_000, 0));
    assert_eq!(folder.read("h.csv").lines().next(), Some("thread,op,band,value,call,ret,set"));
    assert_eq!(folder.read("h.csv").lines().count(), 30_001);
    let read = folder.run("check h.csv --json");
    assert_eq!(number(&json(&read.stdout), "ops"), 30_000);
    assert_eq!(read.code, Some(0), "{read:?}");
}

#[test]
fn a_violation_is_told_in_words_and_by_the_exit_code() {
    let folder = Folder::new();
    folder.write(
        "h.csv",
        "thread,op,band,value,call,ret,set\n0,pop_ok,1,8,0,100,\n1,push_ok,0,7,10,20,\n\
         1,push_ok,1,8,30,40,\n",
    );
    let words = folder.run("check h.csv");
    assert_eq!(words.code, Some(1), "{words:?}");
    for expected in ["NOT linearizable", "thread 0 popped 8 from band 1", "thread 1 pushed 7"] {
        assert!(words.stdout.contains(expected), "{}", words.stdout);
    }
    let verdict = json(&folder.run("check h.csv --json").stdout);
    assert_eq!((&verdict["linearizable"], number(&verdict, "inversions")), (&false.into(), 1));
}

#[test]
fn what_cannot_be_checked_is_named() {
    let folder = Folder::new();
    folder.write("bad.csv", "thread,op,band,value,call,ret,set\n0,push_ok,64,7,10,20,\n");
    let table = [
        ("check", "name a history file"),
        ("check missing.csv", "missing.csv"),
        ("check bad.csv", "line 2: field `band`: 64 is not below 64"),
        ("check --contender nobody", "the contenders are overtake, mutex_heap"),
    ];
    for (arguments, expected) in table {
        let finished = folder.run(arguments);
        assert_eq!(finished.code, Some(2), "{finished:?}");
        assert!(finished.stderr.contains(expected), "{arguments}: {}", finished.stderr);
    }
}

#[test]
fn a_design_without_bands_is_checked_as_one_queue() {
    let checked = Folder::new().run("check --contender crossbeam_fifo --ops 20000 --json");
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.stderr.contains("no priorities"), "{}", checked.stderr);
    assert_eq!(number(&json(&checked.stdout), "bands"), 1);
}

#[test]
fn the_list_of_designs_has_a_line_each() {
    let list = Folder::new().run("compare --list");
    assert_eq!(list.code, Some(0));
    for name in ["overtake ", "mutex_bands ", "ring_sweep ", "crossbeam_select ", "std_fifo "] {
        let lines = list.stdout.lines().filter(|line| line.starts_with(name)).count();
        assert_eq!(lines, 1, "{name}: {}", list.stdout);
    }
}

#[test]
fn a_comparison_has_a_row_for_the_best_peer_and_one_for_scale() {
    let arguments = "compare --quick --rounds 1 --only pair --against mutex_bands array_queue";
    let compared = Folder::new().run(&format!("{arguments} --json"));
    assert_eq!(compared.code, Some(0), "{compared:?}");
    let comparison = json(&compared.stdout);
    assert!(comparison["machine"]["cores"].is_u64());
    let cells = comparison["cells"].as_array().expect("a list");
    let peers: Vec<_> = cells.iter().map(|cell| (&cell["best_peer"], &cell["reference"])).collect();
    assert_eq!(peers.len(), 8);
    assert_eq!(peers[0], (&"mutex_bands".into(), &false.into()));
    assert_eq!(peers[1], (&"array_queue".into(), &true.into()));
    for cell in cells {
        assert_eq!(cell["better"], "lower");
        assert!(cell["ours"].is_f64() && cell["best_value"].is_f64() && cell["ratio"].is_f64());
        assert_eq!(cell["spread"].as_array().map(Vec::len), Some(2));
        assert_eq!(cell["values"].as_object().map(serde_json::Map::len), Some(3));
    }
    let table = Folder::new().run(&format!("{arguments} --all"));
    let rows = |part| table.stdout.lines().filter(|line| line.contains(part)).count();
    assert_eq!((rows("uncontended pair, "), rows("array_queue *")), (8, 4), "{}", table.stdout);
}

#[test]
fn what_cannot_be_compared_is_named() {
    let table = [
        ("compare --against nobody", "the contenders are overtake, mutex_heap"),
        ("compare --only nothing", "`wake a receiver`"),
        ("compare --rounds 0", "0 is not in 1..=10000"),
    ];
    for (arguments, expected) in table {
        let finished = Folder::new().run(arguments);
        assert_eq!(finished.code, Some(2), "{finished:?}");
        assert!(finished.stderr.contains(expected), "{arguments}: {}", finished.stderr);
    }
}
