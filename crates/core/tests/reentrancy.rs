//! Items and thread-locals whose destructors use the channel they are in.

mod common;

use common::{join, within};
use overtake_core::{Receiver, RecvError, Sender, TrySendError, bounded};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

// ---- kind 18: items ----------------------------------------------------------------------------

/// In its `Drop` it uses the channel that it was sent through, in every way that returns.
struct Nosy {
    tx: Sender<Nosy>,
    refused: Arc<AtomicUsize>,
    /// What it sends in turn; that one sends nothing.
    heir: bool,
}

impl Drop for Nosy {
    fn drop(&mut self) {
        if self.heir {
            let heir =
                Nosy { tx: self.tx.clone(), refused: Arc::clone(&self.refused), heir: false };
            match self.tx.try_send(1, heir) {
                Err(TrySendError::Closed(_)) => _ = self.refused.fetch_add(1, Ordering::SeqCst),
                Err(TrySendError::Full(_)) | Ok(()) => {}
            }
        }
        assert!(self.tx.len() <= 20_001 && format!("{:?}", self.tx).contains("Channel"));
        assert!(!self.tx.close() || self.tx.is_closed());
        drop(self.tx.clone());
    }
}

#[test]
fn kind_18_ten_thousand_items_send_while_they_are_dropped() {
    const ITEMS: usize = 10_000;
    within(120, || {
        let refused = Arc::new(AtomicUsize::new(0));
        let (tx, rx) = bounded(&[ITEMS, ITEMS]);
        for _ in 0..ITEMS {
            let item = Nosy { tx: tx.clone(), refused: Arc::clone(&refused), heir: true };
            assert!(tx.try_send(0, item).is_ok());
        }
        drop(rx);
        assert_eq!(refused.load(Ordering::SeqCst), ITEMS);
        assert_eq!((tx.len(), tx.sender_count()), (0, 1));
    });
}

#[test]
fn kind_18_a_received_item_sends_while_it_is_dropped() {
    within(10, || {
        let refused = Arc::new(AtomicUsize::new(0));
        let (tx, rx) = bounded(&[1, 1]);
        let item = Nosy { tx: tx.clone(), refused: Arc::clone(&refused), heir: true };
        assert!(tx.try_send(0, item).is_ok());
        drop(rx.try_recv());
        assert!(tx.is_closed());
        assert_eq!((rx.len_of(1), refused.load(Ordering::SeqCst)), (1, 0));
        drop(rx);
        assert_eq!(tx.len(), 0);
    });
}

/// Holds any handles of its own channel, dropped with it.
struct Holding(#[allow(dead_code, reason = "only held")] Vec<Handle>);

/// Either side.
enum Handle {
    Sends(#[allow(dead_code, reason = "only held")] Sender<Holding>),
    Receives(#[allow(dead_code, reason = "only held")] Receiver<Holding>),
}

#[test]
fn kind_18_handles_of_the_channel_inside_its_items() {
    within(10, || {
        let (tx, rx) = bounded(&[2]);
        let inside = vec![Handle::Sends(tx.clone()), Handle::Receives(rx.clone())];
        assert!(tx.try_send(0, Holding(inside)).is_ok());
        assert_eq!((tx.sender_count(), tx.receiver_count()), (2, 2));
        drop(rx.recv().ok());
        assert_eq!((tx.sender_count(), tx.receiver_count()), (1, 1));
        // The last sender outside goes; the one inside keeps the channel open until it is taken.
        assert!(tx.try_send(0, Holding(vec![Handle::Sends(tx.clone())])).is_ok());
        drop(tx);
        assert!(!rx.is_closed());
        drop(rx.recv().ok());
        assert!(matches!(rx.recv(), Err(RecvError::Closed)));
    });
}

// ---- kind 20: thread-local destructors ---------------------------------------------------------

/// Does its work when the thread's locals are torn down.
struct AtExit(Option<Box<dyn FnOnce()>>);

impl Drop for AtExit {
    fn drop(&mut self) {
        if let Some(work) = self.0.take() {
            work();
        }
    }
}

thread_local! {
    static AT_EXIT: RefCell<AtExit> = const { RefCell::new(AtExit(None)) };
}

/// Runs a thread that leaves `work` to its thread-locals' destructors; `channel_first` says
/// whether it has blocked on a channel before it registers them.
fn at_thread_exit(channel_first: bool, panics: bool, work: impl FnOnce() + Send + 'static) {
    let thread = thread::spawn(move || {
        let before = || {
            let (tx, rx) = bounded(&[1]);
            let feeder = thread::spawn(move || tx.send(0, 1));
            assert_eq!((rx.recv(), join(feeder)), (Ok(1), Ok(())));
        };
        if channel_first {
            before();
        }
        AT_EXIT.with_borrow_mut(|local| local.0 = Some(Box::new(work)));
        if !channel_first {
            before();
        }
        if panics {
            std::panic::resume_unwind(Box::new("ends by panic"));
        }
    });
    assert_eq!(thread.join().is_err(), panics);
}

#[test]
fn kind_20_a_thread_local_blocks_in_send_and_recv_while_it_is_destroyed() {
    within(20, || {
        for (channel_first, panics) in [(false, false), (false, true), (true, false), (true, true)]
        {
            let (tx, rx) = bounded(&[1]);
            let (answer, question) = bounded(&[1]);
            let partner = thread::spawn(move || {
                let received: Vec<_> = rx.iter().take(3).collect();
                answer.send(0, 'y').unwrap();
                received
            });
            at_thread_exit(channel_first, panics, move || {
                for number in 0..3 {
                    tx.send(0, number).unwrap();
                }
                assert_eq!(question.recv(), Ok('y'));
            });
            assert_eq!(join(partner), [0, 1, 2]);
        }
    });
}

#[test]
fn kind_20_a_thread_local_drops_the_last_handles() {
    within(10, || {
        let (tx, rx) = bounded(&[1]);
        tx.try_send(0, 1).unwrap();
        at_thread_exit(true, false, move || drop(tx));
        assert_eq!(rx.iter().collect::<Vec<_>>(), [1]);
    });
}
