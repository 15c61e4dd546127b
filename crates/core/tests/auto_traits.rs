//! Handles and iterators cross threads exactly if their items do.

use overtake_core::{IntoIter, Iter, Receiver, SendError, Sender, TryIter, TrySendError};
use std::cell::Cell;
use std::marker::PhantomData;
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
        ]
    };
}

#[test]
fn kind_08_handles_of_items_that_stay_on_a_thread_stay_too() {
    assert_eq!(handles_of!(Rc<()>), [(false, false); 5]);
    assert_eq!(handles_of!(MutexGuard<'static, ()>), [(false, false); 5]);
}

#[test]
fn kind_08_handles_of_items_that_move_can_be_shared() {
    assert_eq!(handles_of!(Cell<u32>), [(true, true); 5]);
    assert_eq!(handles_of!(String), [(true, true); 5]);
}

#[test]
fn kind_08_an_error_is_as_its_item() {
    assert_eq!(send_and_sync![SendError<Rc<()>>, TrySendError<Rc<()>>], [(false, false); 2]);
    assert_eq!(send_and_sync![SendError<Cell<u8>>, TrySendError<Cell<u8>>], [(true, false); 2]);
}
