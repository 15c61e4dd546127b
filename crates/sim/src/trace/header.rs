//! What an SWF log says about itself in its comments.

use std::collections::BTreeMap;

/// The facts in the comments of an SWF log that a replay can use or should show.
///
/// Archives cut slices out of a log and keep its header, so a header may speak of a longer time
/// than the jobs below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceHeader {
    /// The machine the log is from.
    pub computer: Option<String>,
    /// Where that machine stood.
    pub installation: Option<String>,
    /// Whom the archive asks to acknowledge.
    pub acknowledge: Option<String>,
    /// The Unix time at which the log's own clock is zero.
    pub unix_start_time: Option<i64>,
    /// The names of the queues by their numbers. A queue that the header leaves nameless is absent.
    pub queue_names: BTreeMap<i64, String>,
}

impl TraceHeader {
    /// Takes in a comment: `Key: value`, the leading `;` removed. Where a key comes twice the first
    /// one counts.
    pub(super) fn note(&mut self, comment: &str) {
        let Some((key, value)) = comment.split_once(':') else { return };
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        let text = match key.trim() {
            "Computer" => &mut self.computer,
            "Installation" => &mut self.installation,
            "Acknowledge" => &mut self.acknowledge,
            "UnixStartTime" => {
                self.unix_start_time = self.unix_start_time.or_else(|| value.parse().ok());
                return;
            }
            "Queue" => return self.note_queue(value),
            _ => return,
        };
        text.get_or_insert_with(|| value.to_owned());
    }

    fn note_queue(&mut self, value: &str) {
        if let Some((number, name)) = value.split_once(|c: char| c.is_ascii_whitespace())
            && let Ok(number) = number.parse()
        {
            self.queue_names.entry(number).or_insert_with(|| name.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_keys_are_kept_and_the_first_one_counts() {
        let mut header = TraceHeader::default();
        let comments = [
            " Computer: abacus",
            " Computer: another",
            " UnixStartTime: 12",
            "Queue:  0 interactive ",
            " Queue:  3   two words",
            " Queue:  1  ",
            " Queue: x y",
            " Note: nothing",
            " no colon",
            " Installation:",
        ];
        for comment in comments {
            header.note(comment);
        }
        assert_eq!(header.computer.as_deref(), Some("abacus"));
        assert_eq!((header.installation, header.acknowledge), (None, None));
        assert_eq!(header.unix_start_time, Some(12));
        let names = [(0, "interactive".to_owned()), (3, "two words".to_owned())];
        assert_eq!(header.queue_names, BTreeMap::from(names));
    }
}
