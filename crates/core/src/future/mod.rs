//! Waiting as a task: futures for any executor, and a stream.
//!
//! What all of them have in common:
//! - a poll that is pending keeps a clone of the waker of that poll and of no earlier one, and drops
//!   it when the wait ends in whatever way;
//! - a wait begins with a poll that finds nothing, not when the future is made;
//! - a wait allocates nothing, once as many have waited at once as ever will;
//! - wakers are user code: they may use the channel, drop what they wake, or panic, and nobody else
//!   notices.

mod many;
mod recv;
mod send;
#[cfg(feature = "stream")]
mod stream;

pub use many::{RecvManyFuture, SendManyFuture};
pub use recv::{RecvFuture, RecvWithBandFuture};
pub use send::SendFuture;
#[cfg(feature = "stream")]
pub use stream::RecvStream;
