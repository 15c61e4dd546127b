//! Histories as files: `thread,op,band,value,call,ret,set`.
//!
//! `set` is the set of bands that a pop may take from, as a bit mask in decimal: bit 0 is band 0.
//! What a call has no use for is left empty.

use std::io::{Read, Write};

use overtake_core::{BandSet, MAX_BANDS};

use super::history::{History, Operation, OperationKind};

const COLUMNS: [&str; 7] = ["thread", "op", "band", "value", "call", "ret", "set"];

/// Why a history cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The file itself, or its form as CSV.
    #[error("the history cannot be read or written")]
    Csv(#[from] csv::Error),
    /// Other columns than these.
    #[error("the columns are `{found}`, not `{}`", COLUMNS.join(","))]
    Columns {
        /// The first line as it is.
        found: String,
    },
    /// A field that is not what it should be.
    #[error("line {line}: field `{field}`: {reason}")]
    Field {
        /// Which line, from 1; the column names are line 1.
        line: u64,
        /// Which field.
        field: &'static str,
        /// What is wrong.
        reason: String,
    },
}

impl History {
    /// Reads a history. Capacities are not part of the file.
    ///
    /// # Errors
    ///
    /// [`HistoryError`] names the line and the field.
    pub fn read_csv(from: impl Read) -> Result<Self, HistoryError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(from);
        let columns: Vec<_> = reader.headers()?.iter().map(str::to_owned).collect();
        if columns != COLUMNS {
            return Err(HistoryError::Columns { found: columns.join(",") });
        }
        let mut operations = Vec::new();
        for record in reader.records() {
            operations.push(operation(&record?)?);
        }
        Ok(Self { operations, capacities: Vec::new() })
    }

    /// Writes the history, in the order of the calls.
    ///
    /// # Errors
    ///
    /// What kept it from being written.
    pub fn write_csv(&self, to: impl Write) -> Result<(), HistoryError> {
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record(COLUMNS)?;
        let mut operations: Vec<_> = self.operations.iter().collect();
        operations.sort_by_key(|operation| (operation.call, operation.ret));
        for operation in operations {
            let Operation { thread, kind, band, value, call, ret, set } = *operation;
            let numbers =
                |has: bool, number: u64| if has { number.to_string() } else { String::new() };
            let has_band = !matches!(
                kind,
                OperationKind::PopEmpty | OperationKind::PopClosed | OperationKind::Close
            );
            let has_value = matches!(kind, OperationKind::PushOk | OperationKind::PopOk);
            let is_pop = matches!(
                kind,
                OperationKind::PopOk | OperationKind::PopEmpty | OperationKind::PopClosed
            );
            writer.write_record([
                thread.to_string(),
                kind.name().to_owned(),
                numbers(has_band, band as u64),
                numbers(has_value, value),
                call.to_string(),
                ret.to_string(),
                numbers(is_pop, set.iter().map(|band| 1 << band).sum()),
            ])?;
        }
        writer.flush().map_err(csv::Error::from)?;
        Ok(())
    }
}

fn operation(record: &csv::StringRecord) -> Result<Operation, HistoryError> {
    let line = record.position().map_or(0, csv::Position::line);
    let text = |index: usize| record.get(index).unwrap_or_default();
    let fail =
        |index: usize, reason: String| HistoryError::Field { line, field: COLUMNS[index], reason };
    let number = |index: usize| {
        let text = text(index);
        text.parse::<u64>().map_err(|error| fail(index, format!("`{text}`: {error}")))
    };
    let or_zero = |index: usize| if text(index).is_empty() { Ok(0) } else { number(index) };
    let kind = text(1).parse::<OperationKind>().map_err(|reason| fail(1, reason))?;
    let band = or_zero(2)? as usize;
    if band >= MAX_BANDS {
        return Err(fail(2, format!("{band} is not below {MAX_BANDS}")));
    }
    let (call, ret) = (number(4)?, number(5)?);
    if ret < call {
        return Err(fail(5, format!("{ret} is before the call at {call}")));
    }
    let thread = u32::try_from(number(0)?).map_err(|error| fail(0, error.to_string()))?;
    let mask = if text(6).is_empty() { u64::MAX } else { number(6)? };
    let set = (0..MAX_BANDS).filter(|band| mask & (1 << band) != 0).collect::<BandSet>();
    Ok(Operation { thread, kind, band, value: or_zero(3)?, call, ret, set })
}
