//! Parquet files: a table each, with its titles and units.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::table::{CellType, Column};
use crate::{Table, Value};

/// The table as a Parquet file. Every column may have nulls; counts are unsigned. `title` and, for each column,
/// `title.NAME` and `unit.NAME` stand in the file's key-value metadata.
pub fn to_parquet(table: &Table) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_created_by(concat!("trackway ", env!("CARGO_PKG_VERSION")).into())
        .set_key_value_metadata(Some(metadata(table)))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema(table)?, Arc::new(properties))?;
    let mut rows = writer.next_row_group()?;
    for column in table.columns() {
        match column.cell_type() {
            CellType::Text => write::<ByteArrayType>(&mut rows, table, column, |value| match value {
                Value::Text(text) => Some(ByteArray::from(text)),
                _ => None,
            })?,
            CellType::Real => write::<DoubleType>(&mut rows, table, column, |value| match value {
                Value::Real(number) => Some(number),
                _ => None,
            })?,
            CellType::Integer | CellType::Signed => {
                write::<Int64Type>(&mut rows, table, column, |value| match value {
                    // Unsigned numbers are stored as the signed ones of the same bits.
                    Value::Integer(number) => Some(number as i64),
                    Value::Signed(number) => Some(number),
                    _ => None,
                })?
            }
        }
    }
    rows.close()?;
    writer.into_inner()
}

fn metadata(table: &Table) -> Vec<KeyValue> {
    let entry = |key: String, value: &str| KeyValue::new(key, value.to_owned());
    let columns = table.columns().flat_map(|column| {
        [
            entry(format!("title.{}", column.name()), column.title()),
            entry(format!("unit.{}", column.name()), column.unit().name()),
        ]
    });
    std::iter::once(entry("title".into(), table.title()))
        .chain(columns)
        .collect()
}

fn schema(table: &Table) -> Result<TypePtr, ParquetError> {
    let fields = table.columns().map(|column| {
        let (physical, logical) = match column.cell_type() {
            CellType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            CellType::Integer => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
            CellType::Signed => (PhysicalType::INT64, Some(LogicalType::integer(64, true))),
            CellType::Real => (PhysicalType::DOUBLE, None),
        };
        let field = Type::primitive_type_builder(column.name(), physical);
        let field = field
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        Ok(Arc::new(field.build()?))
    });
    let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
    Ok(Arc::new(
        Type::group_type_builder(table.name())
            .with_fields(fields)
            .build()?,
    ))
}

/// Values that are there, and for each row whether there is one.
fn write<T: DataType>(
    rows: &mut SerializedRowGroupWriter<Vec<u8>>,
    table: &Table,
    column: Column,
    value: impl Fn(Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let cells: Vec<Option<T::T>> = (0..table.row_count())
        .map(|row| value(column.value(row)))
        .collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    if let Some(mut writer) = rows.next_column()? {
        writer.typed::<T>().write_batch(&values, Some(&levels), None)?;
        writer.close()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample;
    use crate::TableBuilder;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    /// The rows as parquet's own reader sees them.
    fn rows(table: &Table) -> Vec<String> {
        let reader = SerializedFileReader::new(bytes::Bytes::from(to_parquet(table).unwrap())).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().to_string()).collect()
    }

    #[test]
    fn another_reader_finds_the_same_rows() {
        assert_eq!(
            rows(&sample()),
            [
                "{field: \"arc.ident\", line: 123, accesses: 4567890, share: 0.75, source: \"if (arc->ident > BASIC)\"}",
                "{field: \"node, \"x\"\", line: 7, accesses: 12, share: null, source: null}",
            ]
        );
        let extremes = TableBuilder::new("extremes", "Extremes", &[()])
            .count("most", |()| u64::MAX)
            .change("least", |()| Some(i64::MIN))
            .build();
        assert_eq!(
            rows(&extremes),
            [format!("{{most: {}, least: {}}}", u64::MAX, i64::MIN)]
        );
        let none: [(); 0] = [];
        let empty = TableBuilder::new("empty", "Empty", &none)
            .text("name", |()| "")
            .build();
        assert_eq!(rows(&empty), [""; 0]);
    }

    #[test]
    fn titles_and_units_are_kept() {
        let reader = SerializedFileReader::new(bytes::Bytes::from(to_parquet(&sample()).unwrap())).unwrap();
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let value = |key: &str| {
            metadata
                .iter()
                .find(|entry| entry.key == key)
                .unwrap()
                .value
                .clone()
        };
        assert_eq!(value("title").as_deref(), Some("Fields"));
        assert_eq!(value("unit.share").as_deref(), Some("share"));
        assert_eq!(value("title.share").as_deref(), Some("share of misses"));
    }
}
