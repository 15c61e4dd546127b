//! The end of a queue that cannot be closed while its handles live.

use super::super::Item;

/// Sent after all others.
pub(crate) const LAST: Item = Item::MAX;

/// An item that was received; the last one goes back for the next receiver, so that each of them
/// learns of the end. There is room: nobody sends any more.
pub(crate) fn or_pass_on(item: Item, send: impl FnOnce(Item)) -> Option<(usize, Item)> {
    if item == LAST {
        send(LAST);
        return None;
    }
    Some((0, item))
}
