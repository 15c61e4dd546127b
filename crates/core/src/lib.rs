//! A bounded channel with strict priority bands: urgent items overtake bulk ones.
//!
//! ```
//! use std::thread;
//!
//! // Two bands: 64 places for urgent items, 1,024 for bulk. Band 0 is the most urgent.
//! let (tx, rx) = overtake_core::bounded(&[64, 1024]);
//!
//! for number in 0..100 {
//!     tx.send(1, format!("newsletter {number}"))?;
//! }
//! tx.send(0, "one-time password".to_owned())?;
//! drop(tx); // closes; what is inside still comes out
//!
//! let worker = thread::spawn(move || rx.into_iter().collect::<Vec<_>>());
//! let order = worker.join().unwrap();
//! assert_eq!(order[0], "one-time password");
//! assert_eq!(order[1], "newsletter 0"); // FIFO inside a band
//! assert_eq!(order.len(), 101);
//! # Ok::<(), overtake_core::SendError<String>>(())
//! ```
//!
//! # What you may rely on
//!
//! | promise | | tests |
//! |---|---|---|
//! | **G1** strict | Linearizable: every receive takes the oldest item of the most urgent band it may take from that holds one, at one moment during the call. FIFO inside a band. `Empty` means that at one moment all its bands were empty. | `priority_order`, `model`, `batches`; `overtake check` |
//! | **G2** lock-free | `try_send`, `try_recv`, both for many items, polling and dropping futures, `close`, `release` and dropping handles: a thread stopped anywhere, inside a call of any kind, holds up nobody who makes one of these. | `freeze`; `shuttle_stopping`, `shuttle_parked` |
//! | **G3** awake | No lost wake-up: nobody stays asleep while there is an item it may take, or room in the band it waits for. | `waiting`, `async_*`, `strategies`; `shuttle_waiting` |
//! | **G4** exactly once | Every accepted item is received once, or dropped once when the last receiver goes; a refused one comes back. Also across closing and dropped futures. | `drops`, `closing`, `kinds_async` |
//! | **G5** quiet | An idle receiver uses no CPU, a send makes no system call when nobody waits, nothing is allocated per item or per wait. | `quiet`, `system_calls`, `async_quiet` |
//!
//! # What you may not rely on
//!
//! - Lock-free is not wait-free: one call may begin anew for as long as others succeed. A call that blocks waits for others by its
//!   nature; a thread stopped inside one withholds no more than the wakes that it owes itself.
//! - `Full` says that the items inside and the calls under way on that band together take its room. A thread stopped inside a
//!   call holds a place (inside one for many items up to 32) until it goes on. With no call under way it is exact.
//! - Lower bands can starve for as long as the bands above are never empty. That is what strict means.
//! - Order between items that different threads send at the same time.
//! - The first waits of a channel allocate room for those who wait, 64 at a time, which is used again and kept.
//!
//! # Closing and dropping
//!
//! [`close`](Sender::close) on either side, or dropping the last [`Sender`], ends sending; what is inside still comes out,
//! then receivers get `Closed`. Dropping the last [`Receiver`] closes too and drops what is inside at once; if one of those items
//! panics in its `Drop`, the others are still dropped, and the first panic goes on from there.
//! [`release`](Receiver::release) frees all waiting receivers without closing anything.
//! [Weak handles](Sender::downgrade) do not keep a channel open.
//!
//! # Blocking, timeouts, tasks
//!
//! A blocked call sleeps and is woken by the one event it waits for; [`WaitStrategy`] says what it does before that, or instead. An item
//! (or room) beats a deadline that has passed. `Duration::MAX` means for ever. Senders blocked on one band are woken in the order in
//! which they began to wait; those who are given room at the same time may enter in any order. Receivers are woken the newest
//! first, and every 16th time the oldest.
//!
//! Every blocking call has a twin for tasks: [`recv_async`](Receiver::recv_async), [`send_async`](Sender::send_async) and the rest. Threads
//! and tasks wait side by side, under any executor. All futures are cancel-safe: dropping one loses neither an item that was accepted nor a
//! wake, and each method says what that means for it. With the feature `stream` a receiver becomes a `Stream`, with `sink` a bound sender
//! a `Sink`.
//!
//! # Many items at once
//!
//! [`send_many`](Sender::send_many) and [`recv_many`](Receiver::recv_many), with their twins, claim up to 32 items at once. Each run of a
//! receive is of one band, and is taken at one moment at which nothing more urgent was inside; before the next run all bands are looked at
//! anew. So an urgent item that is sent in mid-batch comes after the run that was being claimed, and before any other item
//! that is less urgent.
//!
//! # Choosing bands and capacities
//!
//! One band per level of urgency that must pass the next, up to [`MAX_BANDS`]. Capacities are separate, so bulk items never
//! take the room of urgent ones. A band's capacity is what you are ready to have waiting in it: beyond it `send` blocks and
//! `try_send` says `Full`. All memory is had when the channel is made.
//!
//! # Handles and threads
//!
//! Both handles are `Send` and `Sync` exactly if `T` is `Send`:
//!
//! ```
//! fn shared<H: Send + Sync + std::panic::UnwindSafe>() {}
//! shared::<overtake_core::Sender<std::cell::Cell<u8>>>();
//! shared::<overtake_core::Receiver<std::cell::Cell<u8>>>();
//! ```
//! ```compile_fail,E0277
//! fn send<H: Send>() {}
//! send::<overtake_core::Sender<std::rc::Rc<()>>>();
//! ```
//! ```compile_fail,E0277
//! fn share<H: Sync>() {}
//! share::<overtake_core::Receiver<std::sync::MutexGuard<'static, ()>>>();
//! ```

mod band;
mod band_sender;
mod batch;
mod builder;
mod channel;
mod counters;
mod deadline;
mod error;
mod fault;
mod future;
mod iter;
mod look;
mod notifier;
mod presence;
mod receiver;
mod ring;
mod sender;
#[cfg(feature = "sink")]
mod sink;
mod sweep;
mod sync;
mod wait_strategy;
mod weak;

pub use band::{BandSet, MAX_BANDS};
pub use band_sender::BandSender;
pub use builder::{BuildError, Builder, bounded};
pub use counters::{BandCounters, Counters};
pub use error::{
    RecvError, RecvTimeoutError, SendError, SendManyError, SendTimeoutError, TryRecvError,
    TrySendError, TrySendManyError,
};
#[cfg(feature = "stream")]
pub use future::RecvStream;
pub use future::{RecvFuture, RecvManyFuture, RecvWithBandFuture, SendFuture, SendManyFuture};
pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::Sender;
#[cfg(feature = "sink")]
pub use sink::SendSink;
pub use wait_strategy::WaitStrategy;
pub use weak::{WeakReceiver, WeakSender};

/// For the models alone: which rules of the protocols can be switched off.
#[cfg(any(overtake_loom, overtake_shuttle))]
#[doc(hidden)]
pub mod internals {
    pub use crate::fault::Fault;

    /// Whether nobody waits on the channel of this sender, and no cell is in use.
    #[must_use]
    pub fn nobody_waits<T>(of: &crate::Sender<T>) -> bool {
        of.shared().nobody_waits()
    }

    #[cfg(overtake_loom)]
    pub use crate::sync::{name_thread, use_shadows};
}
