//! Wall-clock times in JSON: whole milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<S: Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX).serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
    let since = Duration::from_millis(u64::deserialize(from)?);
    UNIX_EPOCH
        .checked_add(since)
        .ok_or_else(|| serde::de::Error::custom(format!("{since:?} is beyond the calendar")))
}
