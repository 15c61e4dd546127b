//! Handles, iterators and futures cross threads exactly if their items do.

use overtake_core::{
    BandSender, IntoIter, Iter, Receiver, RecvFuture, RecvWithBandFuture, SendError, SendFuture,
    Sender, TryIter, TrySendError, WaitStrategy, WeakReceiver, WeakSender,
};
use std::cell::Cell;
use std::fmt::Debug;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::MutexGuard;

/// Answers "is `T` so?" for one concrete type: the inherent constant hides the trait's where its
/// bound holds.
struct Probe<T>(PhantomData<T>);

trait NotSo {
    const SEND: bool = false;
    const SYNC: bool = false;
}

impl<T> NotSo for Probe<T> {}

impl<T: Send> Probe<T> {
    const SEND: bool = true;
}

impl<T: Sync> Probe<T> {
    const SYNC: bool = true;
}

macro_rules! send_and_sync {
    ($($type:ty),+ $(,)?) => { [$((Probe::<$type>::SEND, Probe::<$type>::SYNC)),+] };
}

macro_rules! handles_of {
    ($item:ty) => {
        send_and_sync![
            Sender<$item>,
            Receiver<$item>,
            Iter<'static, $item>,
            TryIter<'static, $item>,
            IntoIter<$item>,
            BandSender<$item>,
            WeakSender<$item>,
            WeakReceiver<$item>,
            RecvFuture<'static, $item>,
            RecvWithBandFuture<'static, $item>,
        ]
    };
}

#[test]
fn kind_08_handles_of_items_that_stay_on_a_thread_stay_too() {
    assert_eq!(handles_of!(Rc<()>), [(false, false); 10]);
    assert_eq!(handles_of!(MutexGuard<'static, ()>), [(false, false); 10]);
}

#[test]
fn kind_08_handles_of_items_that_move_can_be_shared() {
    assert_eq!(handles_of!(Cell<u32>), [(true, true); 10]);
    assert_eq!(handles_of!(String), [(true, true); 10]);
}

#[test]
fn kind_08_an_error_is_as_its_item() {
    assert_eq!(send_and_sync![SendError<Rc<()>>, TrySendError<Rc<()>>], [(false, false); 2]);
    assert_eq!(send_and_sync![SendError<Cell<u8>>, TrySendError<Cell<u8>>], [(true, false); 2]);
}

/// It holds an item, so it can be shared exactly if that can.
#[test]
fn kind_08_a_send_under_way_is_as_its_item() {
    let of = send_and_sync![
        SendFuture<'static, Rc<()>>,
        SendFuture<'static, MutexGuard<'static, ()>>,
        SendFuture<'static, Cell<u32>>,
        SendFuture<'static, String>,
    ];
    assert_eq!(of, [(false, false), (false, false), (true, false), (true, true)]);
}

#[cfg(feature = "stream")]
#[test]
fn kind_08_a_stream_is_as_its_receiver() {
    use overtake_core::RecvStream;
    let of = send_and_sync![RecvStream<Rc<()>>, RecvStream<Cell<u32>>, RecvStream<String>];
    assert_eq!(of, [(false, false), (true, true), (true, true)]);
}

#[cfg(feature = "sink")]
#[test]
fn kind_08_a_sink_is_as_the_item_it_holds() {
    use overtake_core::SendSink;
    let of = send_and_sync![SendSink<Rc<()>>, SendSink<Cell<u32>>, SendSink<String>];
    assert_eq!(of, [(false, false), (true, false), (true, true)]);
}

/// Neither `Unpin`, `Debug` nor safe to be seen after a panic.
#[allow(dead_code, reason = "only a type")]
struct Awkward(PhantomPinned, Cell<*mut u8>);

/// What of `Awkward` may be polled in place, shown, and used after a caught panic: all but what
/// holds an item, which is then as that item.
#[test]
fn handles_and_futures_ask_nothing_of_their_items() {
    fn all<H: Unpin + Debug + UnwindSafe + RefUnwindSafe>() {}
    fn holds_an_item<H: Unpin + Debug>() {}
    fn copies<H: Copy + Debug + UnwindSafe + Send + Sync>() {}
    all::<Sender<Awkward>>();
    all::<Receiver<Awkward>>();
    all::<BandSender<Awkward>>();
    all::<WeakSender<Awkward>>();
    all::<WeakReceiver<Awkward>>();
    all::<RecvFuture<'static, Awkward>>();
    all::<RecvWithBandFuture<'static, Awkward>>();
    holds_an_item::<SendFuture<'static, Awkward>>();
    all::<SendFuture<'static, String>>();
    copies::<WaitStrategy>();
    #[cfg(feature = "stream")]
    all::<overtake_core::RecvStream<Awkward>>();
    #[cfg(feature = "sink")]
    holds_an_item::<overtake_core::SendSink<Awkward>>();
    #[cfg(feature = "sink")]
    all::<overtake_core::SendSink<String>>();
}
