//! Tables: Arrow record batches with titles and units.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};

const TITLE: &str = "title";
const UNIT: &str = "unit";

/// What the numbers or texts of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A name or another text for people.
    Text,
    /// A path of a file: its end says most.
    Path,
    /// A line of source code.
    Source,
    /// A number that counts things.
    Count,
    /// A number of bytes.
    Bytes,
    /// A number that identifies: a line, a stream, a level.
    Number,
    /// A part of a whole, 0 to 1.
    Share,
    /// A quotient of other kinds.
    Rate,
    /// How much a number grew (positive) or shrank.
    Change,
    /// A number after a change, divided by the same number before it.
    Ratio,
}

impl Unit {
    const ALL: [Unit; 10] = [
        Unit::Text,
        Unit::Path,
        Unit::Source,
        Unit::Count,
        Unit::Bytes,
        Unit::Number,
        Unit::Share,
        Unit::Rate,
        Unit::Change,
        Unit::Ratio,
    ];

    /// The unit's name in the field's metadata and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Text => "text",
            Unit::Path => "path",
            Unit::Source => "source",
            Unit::Count => "count",
            Unit::Bytes => "bytes",
            Unit::Number => "number",
            Unit::Share => "share",
            Unit::Rate => "rate",
            Unit::Change => "change",
            Unit::Ratio => "ratio",
        }
    }

    /// Whether cells are texts.
    pub fn is_text(self) -> bool {
        matches!(self, Unit::Text | Unit::Path | Unit::Source)
    }

    pub(crate) fn from_name(name: &str) -> Option<Unit> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }
}

/// How a table is best shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Many rows below a heading.
    Rows,
    /// One row, shown as a list of titles and values.
    Record,
}

/// A typed table with a machine-readable name.
#[derive(Debug, Clone)]
pub struct Table {
    name: String,
    title: String,
    layout: Layout,
    total_rows: Option<usize>,
    ranked_by: Option<String>,
    batch: RecordBatch,
}

impl Table {
    /// Name for programs: lower case, no spaces.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Title for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The table itself; the fields' metadata hold `title` and `unit`.
    pub fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    pub fn row_count(&self) -> usize {
        self.batch.num_rows()
    }

    /// Rows before the table was cut to the top ones.
    pub fn total_rows(&self) -> usize {
        self.total_rows.unwrap_or(0).max(self.row_count())
    }

    /// The column by which rows are ranked, if it is one.
    pub fn ranked_by(&self) -> Option<&str> {
        self.ranked_by.as_deref()
    }

    pub fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        let schema = self.batch.schema_ref();
        schema
            .fields()
            .iter()
            .zip(self.batch.columns())
            .map(|(field, values)| Column { field, values })
    }

    /// The same table without the texts of that column in some rows.
    pub fn without_texts(&self, name: &str, forgotten: impl Fn(usize) -> bool) -> Table {
        let columns = self
            .columns()
            .map(|column| match column.values.as_string_opt::<i32>() {
                Some(texts) if column.name() == name => {
                    let kept = texts
                        .iter()
                        .enumerate()
                        .map(|(row, text)| text.filter(|_| !forgotten(row)));
                    Arc::new(kept.collect::<StringArray>()) as ArrayRef
                }
                _ => column.values.clone(),
            });
        let batch = RecordBatch::try_new(self.batch.schema(), columns.collect());
        Table {
            batch: batch.expect("columns keep their types and lengths"),
            ..self.clone()
        }
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<Column<'_>> {
        self.columns().find(|column| column.name() == name)
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    field: &'a Field,
    values: &'a ArrayRef,
}

/// One cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Unknown or meaningless, such as a share of nothing.
    None,
    Text(&'a str),
    Integer(u64),
    /// Only changes can be negative.
    Signed(i64),
    Real(f64),
}

/// What the cells of a column are, where they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellType {
    Text,
    Integer,
    Signed,
    Real,
}

impl<'a> Column<'a> {
    pub(crate) fn cell_type(&self) -> CellType {
        match self.values.data_type() {
            DataType::UInt64 => CellType::Integer,
            DataType::Int64 => CellType::Signed,
            DataType::Float64 => CellType::Real,
            _ => CellType::Text,
        }
    }

    /// Name for programs.
    pub fn name(&self) -> &'a str {
        self.field.name()
    }

    /// Title for people.
    pub fn title(&self) -> &'a str {
        self.field
            .metadata()
            .get(TITLE)
            .map_or(self.name(), |title| title)
    }

    pub fn unit(&self) -> Unit {
        self.field
            .metadata()
            .get(UNIT)
            .and_then(|name| Unit::from_name(name))
            .unwrap_or(Unit::Text)
    }

    pub fn row_count(&self) -> usize {
        self.values.len()
    }

    /// The cell of that row.
    pub fn value(&self, row: usize) -> Value<'a> {
        if self.values.is_null(row) {
            return Value::None;
        }
        match self.cell_type() {
            CellType::Integer => Value::Integer(self.values.as_primitive::<UInt64Type>().value(row)),
            CellType::Signed => Value::Signed(self.values.as_primitive::<Int64Type>().value(row)),
            CellType::Real => Value::Real(self.values.as_primitive::<Float64Type>().value(row)),
            CellType::Text => Value::Text(self.values.as_string::<i32>().value(row)),
        }
    }
}

/// Builds a table from a slice with one element per row.
pub struct TableBuilder<'a, R> {
    name: String,
    title: String,
    layout: Layout,
    total_rows: Option<usize>,
    ranked_by: Option<String>,
    rows: &'a [R],
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl<'a, R> TableBuilder<'a, R> {
    pub fn new(name: impl Into<String>, title: impl Into<String>, rows: &'a [R]) -> Self {
        TableBuilder {
            name: name.into(),
            title: title.into(),
            layout: Layout::Rows,
            total_rows: None,
            ranked_by: None,
            rows,
            fields: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// Shows the table as a list of titles and values.
    pub fn as_record(mut self) -> Self {
        self.layout = Layout::Record;
        self
    }

    /// Says that the rows are the top ones of so many.
    pub fn total_rows(mut self, rows: usize) -> Self {
        self.total_rows = Some(rows);
        self
    }

    /// Says which column the rows are ranked by.
    pub fn ranked_by(mut self, column: impl Into<String>) -> Self {
        self.ranked_by = Some(column.into());
        self
    }

    /// Adds a column of texts.
    pub fn text<S: AsRef<str>>(self, name: &str, title: &str, value: impl Fn(&R) -> S) -> Self {
        self.texts(name, title, Unit::Text, |row| Some(value(row)))
    }

    /// Adds a column of paths.
    pub fn path<S: AsRef<str>>(self, name: &str, title: &str, value: impl Fn(&R) -> S) -> Self {
        self.texts(name, title, Unit::Path, |row| Some(value(row)))
    }

    /// Adds a column of source lines; none where the source can't be read.
    pub fn source<S: AsRef<str>>(self, name: &str, title: &str, value: impl Fn(&R) -> Option<S>) -> Self {
        self.texts(name, title, Unit::Source, value)
    }

    pub(crate) fn texts<S: AsRef<str>>(
        self,
        name: &str,
        title: &str,
        unit: Unit,
        value: impl Fn(&R) -> Option<S>,
    ) -> Self {
        let values: StringArray = self.rows.iter().map(value).collect();
        self.column(name, title, unit, Arc::new(values))
    }

    /// Adds a column of whole numbers.
    pub fn integer(self, name: &str, title: &str, unit: Unit, value: impl Fn(&R) -> u64) -> Self {
        self.optional_integer(name, title, unit, |row| Some(value(row)))
    }

    /// Adds a column of whole numbers of which some may be unknown.
    pub fn optional_integer(
        self,
        name: &str,
        title: &str,
        unit: Unit,
        value: impl Fn(&R) -> Option<u64>,
    ) -> Self {
        let values: UInt64Array = self.rows.iter().map(value).collect();
        self.column(name, title, unit, Arc::new(values))
    }

    /// Adds a column of shares: `value` gives part and whole; a share of 0 is unknown.
    pub fn share(self, name: &str, title: &str, value: impl Fn(&R) -> (u64, u64)) -> Self {
        let share = |(part, whole): (u64, u64)| (whole > 0).then(|| part as f64 / whole as f64);
        let values: Float64Array = self.rows.iter().map(|row| share(value(row))).collect();
        self.column(name, title, Unit::Share, Arc::new(values))
    }

    /// Adds a column of quotients: `value` gives dividend and divisor; one by 0 is unknown.
    pub fn rate(self, name: &str, title: &str, value: impl Fn(&R) -> (f64, u64)) -> Self {
        let rate = |(dividend, divisor): (f64, u64)| (divisor > 0).then(|| dividend / divisor as f64);
        let values: Float64Array = self.rows.iter().map(|row| rate(value(row))).collect();
        self.column(name, title, Unit::Rate, Arc::new(values))
    }

    /// Adds a column of real numbers of which some may be unknown.
    pub fn optional_real(
        self,
        name: &str,
        title: &str,
        unit: Unit,
        value: impl Fn(&R) -> Option<f64>,
    ) -> Self {
        let values: Float64Array = self.rows.iter().map(value).collect();
        self.column(name, title, unit, Arc::new(values))
    }

    /// Adds a column of changes of whole numbers.
    pub fn change(self, name: &str, title: &str, value: impl Fn(&R) -> Option<i64>) -> Self {
        let values: Int64Array = self.rows.iter().map(value).collect();
        self.column(name, title, Unit::Change, Arc::new(values))
    }

    fn column(mut self, name: &str, title: &str, unit: Unit, values: ArrayRef) -> Self {
        let metadata = HashMap::from([(TITLE.into(), title.into()), (UNIT.into(), unit.name().into())]);
        self.fields
            .push(Field::new(name, values.data_type().clone(), true).with_metadata(metadata));
        self.columns.push(values);
        self
    }

    /// # Panics
    /// If no column was added.
    pub fn build(self) -> Table {
        let schema = Arc::new(Schema::new(self.fields));
        let batch =
            RecordBatch::try_new(schema, self.columns).expect("every column has a value for every row");
        Table {
            name: self.name,
            title: self.title,
            layout: self.layout,
            total_rows: self.total_rows,
            ranked_by: self.ranked_by,
            batch,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two rows with every unit, one of them without source and with a share of nothing.
    pub fn sample() -> Table {
        let rows = [("arc.ident", 123, 4_567_890, 3, 4), ("node, \"x\"", 7, 12, 0, 0)];
        TableBuilder::new("fields", "Fields", &rows)
            .text("field", "field", |row| row.0)
            .integer("line", "line", Unit::Number, |row| row.1)
            .integer("accesses", "accesses", Unit::Count, |row| row.2)
            .share("share", "share of misses", |row| (row.3, row.4))
            .source("source", "source", |row| {
                (row.1 == 123).then_some("if (arc->ident > BASIC)")
            })
            .build()
    }

    #[test]
    fn columns_know_their_title_unit_and_values() {
        let table = sample();
        assert_eq!(table.row_count(), 2);
        let share = table.column("share").unwrap();
        assert_eq!((share.title(), share.unit()), ("share of misses", Unit::Share));
        assert_eq!((share.value(0), share.value(1)), (Value::Real(0.75), Value::None));
        assert_eq!(table.column("field").unwrap().value(0), Value::Text("arc.ident"));
        assert_eq!(
            table.column("accesses").unwrap().value(0),
            Value::Integer(4_567_890)
        );
        assert_eq!(table.column("source").unwrap().value(1), Value::None);
        assert!(table.column("missing").is_none());
    }

    #[test]
    fn texts_can_be_forgotten() {
        let table = sample().without_texts("source", |row| row == 0);
        assert_eq!(table.column("source").unwrap().value(0), Value::None);
        assert_eq!(table.column("field").unwrap().value(0), Value::Text("arc.ident"));
        let other = sample().without_texts("field", |row| row == 1);
        assert_eq!(other.column("field").unwrap().value(0), Value::Text("arc.ident"));
        assert_eq!(other.column("field").unwrap().value(1), Value::None);
    }

    #[test]
    fn every_unit_survives_its_name() {
        for unit in Unit::ALL {
            assert_eq!(Unit::from_name(unit.name()), Some(unit));
        }
    }
}
