//! Reports as bytes, exactly as they are: for this program alone.

use std::io::{Cursor, Read};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use serde::{Deserialize, Serialize};

use crate::table::TableHead;
use crate::{Report, Table};

/// Begins the bytes, as JSON after its length. The cells of each table follow as a stream.
#[derive(Serialize, Deserialize)]
struct Head {
    answer: String,
    warnings: Vec<String>,
    tables: Vec<TableHead>,
}

/// The report as bytes, for [`report_from_bytes`].
///
/// # Errors
/// If a table has a column that can't be written.
pub fn report_to_bytes(report: &Report) -> Result<Vec<u8>, ArrowError> {
    let head = Head {
        answer: report.answer.clone(),
        warnings: report.warnings.clone(),
        tables: report.tables.iter().map(Table::head).collect(),
    };
    let head = serde_json::to_vec(&head).map_err(invalid)?;
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(&head);
    for table in &report.tables {
        let mut writer = StreamWriter::try_new(&mut bytes, table.batch().schema_ref())?;
        writer.write(table.batch())?;
        writer.finish()?;
    }
    Ok(bytes)
}

/// The report of these bytes.
///
/// # Errors
/// If [`report_to_bytes`] didn't make them.
pub fn report_from_bytes(bytes: &[u8]) -> Result<Report, ArrowError> {
    let (length, rest) = bytes.split_first_chunk().ok_or_else(|| invalid("no length"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(invalid)?;
    let (head, rest) = rest.split_at_checked(length).ok_or_else(|| invalid("no head"))?;
    let head: Head = serde_json::from_slice(head).map_err(invalid)?;
    let mut cells = Cursor::new(rest);
    let tables = head.tables.into_iter();
    let tables = tables.map(|head| Ok(Table::of(head, read(&mut cells)?)));
    Ok(Report {
        answer: head.answer,
        warnings: head.warnings,
        tables: tables.collect::<Result<_, ArrowError>>()?,
    })
}

/// The batch of a stream, and nothing past the stream.
fn read(bytes: impl Read) -> Result<RecordBatch, ArrowError> {
    let mut reader = StreamReader::try_new(bytes, None)?;
    let batch = reader
        .next()
        .ok_or_else(|| invalid("a stream without a batch"))??;
    match reader.next() {
        None => Ok(batch),
        Some(_) => Err(invalid("a stream of several batches")),
    }
}

fn invalid(what: impl ToString) -> ArrowError {
    ArrowError::ParseError(what.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report_to_json, TableBuilder};

    fn report() -> Report {
        let rows: Vec<u64> = (0..2000).collect();
        let ranked = TableBuilder::new("ranked", "Ranked", &rows)
            .text("name", |row| format!("n{row}"))
            .count(("accesses", "all accesses"), |row| *row)
            .share("share", |row| (*row, 7))
            .total_rows(5000)
            .ranked_by("accesses")
            .build();
        let record = TableBuilder::new("record", "Record", &[()])
            .count("streams", |()| 3)
            .as_record()
            .build();
        let none = TableBuilder::new("none", "None", &rows[..0])
            .text("name", |row| row.to_string())
            .build();
        Report {
            answer: "All of it.".into(),
            warnings: vec!["a".into(), String::new()],
            tables: vec![ranked, record, none],
        }
    }

    #[test]
    fn nothing_is_lost() {
        let before = report();
        let after = report_from_bytes(&report_to_bytes(&before).unwrap()).unwrap();
        assert_eq!(report_to_json(&before), report_to_json(&after));
        for (before, after) in before.tables.iter().zip(&after.tables) {
            assert_eq!(before.batch(), after.batch());
            assert_eq!(before.head(), after.head());
        }
        let empty = Report {
            tables: Vec::new(),
            ..before
        };
        let after = report_from_bytes(&report_to_bytes(&empty).unwrap()).unwrap();
        assert!(after.tables.is_empty());
    }

    #[test]
    fn other_bytes_are_refused() {
        let bytes = report_to_bytes(&report()).unwrap();
        for end in [0, 1, 8, 100, bytes.len() / 2, bytes.len() - 1] {
            assert!(report_from_bytes(&bytes[..end]).is_err(), "{end}");
        }
    }
}
