//! Knowing that a thread works for a runtime, and so must never wait for it.

use std::cell::RefCell;

thread_local! {
    /// The addresses of the engines this thread works for, the innermost last: a handler of one
    /// runtime may call an observer of another.
    static WORKING_FOR: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Runs `body`, which may call the user's code, so that [`of`] is true of `engine` in it.
pub(crate) fn run<E, R>(engine: &E, body: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            let _ = WORKING_FOR.try_with(|engines| engines.borrow_mut().pop());
        }
    }
    // A thread that is being torn down keeps no list any more. It is none of ours.
    let _ = WORKING_FOR.try_with(|engines| engines.borrow_mut().push(address(engine)));
    let _leave = Leave;
    body()
}

/// Whether this thread works for `engine`: it is one of its threads, or in its observer.
pub(crate) fn of<E>(engine: &E) -> bool {
    let address = address(engine);
    WORKING_FOR.try_with(|engines| engines.borrow().contains(&address)).unwrap_or(false)
}

fn address<E>(engine: &E) -> usize {
    std::ptr::from_ref(engine).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_work_for_several_engines_at_once() {
        let (outer, inner) = (1_u8, 2_u8);
        run(&outer, || {
            assert!(of(&outer) && !of(&inner));
            run(&inner, || assert!(of(&outer) && of(&inner)));
            let panicked = std::panic::catch_unwind(|| run(&inner, || std::panic::panic_any(())));
            assert!(panicked.is_err() && !of(&inner), "a panic leaves too");
        });
        assert!(!of(&outer));
    }
}
