//! Catching a handler's panic with its message and its place.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// The place of the last panic inside [`catch`]; `None` outside of it.
    static CAUGHT: RefCell<Option<Place>> = const { RefCell::new(None) };
}

#[derive(Default)]
struct Place(Option<String>);

/// Runs `body`; a panic becomes its message and place.
///
/// The payload is dropped here too, and may itself panic in its `Drop`.
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    let before = CAUGHT.replace(Some(Place::default()));
    let result = catch_unwind(AssertUnwindSafe(body));
    let place = CAUGHT.replace(before).and_then(|place| place.0);
    result.map_err(|payload| {
        let message = message_of(&*payload);
        // A payload may panic in its own `Drop`, and the payload of that panic too.
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        match place {
            Some(place) => format!("panicked at {place}: {message}"),
            None => format!("panicked: {message}"),
        }
    })
}

/// Drops something of the user's. A `Drop` that panics is nobody's fault but its own.
pub(crate) fn discard<T>(value: T) {
    let _ = catch(|| drop(value));
}

/// Drops them one by one: two that panic in one go would end the process.
pub(crate) fn discard_each<T>(values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(discard);
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a payload that is no text".to_owned())
}

/// A panic's payload does not say where it happened; only a hook sees that. Outside of [`catch`]
/// the hook found in place is called, so nothing changes for the rest of the process.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    if std::thread::panicking() {
        // The hook cannot be changed now; the next runtime does it.
        return;
    }
    INSTALLED.call_once(|| {
        let outer = take_hook();
        set_hook(Box::new(move |info| {
            if !note_place(info.location()) {
                outer(info);
            }
        }));
    });
}

/// Whether this thread is inside [`catch`]. A thread that is being torn down is not.
fn note_place(location: Option<&Location<'_>>) -> bool {
    CAUGHT
        .try_with(|caught| match &mut *caught.borrow_mut() {
            Some(place) => {
                place.0 = location.map(ToString::to_string);
                true
            }
            None => false,
        })
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Spiteful;

    impl Drop for Spiteful {
        fn drop(&mut self) {
            panic!("even this");
        }
    }

    #[test]
    fn kind_24_every_kind_of_payload_is_caught() {
        install_hook();
        let text = catch(|| panic!("plain")).unwrap_err();
        assert!(text.starts_with("panicked at ") && text.ends_with(": plain"), "{text}");
        assert!(text.contains("panics.rs:"), "the place is named: {text}");
        let text = catch(|| panic!("{}", 42)).unwrap_err();
        assert!(text.ends_with(": 42"), "{text}");
        let text = catch(|| std::panic::panic_any(7_u8)).unwrap_err();
        assert!(text.ends_with("a payload that is no text"), "{text}");
        assert!(catch(|| std::panic::panic_any(Spiteful)).is_err());
        assert_eq!(catch(|| 5), Ok(5));
    }

    #[test]
    fn kind_24_two_that_panic_in_their_drop_do_not_end_the_process() {
        discard_each(vec![Spiteful, Spiteful, Spiteful]);
    }
}
