//! Lines of bytes with their numbers.

use std::io::{self, BufRead};

use super::skip::SkipReason;

/// The longest line that is kept: far more than any job line needs, and little enough that a file
/// without line ends does not fill the memory.
pub(super) const MAX_LINE: usize = 1 << 16;

/// Reads an input line by line.
pub(super) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    buffer: Vec<u8>,
    /// How many lines have been read.
    pub(super) count: u64,
}

/// A line without its end.
pub(super) struct Line<'a> {
    /// The first line is 1.
    pub(super) number: u64,
    /// The line up to `MAX_LINE` bytes, without `\n` and without a `\r` before it.
    pub(super) bytes: &'a [u8],
    /// Whether it is longer than `bytes`.
    pub(super) too_long: bool,
    /// Whether a line end followed; only the last line can lack one.
    pub(super) ended: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: &'a mut dyn BufRead) -> Self {
        Self { input, buffer: Vec::new(), count: 0 }
    }

    /// The next line, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let limit = MAX_LINE as u64 + 1;
        if io::Read::take(&mut *self.input, limit).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        let ended = self.buffer.pop_if(|last| *last == b'\n').is_some();
        let too_long = self.buffer.len() > MAX_LINE;
        if too_long {
            self.buffer.truncate(MAX_LINE);
            self.input.skip_until(b'\n')?;
        }
        self.buffer.pop_if(|last| *last == b'\r');
        self.count += 1;

        let mut bytes = self.buffer.as_slice();
        if self.count == 1 {
            bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        }
        Ok(Some(Line { number: self.count, bytes, too_long, ended }))
    }
}

impl<'a> Line<'a> {
    pub(super) fn is_blank(&self) -> bool {
        !self.too_long && self.bytes.trim_ascii().is_empty()
    }

    /// What follows the `;` if the line is a comment.
    pub(super) fn comment(&self) -> Option<&'a [u8]> {
        self.bytes.trim_ascii_start().strip_prefix(b";")
    }

    /// The line as text, if a job can stand in it.
    pub(super) fn text(&self) -> Result<&'a str, SkipReason> {
        if self.too_long {
            return Err(SkipReason::TooLong { limit: MAX_LINE });
        }
        std::str::from_utf8(self.bytes)
            .map_err(|error| SkipReason::NotUtf8 { byte: error.valid_up_to() + 1 })
    }

    /// The reason to skip a line that has `found` instead of `expected` fields.
    pub(super) fn wrong_count(&self, found: usize, expected: usize) -> SkipReason {
        if self.ended {
            SkipReason::FieldCount { found, expected }
        } else {
            SkipReason::CutOff { found, expected }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(mut input: &[u8]) -> Vec<(u64, Vec<u8>, bool, bool)> {
        let mut lines = Lines::new(&mut input);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push((line.number, line.bytes.to_vec(), line.too_long, line.ended));
        }
        all
    }

    #[test]
    fn line_ends_and_the_byte_order_mark_are_cut() {
        let expected = [
            (1, b"a".to_vec(), false, true),
            (2, b"".to_vec(), false, true),
            (3, b"b\rc".to_vec(), false, false),
        ];
        assert_eq!(split("\u{feff}a\r\n\nb\rc".as_bytes()), expected);
    }

    #[test]
    fn a_line_beyond_the_limit_is_cut_and_the_next_one_is_whole() {
        let mut input = vec![b'x'; MAX_LINE];
        input.extend(b"\nb\n");
        assert_eq!(split(&input)[0], (1, vec![b'x'; MAX_LINE], false, true));

        let mut input = vec![b'x'; 3 * MAX_LINE];
        input.extend(b"\nb\n");
        let lines = split(&input);
        assert_eq!((lines[0].1.len(), lines[0].2), (MAX_LINE, true));
        assert_eq!(lines[1..], [(2, b"b".to_vec(), false, true)]);
    }
}
