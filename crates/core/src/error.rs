//! One small error type per operation; the item always comes back.

use std::error::Error;
use std::fmt;

/// Why [`Sender::try_send`](crate::Sender::try_send) did not send. The item is inside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The band has no room now, counting the calls that are under way on it.
    Full(T),
    /// The channel is closed: nothing can be sent any more.
    Closed(T),
}

/// Why [`Sender::try_send_many`](crate::Sender::try_send_many) sent nothing. The items are still
/// where they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrySendManyError {
    /// The band has no room now, not even for one, counting the calls that are under way on it.
    Full,
    /// The channel is closed: nothing can be sent any more.
    Closed,
}

/// Why [`Sender::send_many`](crate::Sender::send_many) did not send all: the channel is closed. What
/// was not sent is still where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendManyError;

/// Why [`Sender::send`](crate::Sender::send) did not send: the channel is closed. The item is
/// inside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// Why [`Sender::send_timeout`](crate::Sender::send_timeout) or
/// [`Sender::send_deadline`](crate::Sender::send_deadline) did not send. The item is inside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The band had no room up to the deadline.
    Timeout(T),
    /// The channel is closed: nothing can be sent any more.
    Closed(T),
}

/// Why [`Receiver::try_recv`](crate::Receiver::try_recv) returned nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// No band of this receiver holds an item now.
    Empty,
    /// The channel is closed and every band of this receiver is empty for good.
    Closed,
}

/// Why [`Receiver::recv`](crate::Receiver::recv) returned nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// The channel is closed and every band of this receiver is empty for good.
    Closed,
    /// [`release`](crate::Receiver::release) was called while this call waited.
    Released,
}

/// Why [`Receiver::recv_timeout`](crate::Receiver::recv_timeout) or
/// [`Receiver::recv_deadline`](crate::Receiver::recv_deadline) returned nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// Nothing came up to the deadline.
    Timeout,
    /// The channel is closed and every band of this receiver is empty for good.
    Closed,
    /// [`release`](crate::Receiver::release) was called while this call waited.
    Released,
}

impl<T> TrySendError<T> {
    /// Whether the band had no room.
    pub const fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether the channel is closed.
    pub const fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// The item that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(item) | Self::Closed(item) => item,
        }
    }
}

impl TrySendManyError {
    /// Whether the band had no room.
    pub const fn is_full(self) -> bool {
        matches!(self, Self::Full)
    }

    /// Whether the channel is closed.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Closed)
    }
}

impl<T> SendError<T> {
    /// The item that was not sent.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> SendTimeoutError<T> {
    /// Whether the deadline passed.
    pub const fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout(_))
    }

    /// Whether the channel is closed.
    pub const fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// The item that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(item) | Self::Closed(item) => item,
        }
    }
}

impl TryRecvError {
    /// Whether there was nothing to take.
    pub const fn is_empty(self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Whether nothing can come any more.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Closed)
    }
}

impl RecvError {
    /// Whether nothing can come any more.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Closed)
    }

    /// Whether the wait was released.
    pub const fn is_released(self) -> bool {
        matches!(self, Self::Released)
    }
}

impl RecvTimeoutError {
    /// Whether the deadline passed.
    pub const fn is_timeout(self) -> bool {
        matches!(self, Self::Timeout)
    }

    /// Whether nothing can come any more.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Closed)
    }

    /// Whether the wait was released.
    pub const fn is_released(self) -> bool {
        matches!(self, Self::Released)
    }
}

impl RecvTimeoutError {
    /// Why a wait ended that had no deadline, so that nothing can have timed out.
    pub(crate) const fn without_deadline(self) -> RecvError {
        match self {
            Self::Released => RecvError::Released,
            Self::Closed | Self::Timeout => RecvError::Closed,
        }
    }
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(SendError(item): SendError<T>) -> Self {
        Self::Closed(item)
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(SendError(item): SendError<T>) -> Self {
        Self::Closed(item)
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Closed => Self::Closed,
            RecvError::Released => Self::Released,
        }
    }
}

const FULL: &str = "the band is full";
const CLOSED: &str = "the channel is closed";
const EMPTY: &str = "no item is waiting";
const DRAINED: &str = "the channel is closed and empty";
const TIMEOUT: &str = "the deadline passed";
const RELEASED: &str = "the wait was released";

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { FULL } else { CLOSED })
    }
}

impl fmt::Display for TrySendManyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { FULL } else { CLOSED })
    }
}

impl fmt::Display for SendManyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CLOSED)
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CLOSED)
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_timeout() { TIMEOUT } else { CLOSED })
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { EMPTY } else { DRAINED })
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_closed() { DRAINED } else { RELEASED })
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => TIMEOUT,
            Self::Closed => DRAINED,
            Self::Released => RELEASED,
        })
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { "Full(..)" } else { "Closed(..)" })
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_timeout() { "Timeout(..)" } else { "Closed(..)" })
    }
}

impl<T> Error for TrySendError<T> {}
impl<T> Error for SendError<T> {}
impl<T> Error for SendTimeoutError<T> {}
impl Error for TrySendManyError {}
impl Error for SendManyError {}
impl Error for TryRecvError {}
impl Error for RecvError {}
impl Error for RecvTimeoutError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// No `Debug` on purpose: no error may ask for it.
    #[derive(PartialEq)]
    struct Opaque(u8);

    fn said(error: impl Error) -> (String, String) {
        (error.to_string(), format!("{error:?}"))
    }

    #[test]
    fn every_predicate_of_every_send_error() {
        let full = TrySendError::Full(Opaque(1));
        assert!(full.is_full() && !full.is_closed());
        let closed = TrySendError::Closed(Opaque(2));
        assert!(!closed.is_full() && closed.is_closed());
        assert_eq!((full.into_inner().0, closed.into_inner().0), (1, 2));

        let timeout = SendTimeoutError::Timeout(Opaque(3));
        assert!(timeout.is_timeout() && !timeout.is_closed());
        let closed = SendTimeoutError::Closed(Opaque(4));
        assert!(!closed.is_timeout() && closed.is_closed());
        assert_eq!((timeout.into_inner().0, closed.into_inner().0), (3, 4));
        assert_eq!(SendError(Opaque(5)).into_inner().0, 5);

        let [full, closed] = [TrySendManyError::Full, TrySendManyError::Closed];
        assert!(full.is_full() && !full.is_closed() && !closed.is_full() && closed.is_closed());
    }

    #[test]
    fn every_predicate_of_every_receive_error() {
        assert!(TryRecvError::Empty.is_empty() && !TryRecvError::Empty.is_closed());
        assert!(!TryRecvError::Closed.is_empty() && TryRecvError::Closed.is_closed());
        assert!(RecvError::Closed.is_closed() && !RecvError::Closed.is_released());
        assert!(!RecvError::Released.is_closed() && RecvError::Released.is_released());
        let table = [
            (RecvTimeoutError::Timeout, [true, false, false]),
            (RecvTimeoutError::Closed, [false, true, false]),
            (RecvTimeoutError::Released, [false, false, true]),
        ];
        for (error, expected) in table {
            assert_eq!([error.is_timeout(), error.is_closed(), error.is_released()], expected);
        }
    }

    #[test]
    fn what_each_error_says() {
        let table = [
            (said(TrySendError::Full(Opaque(0))), (FULL, "Full(..)")),
            (said(TrySendError::Closed(Opaque(0))), (CLOSED, "Closed(..)")),
            (said(TrySendManyError::Full), (FULL, "Full")),
            (said(TrySendManyError::Closed), (CLOSED, "Closed")),
            (said(SendManyError), (CLOSED, "SendManyError")),
            (said(SendError(Opaque(0))), (CLOSED, "SendError(..)")),
            (said(SendTimeoutError::Timeout(Opaque(0))), (TIMEOUT, "Timeout(..)")),
            (said(SendTimeoutError::Closed(Opaque(0))), (CLOSED, "Closed(..)")),
            (said(TryRecvError::Empty), (EMPTY, "Empty")),
            (said(TryRecvError::Closed), (DRAINED, "Closed")),
            (said(RecvError::Closed), (DRAINED, "Closed")),
            (said(RecvError::Released), (RELEASED, "Released")),
            (said(RecvTimeoutError::Timeout), (TIMEOUT, "Timeout")),
            (said(RecvTimeoutError::Closed), (DRAINED, "Closed")),
            (said(RecvTimeoutError::Released), (RELEASED, "Released")),
        ];
        for ((display, debug), expected) in table {
            assert_eq!((display.as_str(), debug.as_str()), expected);
        }
    }
}
