//! What every contender must obey to be compared: order, capacities, closing, nothing lost.

use std::collections::VecDeque;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use overtake_sim::contenders::{Contender, Item, Visitor, for_each};

/// How long a check may take before the contender counts as stuck.
const WATCHDOG: Duration = Duration::from_secs(60);

/// Does a check with each contender, on a thread that is watched.
macro_rules! with_each {
    ($check:ident) => {{
        struct Check;
        impl Visitor for Check {
            fn visit<C: Contender>(&mut self) {
                let (ended, end) = mpsc::channel();
                let thread = thread::spawn(move || {
                    $check::<C>();
                    let _ = ended.send(());
                });
                match end.recv_timeout(WATCHDOG) {
                    Err(mpsc::RecvTimeoutError::Timeout) => panic!("{} is stuck", C::NAME),
                    _ => assert!(thread.join().is_ok(), "{} failed", C::NAME),
                }
            }
        }
        for_each(&mut Check);
    }};
}

#[test]
fn each_has_a_name_of_its_own_and_a_design() {
    #[derive(Default)]
    struct Names(Vec<&'static str>);
    impl Visitor for Names {
        fn visit<C: Contender>(&mut self) {
            assert!(!C::DESIGN.is_empty(), "{}", C::NAME);
            assert!(!self.0.contains(&C::NAME), "{} is there twice", C::NAME);
            self.0.push(C::NAME);
        }
    }
    let mut names = Names::default();
    for_each(&mut names);
    assert!(names.0.contains(&"overtake"));
}

#[test]
fn the_most_urgent_band_goes_first_and_each_is_a_queue() {
    fn check<C: Contender>() {
        let queue = C::make(&[8, 8, 8]);
        let sent = || (0..8).flat_map(|item| [2, 0, 1].map(|band| (band, item)));
        assert!(sent().all(|(band, item)| queue.try_send(band, item)));
        let mut expected: Vec<_> = sent().map(|(band, item)| (band_of::<C>(band), item)).collect();
        expected.sort_by_key(|(band, _)| *band);
        let mut received: Vec<_> = std::iter::from_fn(|| queue.try_recv()).collect();
        assert!(received.is_sorted_by_key(|(band, _)| *band));
        if !C::FIFO {
            received.sort_unstable();
        }
        assert_eq!(received, expected);
    }
    with_each!(check);
}

#[test]
fn each_band_has_its_own_capacity() {
    fn check<C: Contender>() {
        let queue = C::make(&[1, 3]);
        if !C::CAPACITY_PER_BAND {
            assert_eq!((0..10).take_while(|&item| queue.try_send(1, item)).count(), 4);
            return;
        }
        let fill = |band| (0..10).take_while(|&item| queue.try_send(band, item)).count();
        assert_eq!((fill(1), fill(0)), (3, 1));
        assert_eq!(queue.recv(), Some((0, 0)));
        assert_eq!((fill(1), fill(0)), (0, 1));
    }
    with_each!(check);
}

#[test]
fn a_closed_one_takes_nothing_in_and_gives_out_all_it_has() {
    fn check<C: Contender>() {
        let queue = C::make(&[2, 2]);
        assert!(queue.send(1, 10) && queue.send(0, 20));
        queue.close();
        queue.close();
        if C::CLOSES {
            assert!(!queue.try_send(0, 1) && !queue.send(0, 1));
        }
        let expected = if C::PRIORITY { [(0, 20), (1, 10)] } else { [(0, 10), (0, 20)] };
        assert_eq!(queue.recv(), Some(expected[0]));
        assert_eq!(queue.try_recv(), Some(expected[1]));
        assert_eq!((queue.recv(), queue.try_recv()), (None, None));
    }
    with_each!(check);
}

#[test]
fn closing_frees_all_who_wait() {
    fn check<C: Contender>() {
        let (empty, full) = (C::make(&[1]), C::make(&[1, 1]));
        assert!(full.try_send(0, 0) && full.try_send(1, 1));
        thread::scope(|scope| {
            for _ in 0..if C::MANY_RECEIVERS { 3 } else { 1 } {
                scope.spawn(|| assert_eq!(empty.recv(), None));
            }
            for &band in if C::CLOSES { [0, 1, 1].as_slice() } else { &[] } {
                let full = &full;
                scope.spawn(move || assert!(!full.send(band, 2)));
            }
            // Whether they wait already or come later, they all see it.
            thread::yield_now();
            empty.close();
            if C::CLOSES {
                full.close();
            }
        });
    }
    with_each!(check);
}

#[test]
fn many_items_at_once_are_those_that_single_calls_give() {
    fn check<C: Contender>() {
        let queue = C::make(&[2, 4]);
        let mut items = VecDeque::from_iter(0..10);
        let low = queue.try_send_many(1, &mut items);
        let high = queue.try_send_many(0, &mut items);
        assert_eq!((low, high), if C::CAPACITY_PER_BAND { (4, 2) } else { (6, 0) });
        assert_eq!(items, VecDeque::from([6, 7, 8, 9]));
        let mut taken = vec![77];
        while queue.try_recv_many(&mut taken, 3) > 0 {}
        assert_eq!(taken.remove(0), 77);
        let as_sent = [0, 1, 2, 3, 4, 5];
        if !C::FIFO {
            taken.sort_unstable();
        }
        assert_eq!(taken, if C::CAPACITY_PER_BAND { [4, 5, 0, 1, 2, 3] } else { as_sent });
        assert!(queue.send(1, 6));
        assert_eq!(queue.recv(), Some((band_of::<C>(1), 6)));
    }
    with_each!(check);
}

#[test]
fn room_and_items_wake_those_who_wait_for_them() {
    fn check<C: Contender>() {
        const ITEMS: u64 = 2_000;
        let queue = C::make(&[1, 1]);
        thread::scope(|scope| {
            scope
                .spawn(|| (0..ITEMS).for_each(|item| assert!(queue.send(item as usize % 2, item))));
            for expected in 0..ITEMS {
                // Two items of different bands may be inside, so only each band's order is sure.
                let (band, item) = queue.recv().expect("open");
                assert_eq!(band_of::<C>(item as usize % 2), band);
                assert!(!C::FIFO || item.abs_diff(expected) <= 2, "{item} and {expected}");
            }
        });
    }
    with_each!(check);
}

#[test]
fn any_calls_give_what_plain_queues_give() {
    fn check<C: Contender>() {
        let mut random = Random(7);
        for _ in 0..200 {
            let capacities: Vec<_> = (0..=random.below(4)).map(|_| 1 + random.below(4)).collect();
            let queue = C::make(&capacities);
            if !C::CAPACITY_PER_BAND || !C::FIFO {
                return;
            }
            let mut model = vec![VecDeque::new(); capacities.len()];
            for item in 0..200 {
                if random.below(2) == 0 {
                    let band = random.below(capacities.len());
                    let fits = model[band].len() < capacities[band];
                    assert_eq!(queue.try_send(band, item), fits);
                    model[band].extend(fits.then_some(item));
                } else {
                    let band = model.iter().position(|band| !band.is_empty());
                    let expected = band.and_then(|band| Some((band, model[band].pop_front()?)));
                    assert_eq!(queue.try_recv(), expected);
                }
            }
        }
    }
    with_each!(check);
}

#[test]
fn many_threads_lose_and_double_nothing() {
    const SENDERS: u64 = 4;
    const ITEMS: u64 = 4_000;
    const BANDS: usize = 3;
    fn check<C: Contender>() {
        let queue = C::make(&[4; BANDS]);
        let received: Vec<Vec<(usize, Item)>> = thread::scope(|scope| {
            let receive = || std::iter::from_fn(|| queue.recv()).collect();
            let receivers = if C::MANY_RECEIVERS { 4 } else { 1 };
            let receivers: Vec<_> = (0..receivers).map(|_| scope.spawn(receive)).collect();
            thread::scope(|senders| {
                for sender in 0..SENDERS {
                    let queue = &queue;
                    senders.spawn(move || {
                        for number in 0..ITEMS {
                            let band = (number + sender) as usize % BANDS;
                            assert!(queue.send(band, number * SENDERS + sender));
                        }
                    });
                }
            });
            queue.close();
            receivers.into_iter().map(|receiver| receiver.join().expect("only receives")).collect()
        });
        for one_receiver in received.iter().filter(|_| C::FIFO) {
            assert_in_order(one_receiver);
        }
        let mut all: Vec<_> = received.concat().into_iter().map(|(_, item)| item).collect();
        assert_eq!(all.iter().sum::<u64>(), (0..SENDERS * ITEMS).sum::<u64>());
        all.sort_unstable();
        assert!(all.into_iter().eq(0..SENDERS * ITEMS));
    }
    /// One receiver sees the items that one sender sent to one band in the order of sending.
    fn assert_in_order(items: &[(usize, Item)]) {
        for sender in 0..SENDERS {
            for band in 0..BANDS {
                let these =
                    items.iter().filter(|(of, item)| *of == band && item % SENDERS == sender);
                assert!(these.map(|(_, item)| item).is_sorted());
            }
        }
    }
    with_each!(check);
}

/// The band that an item sent to `band` comes out of.
fn band_of<C: Contender>(band: usize) -> usize {
    if C::PRIORITY { band } else { 0 }
}

/// A linear congruential generator; its high bits are random enough here.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}
