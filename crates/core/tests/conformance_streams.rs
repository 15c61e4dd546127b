//! What users of other bounded channels take for granted, asked of this one in three ways. Here:
//! many items between many threads. `conformance_limits` says what was left out.

mod common;
mod ways;

use common::{Dice, Tally, join};
use overtake_core::{Receiver, TryRecvError};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;
use ways::{Tx, Way, assert_all, in_every_way, poll};

in_every_way! {
    one_to_one_in_order,
    one_to_one_to_the_end_of_an_iterator,
    many_to_one_each_in_order,
    one_to_many_each_item_once,
    many_to_many_each_item_once,
    many_to_many_without_waiting,
    what_one_sent_is_there_for_somebody,
    a_burst_from_many_senders_is_all_received,
    an_item_goes_back_and_forth,
    a_ring_of_threads_passes_an_item_round,
    a_chain_of_threads_adds_up,
    a_fan_out_and_in_again,
    channels_of_a_moment_are_used_up,
    a_thread_that_sends_while_it_receives,
    timeouts_between_two_threads,
    a_close_lets_everything_accepted_out,
    iterators_nest_and_break,
    an_iterator_that_may_not_wait_ends_and_goes_on,
    an_owned_iterator_ends_with_the_senders,
    borrowed_iterators_share_the_items,
    random_numbers_of_items_are_dropped_once,
    unreceived_items_are_dropped_with_the_last_receiver,
    items_of_a_full_channel_are_dropped_by_a_thread_that_panics,
    sizes_never_pass_the_capacity_beside_others,
    what_a_finished_send_put_in_is_seen,
}

const ITEMS: usize = 3_000;
const CAPACITIES: [usize; 3] = [1, 3, 64];

/// Starts `count` threads that send the numbers below `items`, each with its sender's.
fn start_senders(
    tx: &Tx<(usize, usize)>,
    count: usize,
    items: usize,
) -> Vec<thread::JoinHandle<()>> {
    let start = |sender| {
        let tx = tx.clone();
        thread::spawn(move || (0..items).for_each(|number| tx.send((sender, number)).unwrap()))
    };
    (0..count).map(start).collect()
}

/// Starts `count` threads that receive to the end.
fn start_receivers<T: Send + 'static>(
    rx: &Receiver<T>,
    count: usize,
) -> Vec<thread::JoinHandle<Vec<T>>> {
    let start = |_| {
        let rx = rx.clone();
        thread::spawn(move || rx.into_iter().collect())
    };
    (0..count).map(start).collect()
}

/// Fails unless each sender's numbers came in its order.
#[track_caller]
fn assert_each_in_order(way: Way, received: &[(usize, usize)], senders: usize) {
    for sender in 0..senders {
        let of_one = received.iter().filter(|item| item.0 == sender).map(|item| item.1);
        way.assert_in_order(&of_one.collect::<Vec<_>>());
    }
}

// ---- from threads to threads -------------------------------------------------------------------

fn one_to_one_in_order(way: Way) {
    for capacity in CAPACITIES {
        let (tx, rx) = way.channel(capacity);
        let sender = thread::spawn(move || (0..ITEMS).for_each(|number| tx.send(number).unwrap()));
        let received: Vec<_> = (0..ITEMS).map(|_| rx.recv().unwrap()).collect();
        way.assert_all_in_order(&received, ITEMS);
        assert!(rx.recv().is_err());
        join(sender);
    }
}

fn one_to_one_to_the_end_of_an_iterator(way: Way) {
    for capacity in CAPACITIES {
        let (tx, rx) = way.channel(capacity);
        let receiver = thread::spawn(move || rx.iter().collect::<Vec<_>>());
        (0..ITEMS).for_each(|number| tx.send(number).unwrap());
        drop(tx);
        way.assert_all_in_order(&join(receiver), ITEMS);
    }
}

fn many_to_one_each_in_order(way: Way) {
    let (tx, rx) = way.channel(2);
    let senders = start_senders(&tx, 8, 300);
    drop(tx);
    let received: Vec<_> = rx.into_iter().collect();
    assert_each_in_order(way, &received, 8);
    assert_eq!(received.iter().collect::<HashSet<_>>().len(), 8 * 300);
    senders.into_iter().for_each(join);
}

fn one_to_many_each_item_once(way: Way) {
    let (tx, rx) = way.channel(3);
    let receivers = start_receivers(&rx, 8);
    drop(rx);
    (0..ITEMS).for_each(|number| tx.send(number).unwrap());
    drop(tx);
    let received: Vec<_> = receivers.into_iter().map(join).collect();
    received.iter().for_each(|of_one| way.assert_in_order(of_one));
    assert_all(&received.concat(), ITEMS);
}

fn many_to_many_each_item_once(way: Way) {
    for capacity in CAPACITIES {
        let (tx, rx) = way.channel(capacity);
        let (senders, receivers) = (start_senders(&tx, 4, 500), start_receivers(&rx, 4));
        drop((tx, rx));
        senders.into_iter().for_each(join);
        let received: Vec<_> = receivers.into_iter().map(join).collect();
        received.iter().for_each(|of_one| assert_each_in_order(way, of_one, 4));
        let numbers: Vec<_> = received.concat().iter().map(|item| item.0 * 500 + item.1).collect();
        assert_all(&numbers, 4 * 500);
    }
}

fn many_to_many_without_waiting(way: Way) {
    let (tx, rx) = way.channel(2);
    let senders: Vec<_> = (0..3)
        .map(|sender| {
            let tx = tx.clone();
            thread::spawn(move || {
                for number in 0..500 {
                    while tx.try_send(sender * 500 + number).is_err() {
                        thread::yield_now();
                    }
                }
            })
        })
        .collect();
    drop(tx);
    let receivers: Vec<_> = (0..3)
        .map(|_| {
            let rx = rx.clone();
            thread::spawn(move || std::iter::from_fn(|| poll(&rx)).collect::<Vec<_>>())
        })
        .collect();
    senders.into_iter().for_each(join);
    assert_all(&receivers.into_iter().flat_map(join).collect::<Vec<_>>(), 3 * 500);
}

/// Each thread takes one after it has sent one: there are never fewer inside than takers.
fn what_one_sent_is_there_for_somebody(way: Way) {
    let (tx, rx) = way.channel(4);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (tx, rx) = (tx.clone(), rx.clone());
            thread::spawn(move || {
                for number in 0..ITEMS {
                    tx.send(number).unwrap();
                    rx.try_recv().expect("an item for each who sent one");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(join);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

fn a_burst_from_many_senders_is_all_received(way: Way) {
    let (tx, rx) = way.channel(1_000);
    let start = Arc::new(Barrier::new(20));
    let senders: Vec<_> = (0..20)
        .map(|sender| {
            let (tx, start) = (tx.clone(), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                (0..50).for_each(|number| tx.try_send(sender * 50 + number).expect("room"));
            })
        })
        .collect();
    senders.into_iter().for_each(join);
    assert_eq!(rx.len(), 1_000);
    assert_all(&rx.try_iter().collect::<Vec<_>>(), 1_000);
}

// ---- patterns ----------------------------------------------------------------------------------

fn an_item_goes_back_and_forth(way: Way) {
    let ((there, here), (back, home)) = (way.channel(1), way.channel(1));
    let echo = thread::spawn(move || here.iter().for_each(|item| back.send(item).unwrap()));
    for turn in 0..500 {
        there.send(turn).unwrap();
        assert_eq!(home.recv(), Ok(turn));
    }
    drop(there);
    join(echo);
}

fn a_ring_of_threads_passes_an_item_round(way: Way) {
    let (first, mut rx) = way.channel(1);
    let mut threads = Vec::new();
    for _ in 0..20 {
        let (tx, next) = way.channel(1);
        let before = std::mem::replace(&mut rx, next);
        threads.push(thread::spawn(move || before.iter().for_each(|n| tx.send(n + 1).unwrap())));
    }
    let mut number = 0;
    for round in 1..=20 {
        first.send(number).unwrap();
        number = rx.recv().unwrap();
        assert_eq!(number, round * 20);
    }
    drop(first);
    threads.into_iter().for_each(join);
}

/// Each waits for its right neighbour, tells its left one, and ends.
fn a_chain_of_threads_adds_up(way: Way) {
    let (leftmost, total) = way.channel(1);
    let mut left = leftmost;
    let mut threads = Vec::new();
    for _ in 0..50 {
        let (right, from_right) = way.channel(1);
        let to_left = std::mem::replace(&mut left, right);
        threads.push(thread::spawn(move || to_left.send(from_right.recv().unwrap() + 1).unwrap()));
    }
    left.send(0).unwrap();
    assert_eq!(total.recv(), Ok(50));
    threads.into_iter().for_each(join);
}

fn a_fan_out_and_in_again(way: Way) {
    let ((work, todo), (results, done)) = (way.channel(2), way.channel(2));
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let (todo, results) = (todo.clone(), results.clone());
            thread::spawn(move || todo.iter().for_each(|n: usize| results.send(n * 2).unwrap()))
        })
        .collect();
    drop((todo, results));
    let feeder = thread::spawn(move || (0..1_000).for_each(|number| work.send(number).unwrap()));
    let halves: Vec<_> = done.into_iter().map(|number| number / 2).collect();
    assert_all(&halves, 1_000);
    workers.into_iter().chain([feeder]).for_each(join);
}

fn channels_of_a_moment_are_used_up(way: Way) {
    for round in 0..300 {
        let (tx, rx) = way.channel(1);
        let sender = thread::spawn(move || tx.send(round).unwrap());
        assert_eq!(rx.recv(), Ok(round));
        join(sender);
        assert!(rx.recv().is_err());
    }
}

/// Items that become two more each, until they are leaves.
fn a_thread_that_sends_while_it_receives(way: Way) {
    let (tx, rx) = way.channel(64);
    tx.send(5_u32).unwrap();
    let mut leaves = 0;
    while let Ok(depth) = rx.try_recv() {
        if depth == 0 {
            leaves += 1;
        } else {
            (0..2).for_each(|_| tx.try_send(depth - 1).expect("room for two more"));
        }
    }
    assert_eq!((leaves, rx.len()), (32, 0));
}

fn timeouts_between_two_threads(way: Way) {
    const FEW: usize = 50;
    let (tx, rx) = way.channel(1);
    let short = Duration::from_micros(200);
    let sender = thread::spawn(move || {
        for number in 0..FEW {
            while tx.send_timeout(number, short).is_err() {}
            if number % 3 == 0 {
                thread::yield_now();
            }
        }
    });
    let mut received = Vec::new();
    while received.len() < FEW {
        received.extend(rx.recv_timeout(short));
    }
    way.assert_all_in_order(&received, FEW);
    join(sender);
}

fn a_close_lets_everything_accepted_out(way: Way) {
    let mut refused = 0;
    for round in 0..100 {
        let (tx, rx) = way.channel(8);
        let closing = tx.clone();
        let sender = thread::spawn(move || (0..50).take_while(|&n| tx.send(n).is_ok()).count());
        let early: Vec<_> = rx.iter().take(round % 20).collect();
        assert!(closing.close());
        let received: Vec<_> = early.into_iter().chain(rx.iter()).collect();
        let accepted = join(sender);
        way.assert_all_in_order(&received, accepted);
        refused += usize::from(accepted < 50);
    }
    assert!(refused > 0, "the closes came all too late");
}

// ---- iterators ---------------------------------------------------------------------------------

fn iterators_nest_and_break(way: Way) {
    let (tx, rx) = way.channel(10);
    (0..10).for_each(|number| tx.send(number).unwrap());
    drop(tx);
    let mut received = Vec::new();
    for outer in &rx {
        received.push(outer);
        received.extend(rx.iter().take(2));
        if received.len() >= 6 {
            break;
        }
    }
    assert_eq!(received.len(), 6);
    received.extend(&rx);
    way.assert_all_in_order(&received, 10);
}

fn an_iterator_that_may_not_wait_ends_and_goes_on(way: Way) {
    let (ask, asked) = way.channel(1);
    let (tx, rx) = way.channel(1);
    let sender = thread::spawn(move || asked.iter().for_each(|number| tx.send(number).unwrap()));
    let mut received = Vec::new();
    for number in 0..20 {
        ask.send(number).unwrap();
        while received.len() <= number {
            received.extend(rx.try_iter());
        }
    }
    drop(ask);
    join(sender);
    assert_eq!(rx.try_iter().next(), None);
    assert_eq!(received, (0..20).collect::<Vec<_>>());
}

fn an_owned_iterator_ends_with_the_senders(way: Way) {
    let (tx, rx) = way.channel(1);
    let receiver = thread::spawn(move || {
        let mut items = rx.into_iter();
        (items.by_ref().take(3).sum::<usize>(), items.next(), items.next())
    });
    (0..3).for_each(|_| tx.send(2).unwrap());
    drop(tx);
    assert_eq!(join(receiver), (6, None, None));
}

fn borrowed_iterators_share_the_items(way: Way) {
    let (tx, rx) = way.channel(2);
    let sender = thread::spawn(move || (0..1_000).for_each(|number| tx.send(number).unwrap()));
    let received = thread::scope(|scope| {
        let readers = [(); 2].map(|()| scope.spawn(|| rx.iter().collect::<Vec<_>>()));
        readers.map(|reader| reader.join().expect("a reader")).concat()
    });
    assert_all(&received, 1_000);
    join(sender);
}

// ---- what becomes of the items -----------------------------------------------------------------

fn random_numbers_of_items_are_dropped_once(way: Way) {
    let mut dice = Dice::new(8);
    for _ in 0..50 {
        let (tally, steps, extra) = (Tally::default(), dice.below(200), dice.below(50));
        let (tx, rx) = way.channel(50);
        let sender = {
            let (tx, tally) = (tx.clone(), tally.clone());
            thread::spawn(move || (0..steps).for_each(|_| drop(tx.send(tally.item()))))
        };
        assert_eq!(rx.iter().take(steps).count(), steps);
        join(sender);
        (0..extra).for_each(|_| drop(tx.try_send(tally.item())));
        assert_eq!(tally.dropped(), steps + extra - rx.len());
        drop((tx, rx));
        tally.assert_all_dropped_once();
    }
}

fn unreceived_items_are_dropped_with_the_last_receiver(way: Way) {
    let tally = Tally::default();
    let (tx, rx) = way.channel(5);
    let other = rx.clone();
    (0..5).for_each(|_| tx.send(tally.item()).unwrap());
    drop(rx);
    assert_eq!(tally.dropped(), 0);
    drop(other);
    // At once, though a sender lives on.
    tally.assert_all_dropped_once();
    assert!(tx.send(tally.item()).is_err());
    tally.assert_all_dropped_once();
}

fn items_of_a_full_channel_are_dropped_by_a_thread_that_panics(way: Way) {
    let tally = Tally::default();
    let (tx, rx) = way.channel(3);
    (0..way.room(3)).for_each(|_| tx.try_send(tally.item()).unwrap());
    let owner = thread::spawn(move || {
        let _both = (tx, rx);
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(owner.join().is_err());
    tally.assert_all_dropped_once();
}

// ---- sizes beside others -----------------------------------------------------------------------

fn sizes_never_pass_the_capacity_beside_others(way: Way) {
    let (tx, rx) = way.channel(3);
    let over = Arc::new(AtomicBool::new(false));
    let worker = {
        let (tx, rx, over) = (tx.clone(), rx.clone(), Arc::clone(&over));
        thread::spawn(move || {
            while !over.load(SeqCst) {
                let _ = (tx.try_send(1), tx.try_send(2), rx.try_recv());
            }
        })
    };
    for _ in 0..ITEMS {
        assert!(tx.len() <= way.room(3));
        assert!(rx.len_of(way.band(0)) <= 3);
        let _ = rx.is_full(way.band(0));
    }
    over.store(true, SeqCst);
    join(worker);
    let inside = rx.len();
    assert_eq!(rx.try_iter().count(), inside);
}

/// Where one has finished a send and nobody receives, everybody sees the item.
fn what_a_finished_send_put_in_is_seen(way: Way) {
    for round in 1..200 {
        let (tx, rx) = way.channel(2);
        let look = rx.clone();
        let sender = thread::spawn(move || (tx.send(round), tx));
        let (sent, tx) = join(sender);
        assert_eq!((sent, look.len(), tx.is_empty()), (Ok(()), 1, false));
        assert!(tx.close() && !look.is_empty());
        assert_eq!((rx.try_recv(), look.is_empty()), (Ok(round), true));
    }
}
