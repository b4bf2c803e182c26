//! What answers are written as.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, AsArray, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::arrow::util::pretty::pretty_format_batches_with_options;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use trackway_report::guarded;

use crate::{Answer, QueryError};

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A table for people, with at most so many rows: the first ones. If it is wider than the terminal, each row is a block
    /// of lines, one for each column.
    Table {
        rows: usize,
        width: Option<usize>,
    },
    Csv,
    /// An object a line.
    Json,
    Parquet,
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    pub rows: u64,
    /// Whether there are more rows, which a table leaves out.
    pub is_cut: bool,
}

/// Writes an answer. `path` is the name of the output in messages.
///
/// # Errors
/// If the query fails on the way, or the output can't be written.
pub fn write(
    answer: &mut Answer,
    format: Format,
    output: &mut (dyn Write + Send),
    path: &Path,
) -> Result<Written, QueryError> {
    match format {
        Format::Table { rows, width } => write_table(answer, rows, width, output),
        Format::Csv => write_csv(answer, output),
        Format::Json => write_json(answer, output),
        Format::Parquet => write_parquet(answer, output, path),
    }
}

fn write_table(
    answer: &mut Answer,
    most: usize,
    width: Option<usize>,
    output: &mut dyn Write,
) -> Result<Written, QueryError> {
    let mut batches = vec![RecordBatch::new_empty(answer.schema())];
    let mut rows = 0;
    let mut is_cut = false;
    for batch in answer.by_ref() {
        let batch = batch?;
        let taken = batch.num_rows().min(most - rows);
        is_cut = taken < batch.num_rows();
        rows += taken;
        batches.push(batch.slice(0, taken));
        if is_cut {
            break;
        }
    }
    let options = FormatOptions::default().with_null("-");
    let table = pretty_format_batches_with_options(&batches, &options).map_err(failed)?;
    let table = table.to_string();
    // The first line is a border, of ASCII.
    let is_too_wide =
        width.is_some_and(|width| table.lines().next().is_some_and(|border| border.len() > width));
    let text = match is_too_wide && rows > 0 {
        true => blocks(&batches, &options).map_err(failed)?,
        false => table + "\n",
    };
    output.write_all(text.as_bytes()).map_err(QueryError::Writing)?;
    Ok(Written {
        rows: rows as u64,
        is_cut,
    })
}

/// A block of lines for each row: the columns' names and values.
fn blocks(batches: &[RecordBatch], options: &FormatOptions) -> Result<String, ArrowError> {
    let mut text = String::new();
    let mut number = 0;
    for batch in batches {
        let schema = batch.schema();
        let longest = schema
            .fields()
            .iter()
            .map(|field| field.name().chars().count())
            .max();
        let longest = longest.unwrap_or(0);
        let next_line = format!("\n{:longest$}    ", "");
        let values = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, options));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            number += 1;
            let space = if number > 1 { "\n" } else { "" };
            text += &format!("{space}row {number}\n");
            for (field, values) in schema.fields().iter().zip(&values) {
                let value = values.value(row).try_to_string()?.replace('\n', &next_line);
                text += &format!("  {:longest$}  {value}\n", field.name());
            }
        }
    }
    Ok(text)
}

fn write_csv(answer: &mut Answer, output: &mut dyn Write) -> Result<Written, QueryError> {
    let mut written = Written::default();
    let mut writer = WriterBuilder::new().with_header(true).build(output);
    // The header is written even if there are no rows.
    writer
        .write(&RecordBatch::new_empty(answer.schema()))
        .map_err(failed)?;
    for batch in answer {
        let batch = batch?;
        writer.write(&without_formulas(&batch)?).map_err(failed)?;
        written.rows += batch.num_rows() as u64;
    }
    Ok(written)
}

/// Texts that a spreadsheet would take for formulas are guarded, as in the CSV of reports; numbers never are.
fn without_formulas(batch: &RecordBatch) -> Result<RecordBatch, QueryError> {
    let columns = batch.columns().iter().map(guarded_texts).collect();
    RecordBatch::try_new(batch.schema(), columns).map_err(failed)
}

fn guarded_texts(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Utf8 => Arc::new(guarded_each(column.as_string::<i32>().iter()).collect::<StringArray>()),
        DataType::LargeUtf8 => {
            Arc::new(guarded_each(column.as_string::<i64>().iter()).collect::<LargeStringArray>())
        }
        DataType::Utf8View => {
            Arc::new(guarded_each(column.as_string_view().iter()).collect::<StringViewArray>())
        }
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            dictionary.with_values(guarded_texts(dictionary.values()))
        }
        _ => Arc::clone(column),
    }
}

fn guarded_each<'t>(
    texts: impl Iterator<Item = Option<&'t str>>,
) -> impl Iterator<Item = Option<Cow<'t, str>>> {
    texts.map(|text| text.map(guarded))
}

fn write_json(answer: &mut Answer, output: &mut dyn Write) -> Result<Written, QueryError> {
    let mut written = Written::default();
    let mut writer = LineDelimitedWriter::new(output);
    for batch in answer {
        let batch = batch?;
        writer.write(&batch).map_err(failed)?;
        written.rows += batch.num_rows() as u64;
    }
    writer.finish().map_err(failed)?;
    Ok(written)
}

fn write_parquet(
    answer: &mut Answer,
    output: &mut (dyn Write + Send),
    path: &Path,
) -> Result<Written, QueryError> {
    let failed = |source| QueryError::Parquet {
        path: path.to_owned(),
        source,
    };
    let mut written = Written::default();
    let mut writer =
        ArrowWriter::try_new(output, answer.schema(), Some(parquet_properties())).map_err(failed)?;
    for batch in answer {
        let batch = batch?;
        writer.write(&batch).map_err(failed)?;
        written.rows += batch.num_rows() as u64;
    }
    writer.close().map_err(failed)?;
    Ok(written)
}

/// How all Parquet files are written.
pub fn parquet_properties() -> WriterProperties {
    WriterProperties::builder()
        .set_created_by(concat!("trackway ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build()
}

fn failed(error: datafusion::arrow::error::ArrowError) -> QueryError {
    match error {
        datafusion::arrow::error::ArrowError::IoError(_, error) => QueryError::Writing(error),
        other => QueryError::Failed(other.to_string()),
    }
}
