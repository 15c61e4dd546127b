//! What threads did to a queue, and when.

use std::fmt;
use std::str::FromStr;

use overtake_core::BandSet;

/// One finished call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Which thread called.
    pub thread: u32,
    /// What the call did.
    pub kind: OperationKind,
    /// The band pushed to or popped from; meaningless without one.
    pub band: usize,
    /// The value, different for each push; meaningless without one.
    pub value: u64,
    /// When the call began, on a clock that all threads share.
    pub call: u64,
    /// When it returned.
    pub ret: u64,
    /// The bands that a pop may take from.
    pub set: BandSet,
}

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Pushed the value.
    PushOk,
    /// Found no room.
    PushFull,
    /// Found the queue closed.
    PushClosed,
    /// Popped the value.
    PopOk,
    /// Found nothing.
    PopEmpty,
    /// Found nothing, and that nothing can come.
    PopClosed,
    /// Closed the queue.
    Close,
}

impl OperationKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::PushOk,
        Self::PushFull,
        Self::PushClosed,
        Self::PopOk,
        Self::PopEmpty,
        Self::PopClosed,
        Self::Close,
    ];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PushOk => "push_ok",
            Self::PushFull => "push_full",
            Self::PushClosed => "push_closed",
            Self::PopOk => "pop_ok",
            Self::PopEmpty => "pop_empty",
            Self::PopClosed => "pop_closed",
            Self::Close => "close",
        }
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for OperationKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("`{text}` is no operation; the operations are {known}")
        })
    }
}

/// The calls of all threads, in no particular order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The calls.
    pub operations: Vec<Operation>,
    /// The capacity of each band, if known: then `push_full` and too many items are judged too.
    pub capacities: Vec<usize>,
}

impl fmt::Display for Operation {
    /// The call in words, as it stands in a witness.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, kind, band, value, call, ret, .. } = *self;
        write!(f, "[{call}, {ret}] thread {thread} ")?;
        match kind {
            OperationKind::PushOk => write!(f, "pushed {value} to band {band}"),
            OperationKind::PushFull => write!(f, "found band {band} full"),
            OperationKind::PushClosed => {
                write!(f, "found the queue closed for pushing to band {band}")
            }
            OperationKind::PopOk => write!(f, "popped {value} from band {band}"),
            OperationKind::PopEmpty => write!(f, "found the bands {:?} empty", self.set),
            OperationKind::PopClosed => {
                write!(f, "found the bands {:?} empty and closed", self.set)
            }
            OperationKind::Close => f.write_str("closed the queue"),
        }
    }
}
