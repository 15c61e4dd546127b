//! A lock-free ring per band, swept once, with a semaphore: the design of folly's
//! `PriorityLifoSemMPMCQueue`, on `crossbeam-queue`'s `ArrayQueue`.

use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, select};
use crossbeam_queue::ArrayQueue;

use super::{Contender, Item};

/// Rings in order of urgency. Tokens count the items, and per band the room: a channel of `()` is
/// the semaphore.
///
/// The sweep looks at each ring once, so it can pass an item that came while it looked elsewhere.
#[derive(Debug)]
pub struct RingSweep {
    rings: Vec<ArrayQueue<Item>>,
    items: (Sender<()>, Receiver<()>),
    room: Vec<(Sender<()>, Receiver<()>)>,
    open: Mutex<Option<Sender<()>>>,
    /// Disconnected once closed.
    closed: Receiver<()>,
}

impl RingSweep {
    fn is_closed(&self) -> bool {
        self.closed.try_recv() == Err(TryRecvError::Disconnected)
    }

    fn push(&self, band: usize, item: Item) {
        let pushed = self.rings[band].push(item);
        debug_assert_eq!(pushed, Ok(()), "room was taken for it");
        // There is a place for every item that fits, and one to tell of closing.
        let _ = self.items.0.try_send(());
    }

    /// Takes the item that a token stands for: there is one, though a single sweep may miss it. Only
    /// the token of closing stands for none, and is there for the next one too.
    fn redeem_token(&self) -> Option<(usize, Item)> {
        loop {
            if let Some(taken) = self.sweep_once() {
                return Some(taken);
            }
            if self.is_closed() {
                let _ = self.items.0.try_send(());
                return None;
            }
        }
    }

    fn sweep_once(&self) -> Option<(usize, Item)> {
        let (band, item) = self
            .rings
            .iter()
            .enumerate()
            .find_map(|(band, ring)| ring.pop().map(|item| (band, item)))?;
        let _ = self.room[band].1.try_recv();
        Some((band, item))
    }
}

impl Contender for RingSweep {
    const NAME: &'static str = "ring_sweep";
    const DESIGN: &'static str = "ArrayQueue per band, plain sweep, semaphore";

    fn make(capacities: &[usize]) -> Self {
        let (open, closed) = bounded(0);
        Self {
            rings: capacities.iter().map(|&capacity| ArrayQueue::new(capacity)).collect(),
            items: bounded(capacities.iter().sum::<usize>() + 1),
            room: capacities.iter().map(|&capacity| bounded(capacity)).collect(),
            open: Mutex::new(Some(open)),
            closed,
        }
    }

    fn try_send(&self, band: usize, item: Item) -> bool {
        let fits = !self.is_closed() && self.room[band].0.try_send(()).is_ok();
        if fits {
            self.push(band, item);
        }
        fits
    }

    fn send(&self, band: usize, item: Item) -> bool {
        if self.is_closed() {
            return false;
        }
        let room = &self.room[band].0;
        if room.try_send(()).is_err() {
            select! {
                send(room, ()) -> sent => if sent.is_err() { return false },
                recv(self.closed) -> _ => return false,
            }
        }
        self.push(band, item);
        true
    }

    fn try_recv(&self) -> Option<(usize, Item)> {
        self.items.1.try_recv().ok()?;
        self.redeem_token()
    }

    fn recv(&self) -> Option<(usize, Item)> {
        self.items.1.recv().ok()?;
        self.redeem_token()
    }

    fn close(&self) {
        drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.items.0.try_send(());
    }
}
