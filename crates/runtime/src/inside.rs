//! Knowing that a thread is inside a handler, and of which runtime.

use std::cell::Cell;

thread_local! {
    /// The address of the engine whose handler this thread runs.
    static RUNNING_FOR: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs `handler` so that [`handler_of`] is true of `engine` inside it.
pub(crate) fn run<E, R>(engine: &E, handler: impl FnOnce() -> R) -> R {
    struct Restore(Option<usize>);
    impl Drop for Restore {
        fn drop(&mut self) {
            RUNNING_FOR.set(self.0);
        }
    }
    let _restore = Restore(RUNNING_FOR.replace(Some(address(engine))));
    handler()
}

/// Whether this thread is inside a handler of `engine`.
pub(crate) fn handler_of<E>(engine: &E) -> bool {
    // A thread that is being torn down runs no handler any more.
    RUNNING_FOR.try_with(Cell::get).ok().flatten() == Some(address(engine))
}

fn address<E>(engine: &E) -> usize {
    std::ptr::from_ref(engine).addr()
}
