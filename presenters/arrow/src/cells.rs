//! Columns that are built from rows, each on its own.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

/// Metadata of a field: what it means, and in which unit it is.
pub const MEANING: &str = "meaning";
pub const UNIT: &str = "unit";

/// What a cell is, and how it follows from its row. Unknown texts are empty, and null in the table.
pub enum Cells<R> {
    U32(fn(&R) -> u32),
    MaybeU32(fn(&R) -> Option<u32>),
    U64(fn(&R) -> u64),
    MaybeU64(fn(&R) -> Option<u64>),
    Flag(fn(&R) -> bool),
    Text(for<'r> fn(&'r R) -> Cow<'r, str>),
}

/// A column of a table whose rows are `R`.
pub struct Column<R> {
    pub name: &'static str,
    /// Empty for names and numbers that identify.
    pub unit: &'static str,
    pub meaning: &'static str,
    pub cells: Cells<R>,
}

/// Lists columns. A column is named alone, or with its unit.
pub struct Columns<R>(Vec<Column<R>>);

impl<R> Columns<R> {
    pub fn new() -> Self {
        Columns(Vec::new())
    }

    pub fn u32(self, name: impl Into<Named>, meaning: &'static str, cell: fn(&R) -> u32) -> Self {
        self.with(name, meaning, Cells::U32(cell))
    }

    pub fn maybe_u32(
        self,
        name: impl Into<Named>,
        meaning: &'static str,
        cell: fn(&R) -> Option<u32>,
    ) -> Self {
        self.with(name, meaning, Cells::MaybeU32(cell))
    }

    pub fn u64(self, name: impl Into<Named>, meaning: &'static str, cell: fn(&R) -> u64) -> Self {
        self.with(name, meaning, Cells::U64(cell))
    }

    pub fn maybe_u64(
        self,
        name: impl Into<Named>,
        meaning: &'static str,
        cell: fn(&R) -> Option<u64>,
    ) -> Self {
        self.with(name, meaning, Cells::MaybeU64(cell))
    }

    pub fn flag(self, name: impl Into<Named>, meaning: &'static str, cell: fn(&R) -> bool) -> Self {
        self.with(name, meaning, Cells::Flag(cell))
    }

    pub fn text(self, name: impl Into<Named>, meaning: &'static str, cell: fn(&R) -> Cow<str>) -> Self {
        self.with(name, meaning, Cells::Text(cell))
    }

    fn with(mut self, name: impl Into<Named>, meaning: &'static str, cells: Cells<R>) -> Self {
        let Named { name, unit } = name.into();
        self.0.push(Column {
            name,
            unit,
            meaning,
            cells,
        });
        self
    }

    pub fn list(self) -> Vec<Column<R>> {
        self.0
    }
}

/// The name of a column, with its unit.
pub struct Named {
    name: &'static str,
    unit: &'static str,
}

impl From<&'static str> for Named {
    fn from(name: &'static str) -> Named {
        Named { name, unit: "" }
    }
}

impl From<(&'static str, &'static str)> for Named {
    fn from((name, unit): (&'static str, &'static str)) -> Named {
        Named { name, unit }
    }
}

impl<R> Column<R> {
    pub fn field(&self) -> Field {
        let (data_type, nullable) = match self.cells {
            Cells::U32(_) => (DataType::UInt32, false),
            Cells::MaybeU32(_) => (DataType::UInt32, true),
            Cells::U64(_) => (DataType::UInt64, false),
            Cells::MaybeU64(_) => (DataType::UInt64, true),
            Cells::Flag(_) => (DataType::Boolean, false),
            Cells::Text(_) => (DataType::Utf8, true),
        };
        described(self.name, data_type, nullable, self.unit, self.meaning)
    }

    pub fn array(&self, rows: &[R]) -> ArrayRef {
        let rows = rows.iter();
        match self.cells {
            Cells::U32(cell) => Arc::new(UInt32Array::from_iter_values(rows.map(cell))),
            Cells::MaybeU32(cell) => Arc::new(rows.map(cell).collect::<UInt32Array>()),
            Cells::U64(cell) => Arc::new(UInt64Array::from_iter_values(rows.map(cell))),
            Cells::MaybeU64(cell) => Arc::new(rows.map(cell).collect::<UInt64Array>()),
            Cells::Flag(cell) => Arc::new(rows.map(|row| Some(cell(row))).collect::<BooleanArray>()),
            Cells::Text(cell) => {
                let texts = rows.map(|row| Some(cell(row)).filter(|text| !text.is_empty()));
                Arc::new(texts.collect::<StringArray>())
            }
        }
    }
}

/// A field that says what it means.
pub fn described(name: &str, data_type: DataType, nullable: bool, unit: &str, meaning: &str) -> Field {
    let mut metadata = HashMap::from([(MEANING.to_owned(), meaning.to_owned())]);
    if !unit.is_empty() {
        metadata.insert(UNIT.to_owned(), unit.to_owned());
    }
    Field::new(name, data_type, nullable).with_metadata(metadata)
}

/// The schema of a table of these columns.
pub fn schema<R>(columns: &[Column<R>]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()))
}

/// The chosen columns of the rows.
pub fn batch<R>(columns: &[Column<R>], chosen: &[usize], rows: &[R]) -> RecordBatch {
    let fields: Vec<Field> = chosen.iter().map(|index| columns[*index].field()).collect();
    let arrays = chosen.iter().map(|index| columns[*index].array(rows)).collect();
    record_batch(Arc::new(Schema::new(fields)), arrays, rows.len())
}

/// A batch of so many rows, perhaps without columns.
pub fn record_batch(schema: SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> RecordBatch {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, arrays, &options).expect("columns are as their schema says")
}
