//! What the contenders are made to do.
//!
//! Each workload runs for a given time, leaves out its beginning and its end, and measures what lies
//! between: thread starts, first touches of memory and the emptying of the queue are no part of it.

mod flood;
mod flow;
mod idle;
mod latencies;
mod pair;
mod threads;
mod wake;

pub use flood::Flood;
pub use flow::{Calls, Flow, Traffic};
pub use idle::Idle;
pub use latencies::Latencies;
pub use pair::Pair;
pub use wake::Wake;
