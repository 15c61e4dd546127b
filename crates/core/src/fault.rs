//! Faults that a model can plant, to show that it would have caught them.
//!
//! Outside the model checkers [`Fault::planted`] is a constant `false`, and the branch is gone.

use crate::sync::Ordering;

/// A rule of the protocols that can be switched off in a model.
#[allow(unreachable_pub, reason = "public only where the models reach it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A sender looks for waiters before its item can be seen (breaks N2).
    WakeBeforePublish,
    /// A receiver or sender parks without a look after its announcement (breaks N1).
    ParkWithoutLook,
    /// One that was told and leaves without using the wake keeps it (breaks N3).
    SwallowWake,
    /// The release epoch is read after the announcement (breaks N4).
    LateEpoch,
    /// A receiver that freed room looks for no waiting sender (breaks N2).
    RoomWithoutWake,
    /// A reader frees its slot by a store (breaks R4).
    FreeByStore,
    /// An item is claimed without a second look at the bands above (breaks S1).
    PlainSweep,
    /// `Empty` is answered without a second look (breaks S2).
    EmptyAtOnce,
    /// An unpublished ticket counts as empty in a sealed ring (breaks C2).
    TrustUnpublished,
    /// A sender that meets a seal does not help the close along (breaks C1).
    CloseWithoutHelp,
    /// The channel is closed before its tails are sealed (breaks C1).
    CloseBeforeSeals,
    /// The checker sees no order between a claim and the look at the presence word (breaks W1).
    EnsureWithoutFence,
    /// The checker sees no order between a mark and the look at the tail (breaks W1).
    ClearWithoutFence,
    /// The checker sees no order between announcing and looking (breaks N1).
    AnnounceWithoutFence,
    /// The checker sees no order between publishing and looking for waiters (breaks N2).
    TellWithoutFence,
    /// A notifier that finds nobody untold does not wake those who are told and still live (breaks
    /// N5).
    NoHelp,
    /// A waiter is taken out of the bitmap before it is woken (breaks N5).
    ClearBeforeWake,
    /// A notifier clears the live bit after its borrow has ended (breaks N6).
    ClearAfterReturn,
    /// An owner clears its live bit after it has left the cell (breaks N6).
    ClearAfterLeaving,
    /// The live bit is set before the count rises (breaks N7).
    CountAfterBit,
    /// A notifier does not look at the set again once it has told (breaks N8).
    TrustFirstSet,
    /// An owner takes its cell along although it is borrowed (breaks N9).
    LeaveDespiteBorrowers,
    /// A waiter that was told already counts as served (breaks N10).
    ToldCountsAsServed,
    /// Who answers `Closed` leaves the waking to the closer (breaks C1).
    ClosedWithoutWaking,
    /// A receiver that used its wake does not look for what remains (breaks N3's chain).
    NoChain,
    /// A notifier tells by a load and a store (breaks N5).
    TellByStore,
    /// A waiter is woken before it is told (breaks N5).
    WakeBeforeTell,
    /// An owner leaves its cell by a load and a store (breaks N3).
    LeaveByStore,
    /// A search looks at the first segment only (breaks N10).
    FirstSegmentOnly,
    /// Whoever is announced is told, of whatever band (breaks N8).
    BlindTell,
    /// One wake for all the room that one call freed (breaks N2).
    OneWakePerCall,
    /// A cell that was left to its borrowers is not freed by the last of them (breaks N9).
    KeepGoneCells,
    /// A cell is given back before its sleeper is out (breaks N9).
    FreeBeforeTaking,
    /// A task that polls with another waker keeps the one it announced (breaks N1).
    KeepOldWaker,
    /// The look after the announcement leaves the release epoch out (breaks N4).
    ReleaseAsPulse,
    /// The epoch is not compared before a take (breaks N4).
    TakeWhenReleased,
    /// The waiters are told of a release before the epoch changes (breaks N4).
    EpochAfterWaking,
    /// A close tells one waiter of each wait set (breaks N10).
    CloseWakesOne,
    /// A waker that panics counts as a wake (breaks N10).
    PanicCountsAsWake,
    /// A waker that panics when it is dropped does so in a call of somebody else (breaks N3).
    PanicGoesOn,
    /// The outermost wake does not ask for those left to it (breaks N5).
    ForgetDeepWakes,
    /// One that began to wait during a search counts as the oldest (breaks the order of service).
    YoungestIsOldest,
    /// Who helps gives up if another changes the cell meanwhile (breaks N5).
    HelpOnce,
    /// A cell is made ready without releasing its sleeper (breaks N9).
    ReadyWithoutRelease,
    /// Telling does not acquire the sleeper (breaks N9).
    TellWithoutAcquire,
    /// A borrow ends without releasing what it read (breaks N9).
    EndWithoutRelease,
    /// A cell is given back without a release (breaks N9).
    FreeWithoutRelease,
}

impl Fault {
    /// Whether this fault is planted in the current model run.
    #[cfg(not(any(overtake_loom, overtake_shuttle)))]
    pub(crate) const fn planted(self) -> bool {
        false
    }

    /// Whether this fault is planted in the current model run.
    #[cfg(any(overtake_loom, overtake_shuttle))]
    pub(crate) fn planted(self) -> bool {
        PLANTED.load(std::sync::atomic::Ordering::Relaxed) == self as usize + 1
    }

    /// The order of an access, which this fault takes away.
    pub(crate) fn relaxes(self, order: Ordering) -> Ordering {
        if self.planted() { Ordering::Relaxed } else { order }
    }

    /// Whether any fault is planted: then what asserts a rule leaves the model to find out.
    pub(crate) fn any_planted() -> bool {
        #[cfg(any(overtake_loom, overtake_shuttle))]
        return PLANTED.load(std::sync::atomic::Ordering::Relaxed) != 0;
        #[cfg(not(any(overtake_loom, overtake_shuttle)))]
        false
    }

    /// Plants one fault, or none, for all later model runs of this process.
    #[cfg(any(overtake_loom, overtake_shuttle))]
    pub fn plant(fault: Option<Fault>) {
        let word = fault.map_or(0, |fault| fault as usize + 1);
        PLANTED.store(word, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Not the checker's atomic: which rule is off is no part of the model.
#[cfg(any(overtake_loom, overtake_shuttle))]
static PLANTED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
