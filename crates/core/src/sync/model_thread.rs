//! Parking that the model checker sees whole.
//!
//! Its own forgets an unpark that comes while the thread is blocked in something else, and wakes a
//! thread that joins another. This one also wakes for nothing, once in each execution.

use loom::sync::Notify;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Thread(Arc<Notify>);

loom::thread_local! {
    static OWN: Thread = Thread(Arc::new(Notify::new()));
}

pub(crate) fn current() -> Thread {
    OWN.with(Thread::clone)
}

pub(crate) fn park() {
    current().0.wait();
}

impl Thread {
    pub(crate) fn unpark(&self) {
        self.0.notify();
    }
}
