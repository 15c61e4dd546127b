//! From bytes to a trace: unpacking, telling the format, collecting, sorting.

use std::io::{BufRead, BufReader, Cursor, Read};
use std::time::Duration;

use flate2::read::MultiGzDecoder;

use super::error::TraceError;
use super::header::TraceHeader;
use super::lines::{Line, Lines};
use super::pods::{self, Columns};
use super::skip::{SkipReason, SkippedLine, shown};
use super::{Trace, TraceFormat, TraceJob, swf};

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads a log, unpacking it first if it begins like a gzip file.
pub(super) fn unpack_and_read(mut reader: impl Read, name: &str) -> Result<Trace, TraceError> {
    let mut head = Vec::new();
    if let Err(source) = reader.by_ref().take(GZIP.len() as u64).read_to_end(&mut head) {
        return Err(TraceError::Read { name: name.to_owned(), line: 1, source });
    }
    let packed = head == GZIP;
    let whole = Cursor::new(head).chain(reader);
    if packed {
        read(&mut BufReader::new(MultiGzDecoder::new(whole)), name)
    } else {
        read(&mut BufReader::new(whole), name)
    }
}

enum Format {
    Swf,
    PodList(Columns),
}

/// What has been read so far.
#[derive(Default)]
struct Draft {
    header: TraceHeader,
    jobs: Vec<TraceJob>,
    skipped: Vec<SkippedLine>,
}

fn read(input: &mut dyn BufRead, name: &str) -> Result<Trace, TraceError> {
    let mut lines = Lines::new(input);
    let mut format = None;
    let mut draft = Draft::default();
    loop {
        let number = lines.count + 1;
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(source) => {
                return Err(TraceError::Read { name: name.to_owned(), line: number, source });
            }
        };
        if line.is_blank() {
            continue;
        }
        match &format {
            Some(Format::Swf) => draft.take_swf(&line),
            Some(Format::PodList(columns)) => draft.take(&line, columns.job(&line)),
            None => {
                let told = tell(&line, name)?;
                if matches!(told, Format::Swf) {
                    draft.take_swf(&line);
                }
                format = Some(told);
            }
        }
    }
    let format = match format {
        Some(Format::PodList(_)) => TraceFormat::PodList,
        Some(Format::Swf) | None => TraceFormat::Swf,
    };
    draft.finish(format).ok_or(TraceError::Empty { name: name.to_owned(), lines: lines.count })
}

/// Tells the format from the first line that is not blank.
fn tell(line: &Line<'_>, name: &str) -> Result<Format, TraceError> {
    if line.comment().is_some() {
        return Ok(Format::Swf);
    }
    let name = name.to_owned();
    match line.text() {
        Ok(text) if pods::looks_like_a_header(text) => match Columns::find(text) {
            Ok(columns) => Ok(Format::PodList(columns)),
            Err(column) => Err(TraceError::MissingColumn { name, line: line.number, column }),
        },
        Ok(text) if swf::looks_like_a_job(text) => Ok(Format::Swf),
        _ => {
            let found = shown(&String::from_utf8_lossy(line.bytes));
            Err(TraceError::NotATrace { name, line: line.number, found })
        }
    }
}

impl Draft {
    fn take_swf(&mut self, line: &Line<'_>) {
        match line.comment() {
            Some(comment) => self.header.note(&String::from_utf8_lossy(comment)),
            None => self.take(line, swf::job(line)),
        }
    }

    fn take(&mut self, line: &Line<'_>, job: Result<TraceJob, SkipReason>) {
        match job {
            Ok(job) => self.jobs.push(job),
            Err(reason) => self.skipped.push(SkippedLine { line: line.number, reason }),
        }
    }

    /// Sorts the jobs and counts their times from the first; `None` if there was no data line.
    fn finish(self, format: TraceFormat) -> Option<Trace> {
        let Self { header, mut jobs, skipped } = self;
        let lines = jobs.len() as u64 + skipped.len() as u64;
        if lines == 0 {
            return None;
        }
        jobs.sort_by_key(|job| job.submit);
        let first_submit = jobs.first().map_or(Duration::ZERO, |job| job.submit);
        for job in &mut jobs {
            job.submit -= first_submit;
        }
        Some(Trace { format, header, lines, first_submit, jobs, skipped })
    }
}
