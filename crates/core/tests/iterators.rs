//! Receiving by iteration.

mod common;

use common::{join, within};
use overtake_core::{BandSet, bounded};
use std::thread;

#[test]
fn iterators_nest_break_and_go_on() {
    let (tx, rx) = bounded(&[8]);
    (0..5).for_each(|number| tx.try_send(0, number).unwrap());
    drop(tx);
    let mut seen = Vec::new();
    for outer in &rx {
        seen.push(outer);
        for inner in rx.iter() {
            seen.push(inner);
            if inner == 1 {
                break;
            }
        }
    }
    assert_eq!(seen, [0, 1, 2, 3, 4]);
}

#[test]
fn try_iter_ends_where_nothing_is_and_may_go_on_later() {
    let (tx, rx) = bounded(&[8]);
    tx.try_send(0, 1).unwrap();
    let mut iter = rx.try_iter();
    assert_eq!((iter.next(), iter.next()), (Some(1), None));
    tx.try_send(0, 2).unwrap();
    assert_eq!((iter.next(), iter.next()), (Some(2), None));
}

#[test]
fn a_blocking_iterator_gets_all_until_closed() {
    within(10, || {
        let (tx, rx) = bounded(&[1, 1]);
        let sender = thread::spawn(move || {
            (0..100).for_each(|number| tx.send(number % 2, number).unwrap());
        });
        let mut items: Vec<_> = rx.into_iter().collect();
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
        join(sender);
    });
}

#[test]
fn an_owned_iterator_keeps_its_bands_and_closes_when_dropped() {
    let (tx, rx) = bounded(&[2, 2]);
    tx.try_send(0, 'a').unwrap();
    tx.try_send(1, 'b').unwrap();
    let mut bulk = rx.only(BandSet::only(1)).into_iter();
    assert_eq!(bulk.next(), Some('b'));
    drop(bulk);
    assert!(tx.is_closed() && tx.is_empty());
}

/// Primes by a chain of filters, a thread each: many short-lived channels that block both ways.
#[test]
fn a_sieve_of_threads() {
    within(20, || {
        let (tx, mut rx) = bounded(&[1]);
        let mut threads = vec![thread::spawn(move || {
            let _ = (2..).find(|&number: &u32| tx.send(0, number).is_err());
        })];
        let mut primes = Vec::new();
        while primes.len() < 20 {
            let prime = rx.recv().unwrap();
            primes.push(prime);
            let (next_tx, next_rx) = bounded(&[1]);
            let numbers = std::mem::replace(&mut rx, next_rx);
            threads.push(thread::spawn(move || {
                let mut rest = numbers.iter().filter(|number| number % prime != 0);
                let _ = rest.find(|&number| next_tx.send(0, number).is_err());
            }));
        }
        drop(rx);
        threads.into_iter().for_each(join);
        assert_eq!(primes[15..], [53, 59, 61, 67, 71]);
    });
}
