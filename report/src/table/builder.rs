//! Makes tables.
//!
//! Hundreds of columns are given as closures, and what is generic is compiled for each: so only calls of them are.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::{Field, Schema};

use super::{Layout, Table, Unit, TITLE, UNIT};

/// Builds a table from a slice with one element per row.
pub struct TableBuilder<'a, R> {
    rows: &'a [R],
    table: Unfinished,
}

/// The table without its rows.
struct Unfinished {
    name: String,
    title: String,
    layout: Layout,
    total_rows: Option<usize>,
    ranked_by: Option<String>,
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl<'a, R> TableBuilder<'a, R> {
    pub fn new(name: impl Into<String>, title: impl Into<String>, rows: &'a [R]) -> Self {
        let table = Unfinished {
            name: name.into(),
            title: title.into(),
            layout: Layout::Rows,
            total_rows: None,
            ranked_by: None,
            fields: Vec::new(),
            columns: Vec::new(),
        };
        TableBuilder { rows, table }
    }

    /// Shows the table as a list of titles and values.
    pub fn as_record(mut self) -> Self {
        self.table.layout = Layout::Record;
        self
    }

    /// Says that the rows are the top ones of so many.
    pub fn total_rows(mut self, rows: usize) -> Self {
        self.table.total_rows = Some(rows);
        self
    }

    /// Says which column the rows are ranked by.
    pub fn ranked_by(mut self, column: impl Into<String>) -> Self {
        self.table.ranked_by = Some(column.into());
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
        let mut values = StringBuilder::new();
        for row in self.rows {
            let text = value(row);
            append(&mut values, text.as_ref().map(S::as_ref));
        }
        self.column(name, title, unit, Arc::new(values.finish()))
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
        let values = integers(self.rows.len(), &|row| value(&self.rows[row]));
        self.column(name, title, unit, values)
    }

    /// Adds a column of shares: `value` gives part and whole; a share of 0 is unknown.
    pub fn share(self, name: &str, title: &str, value: impl Fn(&R) -> (u64, u64)) -> Self {
        let share = |(part, whole): (u64, u64)| (whole > 0).then(|| part as f64 / whole as f64);
        self.optional_real(name, title, Unit::Share, |row| share(value(row)))
    }

    /// Adds a column of quotients: `value` gives dividend and divisor; one by 0 is unknown.
    pub fn rate(self, name: &str, title: &str, value: impl Fn(&R) -> (f64, u64)) -> Self {
        let rate = |(dividend, divisor): (f64, u64)| (divisor > 0).then(|| dividend / divisor as f64);
        self.optional_real(name, title, Unit::Rate, |row| rate(value(row)))
    }

    /// Adds a column of real numbers of which some may be unknown.
    pub fn optional_real(
        self,
        name: &str,
        title: &str,
        unit: Unit,
        value: impl Fn(&R) -> Option<f64>,
    ) -> Self {
        let values = reals(self.rows.len(), &|row| value(&self.rows[row]));
        self.column(name, title, unit, values)
    }

    /// Adds a column of changes of whole numbers.
    pub fn change(self, name: &str, title: &str, value: impl Fn(&R) -> Option<i64>) -> Self {
        let values = changes(self.rows.len(), &|row| value(&self.rows[row]));
        self.column(name, title, Unit::Change, values)
    }

    fn column(mut self, name: &str, title: &str, unit: Unit, values: ArrayRef) -> Self {
        self.table.add(name, title, unit, values);
        self
    }

    /// # Panics
    /// If no column was added.
    pub fn build(self) -> Table {
        self.table.finish()
    }
}

impl Unfinished {
    fn add(&mut self, name: &str, title: &str, unit: Unit, values: ArrayRef) {
        let metadata = HashMap::from([(TITLE.into(), title.into()), (UNIT.into(), unit.name().into())]);
        self.fields
            .push(Field::new(name, values.data_type().clone(), true).with_metadata(metadata));
        self.columns.push(values);
    }

    fn finish(self) -> Table {
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

fn append(values: &mut StringBuilder, text: Option<&str>) {
    values.append_option(text);
}

fn integers(rows: usize, value: &dyn Fn(usize) -> Option<u64>) -> ArrayRef {
    Arc::new((0..rows).map(value).collect::<UInt64Array>())
}

fn reals(rows: usize, value: &dyn Fn(usize) -> Option<f64>) -> ArrayRef {
    Arc::new((0..rows).map(value).collect::<Float64Array>())
}

fn changes(rows: usize, value: &dyn Fn(usize) -> Option<i64>) -> ArrayRef {
    Arc::new((0..rows).map(value).collect::<Int64Array>())
}
