//! Plays of threads and tasks that wait, written in a line each, and scenes with wakers that do
//! more than wake.

use overtake_core::{BandSet, Receiver, RecvError, Sender, bounded};
use overtake_loom_tests::{Act, Alarm, Play, Way, block_on_changing, poll, run_play, when_rung};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner, thread};
use std::future::Future;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};

/// Capacities, then what is done before, then what each thread does: see `act`.
pub(super) const PLAYS: &[(&str, &str)] = &[
    ("one_each", "1 | | R0 | s0"),
    ("two_receivers", "2 | | R0 | f0 | s0 s0"),
    ("two_senders_tell", "2 | | R0 R0 | s0 | s0"),
    ("two_sets", "1 2 | | R01 | R1 | s1 s0"),
    ("three_sets", "2 2 | | R0 | f1 | w01 | s0 s1 s1"),
    ("each_in_turn", "1 | | S0 S0 | R0 R0"),
    ("senders_wait", "1 | s0 | S0 | F0 | r0 r0"),
    ("senders_wait_in_a_row", "2 | s0 s0 | S0 | F0 | W0 | r0 r0 r0"),
    ("both_sides", "1 1 | | S0 F1 | R01 f01 | S1 | w01"),
    ("expired", "2 | | t0 | R0 | s0 s0"),
    ("expired_sends", "1 | s0 | u0 | S0 | r0 r0"),
    ("dropped", "2 | | d0 | f0 | s0 s0"),
    ("dropped_again", "2 | | d0 d0 | R0 | d0 s0 | s0"),
    ("dropped_sends", "1 | s0 | e0 | F0 | r0 r0"),
    ("changing", "2 | | w0 | w0 | s0 | s0 d0"),
    ("dormant", "3 | | z0 | R0 | s0 s0 s0"),
    ("dormant_in_bands", "2 2 | | z0 | f01 R1 | s0 s1 s1"),
    ("leaked", "3 | | m0 | R0 | s0 s0 s0"),
    ("more_than_a_segment", "5 | z1 z1 z1 | R0 | f0 | w0 | s0 s0 s0"),
    ("two_segments", "4 1 | z1 z1 | R0 | f0 | R0 | s0 s0 d1"),
    ("released", "2 | | R0 | f0 | x s0 | s0"),
    ("released_again", "1 | | w0 R0 | x | x s0 | t0"),
    ("closed", "1 | | R0 | f0 | S0 | c"),
    ("closed_while_full", "1 | s0 | S0 | F0 | c | r0"),
    ("closed_in_bands", "1 1 | s0 | S0 | R1 f1 | c | t1"),
];

fn act(word: &str) -> Act {
    let bands: Vec<_> =
        word.chars().skip(1).map(|band| band.to_digit(10).unwrap() as usize).collect();
    let way = match word.as_bytes()[0] {
        b'c' => return Act::Close,
        b'x' => return Act::Release,
        b's' | b'r' => Way::Try,
        b'S' | b'R' => Way::Block,
        b'u' | b't' => Way::Expired,
        b'F' | b'f' => Way::Task,
        b'W' | b'w' => Way::Changing,
        b'e' | b'd' => Way::Dropped,
        b'z' => Way::Dormant,
        b'm' => Way::Leaked,
        other => panic!("no act {other}"),
    };
    if "sSuFWe".contains(&word[..1]) { Act::Send(bands[0], way) } else { Act::Receive(bands, way) }
}

/// Reads a play.
pub(super) fn play(text: &str) -> Play {
    let mut parts = text.split('|');
    let capacities = parts.next().unwrap_or_default();
    let capacities = capacities.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let acts = |part: &str| part.split_whitespace().map(act).collect::<Vec<_>>();
    let before = acts(parts.next().unwrap_or_default());
    Play { capacities, before, actors: parts.map(acts).collect() }
}

/// Runs `body` in `runs` schedules of each kind; says in how many altogether.
pub(super) fn explore(runs: usize, body: impl Fn() + Send + Sync + 'static) -> usize {
    let (seed, body) = (11, Arc::new(body));
    explore_by(RandomScheduler::new_from_seed(seed, runs), &body)
        + explore_by(PctScheduler::new_from_seed(seed, 3, runs), &body)
        + explore_by(PctScheduler::new_from_seed(seed, 6, runs), &body)
}

fn explore_by(
    scheduler: impl Scheduler + 'static,
    body: &Arc<impl Fn() + Send + Sync + 'static>,
) -> usize {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(20_000);
    config.silence_warnings = true;
    let body = Arc::clone(body);
    Runner::new(scheduler, config).run(move || body())
}

/// Runs a play in `runs` schedules of each kind.
pub(super) fn explore_play(runs: usize, play: Play) -> usize {
    explore(runs, move || run_play(&play))
}

// ---- scenes ----------------------------------------------------------------------------------------

type Task = Pin<Box<dyn Future<Output = Result<u8, RecvError>> + Send>>;

/// A receive that holds its receiver.
fn task(rx: &Receiver<u8>, set: BandSet) -> Task {
    let rx = rx.clone().only(set);
    Box::pin(async move { rx.recv_async().await })
}

/// A waker that does something once, and rings.
struct Busy<F: Fn() + Send + Sync + 'static> {
    alarm: Arc<Alarm>,
    done: AtomicBool,
    work: F,
}

impl<F: Fn() + Send + Sync + 'static> Busy<F> {
    fn new(alarm: &Arc<Alarm>, work: F) -> Arc<Self> {
        Arc::new(Self { alarm: Arc::clone(alarm), done: AtomicBool::new(false), work })
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for Busy<F> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.alarm.wake_by_ref();
        if !self.done.swap(true, Ordering::Relaxed) {
            (self.work)();
        }
    }
}

/// A waker of which nothing is left in peace: it panics when it is dropped.
struct Sour;

impl Wake for Sour {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Sour {
    fn drop(&mut self) {
        // Without the hook: this is meant.
        resume_unwind(Box::new("dropped"));
    }
}

/// A channel with room for all, and an alarm for the oldest waiter.
fn stage(bands: usize) -> (Sender<u8>, Receiver<u8>, Arc<Alarm>) {
    let (tx, rx) = bounded(&vec![4; bands]);
    (tx, rx, Alarm::new())
}

fn send(tx: &Sender<u8>, band: usize, item: u8) -> thread::JoinHandle<()> {
    let tx = tx.clone();
    thread::spawn(move || tx.try_send(band, item).unwrap())
}

pub(super) type Scene = (&'static str, fn());

pub(super) const SCENES: &[Scene] = &[
    ("a_waker_panics", a_waker_panics),
    ("a_waker_panics_when_dropped", a_waker_panics_when_dropped),
    ("wakers_send", wakers_send),
    ("a_waker_closes", a_waker_closes),
    ("a_waker_releases", a_waker_releases),
    ("a_waker_drops_its_future", a_waker_drops_its_future),
    ("a_cell_gets_another_set", a_cell_gets_another_set),
    ("the_first_in_line_is_told", the_first_in_line_is_told),
    ("a_release_is_exact", a_release_is_exact),
    ("a_release_beside_a_poll", a_release_beside_a_poll),
    ("a_release_of_one_seen_waiting", a_release_of_one_seen_waiting),
    ("all_are_closed", all_are_closed),
    ("two_rooms_at_once", two_rooms_at_once),
];

/// N10: the next waiter is told as well.
fn a_waker_panics() {
    let (tx, rx, alarm) = stage(1);
    let (mut old, mut new) = (task(&rx, BandSet::ALL), task(&rx, BandSet::ALL));
    assert!(poll(&mut old, Arc::clone(&alarm)).is_pending());
    let panics = Busy::new(&Alarm::new(), || resume_unwind(Box::new("woken")));
    assert!(poll(&mut new, panics).is_pending());
    let sender = send(&tx, 0, 7);
    assert_eq!(when_rung(&mut old, &alarm), Ok(7));
    sender.join().unwrap();
}

/// It harms neither a send, which may be the last to hold it, nor the wake of another.
fn a_waker_panics_when_dropped() {
    let (tx, rx, alarm) = stage(1);
    let (mut old, mut new) = (task(&rx, BandSet::ALL), task(&rx, BandSet::ALL));
    assert!(poll(&mut old, Arc::clone(&alarm)).is_pending());
    let sour = Waker::from(Arc::new(Sour));
    assert!(poll(&mut new, sour.clone()).is_pending());
    // From now on the cell has the only one.
    drop(sour);
    let sender = send(&tx, 0, 7);
    drop(new);
    assert_eq!(when_rung(&mut old, &alarm), Ok(7));
    sender.join().expect("the send is not disturbed");
}

/// Each waker sends, so that wakes nest deeper than one thread may go.
fn wakers_send() {
    let (tx, rx, alarm) = stage(1);
    let alarms = [alarm, Alarm::new(), Alarm::new()];
    let mut tasks = [0, 1, 2].map(|_| task(&rx, BandSet::ALL));
    for (task, alarm) in tasks.iter_mut().zip(&alarms) {
        let tx = tx.clone();
        let sends = Busy::new(alarm, move || tx.try_send(0, 1).unwrap());
        assert!(poll(task, sends).is_pending());
    }
    let sender = send(&tx, 0, 1);
    for alarm in &alarms {
        while alarm.rung() == 0 {
            alarm.sleep();
        }
    }
    sender.join().unwrap();
    for mut task in tasks {
        assert_eq!(poll(&mut task, Alarm::new()), Poll::Ready(Ok(1)));
    }
}

fn a_waker_closes() {
    let (tx, rx, alarm) = stage(1);
    let (mut old, mut new) = (task(&rx, BandSet::ALL), task(&rx, BandSet::ALL));
    assert!(poll(&mut old, Arc::clone(&alarm)).is_pending());
    let closer = tx.clone();
    let closes = Busy::new(&Alarm::new(), move || assert!(closer.close()));
    assert!(poll(&mut new, closes).is_pending());
    let sender = send(&tx, 0, 7);
    assert!(matches!(when_rung(&mut old, &alarm), Ok(7) | Err(RecvError::Closed)));
    sender.join().unwrap();
}

fn a_waker_releases() {
    let (tx, rx, alarm) = stage(1);
    let (mut old, mut new) = (task(&rx, BandSet::ALL), task(&rx, BandSet::ALL));
    assert!(poll(&mut old, Arc::clone(&alarm)).is_pending());
    let other = rx.clone();
    let releases = Busy::new(&Alarm::new(), move || other.release());
    assert!(poll(&mut new, releases).is_pending());
    let sender = send(&tx, 0, 7);
    assert_eq!(when_rung(&mut old, &alarm), Err(RecvError::Released));
    sender.join().unwrap();
    assert_eq!(poll(&mut new, Alarm::new()), Poll::Ready(Err(RecvError::Released)));
    assert_eq!(rx.try_recv(), Ok(7));
}

fn a_waker_drops_its_future() {
    let (tx, rx, alarm) = stage(1);
    let mut old = task(&rx, BandSet::ALL);
    assert!(poll(&mut old, Arc::clone(&alarm)).is_pending());
    let new = Arc::new(Mutex::new(Some(task(&rx, BandSet::ALL))));
    let own = Arc::downgrade(&new);
    let drops = Busy::new(&Alarm::new(), move || {
        let task = own.upgrade().and_then(|own| own.lock().unwrap().take());
        drop(task);
    });
    assert!(poll(new.lock().unwrap().as_mut().unwrap(), drops).is_pending());
    let sender = send(&tx, 0, 7);
    assert_eq!(when_rung(&mut old, &alarm), Ok(7));
    sender.join().unwrap();
    assert!(new.lock().unwrap().is_none());
}

/// N8: a send to band 0 has chosen a cell that then goes to a waiter of band 1.
fn a_cell_gets_another_set() {
    let (tx, rx, alarm) = stage(2);
    let (mut old, mut new) = (task(&rx, BandSet::only(0)), task(&rx, BandSet::only(0)));
    assert!(poll(&mut old, Arc::clone(&alarm)).is_pending());
    assert!(poll(&mut new, Alarm::new()).is_pending());
    let changes = thread::spawn(move || {
        drop(new);
        let mut dormant = task(&rx, BandSet::only(1));
        assert!(poll(&mut dormant, Alarm::new()).is_pending());
        dormant
    });
    let sender = send(&tx, 0, 7);
    assert_eq!(when_rung(&mut old, &alarm), Ok(7));
    sender.join().unwrap();
    drop(changes.join().unwrap());
}

/// Those who begin to wait during a search are younger than all whom it has found.
fn the_first_in_line_is_told() {
    let (tx, rx) = bounded(&[1]);
    tx.try_send(0, 0).unwrap();
    let queue = |item| {
        let tx: Sender<u8> = tx.clone();
        Box::pin(async move { tx.send_async(0, item).await.is_ok() })
    };
    let alarm = Alarm::new();
    let (mut first, mut second, mut third, mut last) = (queue(1), queue(2), queue(3), queue(4));
    assert!(poll(&mut first, Arc::clone(&alarm)).is_pending());
    assert!(poll(&mut second, Alarm::new()).is_pending());
    let hasty = tx.clone();
    let comes_and_goes = thread::spawn(move || {
        // Without this there would be room for the others.
        let _ = hasty.try_send(0, 9);
        drop(second);
        let _ = poll(&mut third, Alarm::new());
        drop(third);
        let _ = poll(&mut last, Alarm::new());
        last
    });
    let receiver = thread::spawn(move || (rx.try_recv().unwrap(), rx));
    let (_, rx) = receiver.join().unwrap();
    assert!(alarm.rung() > 0, "another was told first");
    mem::forget(comes_and_goes.join().unwrap());
    drop(rx);
}

/// N4: it waits since before the release, and the item comes after.
fn a_release_is_exact() {
    let (tx, rx, alarm) = stage(1);
    let mut waits = task(&rx, BandSet::ALL);
    assert!(poll(&mut waits, Arc::clone(&alarm)).is_pending());
    let other = rx.clone();
    let releases = thread::spawn(move || {
        other.release();
        tx.try_send(0, 7).unwrap();
        tx
    });
    let other = rx.clone();
    let beside = thread::spawn(move || {
        let _ = poll(&mut task(&other, BandSet::ALL), Alarm::new());
    });
    assert_eq!(when_rung(&mut waits, &alarm), Err(RecvError::Released));
    releases.join().unwrap();
    beside.join().unwrap();
}

/// N4: it waits since before the release, though it has left its cell for another for a moment.
fn a_release_beside_a_poll() {
    let (_tx, rx, _) = stage(1);
    let mut waits = task(&rx, BandSet::ALL);
    assert!(poll(&mut waits, Alarm::new()).is_pending());
    let releases = thread::spawn(move || rx.release());
    assert_eq!(block_on_changing(waits), Err(RecvError::Released));
    releases.join().unwrap();
}

/// N4: who can be seen to wait is freed.
fn a_release_of_one_seen_waiting() {
    let (tx, rx, _) = stage(1);
    let waits = rx.clone();
    let waits = thread::spawn(move || waits.recv());
    let seen_waiting = format!("{rx:?}").contains("receivers: waited for: {0}");
    if seen_waiting {
        rx.release();
    } else {
        tx.try_send(0, 7).unwrap();
    }
    let expected = if seen_waiting { Err(RecvError::Released) } else { Ok(7) };
    assert_eq!(waits.join().unwrap(), expected);
}

fn all_are_closed() {
    let (tx, rx, alarm) = stage(1);
    let alarms = [alarm, Alarm::new()];
    let mut tasks = [task(&rx, BandSet::ALL), task(&rx, BandSet::ALL)];
    for (task, alarm) in tasks.iter_mut().zip(&alarms) {
        assert!(poll(task, Arc::clone(alarm)).is_pending());
    }
    let closer = thread::spawn(move || (tx.close(), tx));
    // Both before one is polled: whoever is told `Closed` wakes the other.
    for alarm in &alarms {
        while alarm.rung() == 0 {
            alarm.sleep();
        }
    }
    for mut task in tasks {
        assert_eq!(poll(&mut task, Alarm::new()), Poll::Ready(Err(RecvError::Closed)));
    }
    assert!(closer.join().unwrap().0);
}

/// A receive passes a ticket that was made void and takes the next: that is room for two.
fn two_rooms_at_once() {
    let (tx, rx) = bounded(&[2]);
    let one = tx.clone();
    let one = thread::spawn(move || one.try_send(0, 1).is_ok());
    let two = tx.clone();
    let two = thread::spawn(move || two.try_send(0, 1).is_ok());
    let queue = || {
        let tx: Sender<u8> = tx.clone();
        thread::spawn(move || tx.send(0, 1).unwrap())
    };
    let (three, four) = (queue(), queue());
    let mut taken = 0;
    let ends = [three, four];
    while taken < 2 {
        match rx.try_recv() {
            Ok(_) => taken += 1,
            Err(_) => thread::yield_now(),
        }
    }
    let in_already = usize::from(one.join().unwrap()) + usize::from(two.join().unwrap());
    while taken < in_already + 2 {
        taken += usize::from(rx.try_recv().is_ok());
        thread::yield_now();
    }
    for end in ends {
        end.join().unwrap();
    }
}
