//! Quality-of-service classes.

use std::fmt;

/// The quality-of-service class of a pod, most urgent first.
///
/// That latency-sensitive work comes before best-effort work follows from the names. The places
/// of [`Guaranteed`](Self::Guaranteed) (first) and [`Burstable`](Self::Burstable) (between the
/// two) are a choice made here: the logs give the classes no rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QosClass {
    /// `Guaranteed`: asks for a fixed amount of everything.
    Guaranteed,
    /// `LS`: latency sensitive.
    LatencySensitive,
    /// `Burstable`: asks for a minimum and may use more.
    Burstable,
    /// `BE`: best effort.
    BestEffort,
}

impl QosClass {
    /// Every class, most urgent first.
    pub const ALL: [Self; 4] =
        [Self::Guaranteed, Self::LatencySensitive, Self::Burstable, Self::BestEffort];

    /// The name of the class in a log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guaranteed => "Guaranteed",
            Self::LatencySensitive => "LS",
            Self::Burstable => "Burstable",
            Self::BestEffort => "BE",
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for QosClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
