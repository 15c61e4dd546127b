//! Waiting as a task: futures for any executor, a stream and a sink.

mod many;
mod recv;
mod send;
#[cfg(feature = "sink")]
mod sink;
#[cfg(feature = "stream")]
mod stream;

pub use many::{RecvManyFuture, SendManyFuture};
pub use recv::{RecvFuture, RecvWithBandFuture};
pub use send::SendFuture;
#[cfg(feature = "sink")]
pub use sink::SendSink;
#[cfg(feature = "stream")]
pub use stream::RecvStream;
