//! Makes tables.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{Field, Schema};

use super::{Layout, Table, Unit, TITLE, UNIT};

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
