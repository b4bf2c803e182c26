//! Tables: Arrow record batches with titles and units.

mod aside;
mod builder;
mod column;
mod unit;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use serde::{Deserialize, Serialize};

pub use builder::{top_title, Heading, Quotient, TableBuilder, Whole};
pub(crate) use column::CellType;
pub use column::{Column, Value};
pub use unit::Unit;

/// Metadata of a field.
const TITLE: &str = "title";
const UNIT: &str = "unit";
const ASIDE: &str = "aside";
const BOOKKEEPING: &str = "bookkeeping";

/// How a table is best shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// A table without its cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableHead {
    name: String,
    title: String,
    layout: Layout,
    total_rows: Option<usize>,
    ranked_by: Option<String>,
}

impl Table {
    pub(crate) fn of(head: TableHead, batch: RecordBatch) -> Table {
        Table {
            name: head.name,
            title: head.title,
            layout: head.layout,
            total_rows: head.total_rows,
            ranked_by: head.ranked_by,
            batch,
        }
    }

    pub(crate) fn head(&self) -> TableHead {
        TableHead {
            name: self.name.clone(),
            title: self.title.clone(),
            layout: self.layout,
            total_rows: self.total_rows,
            ranked_by: self.ranked_by.clone(),
        }
    }

    /// Name for programs: lower case, no spaces.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same table under another title.
    pub fn titled(self, title: impl Into<String>) -> Table {
        Table {
            title: title.into(),
            ..self
        }
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

    /// The same table with no more than its first rows.
    #[must_use]
    pub fn first_rows(&self, most: usize) -> Table {
        Table {
            batch: self.batch.slice(0, most.min(self.row_count())),
            ..self.clone()
        }
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

    /// The text in the column of that name, if it is one.
    pub fn text(&self, column: &str, row: usize) -> Option<&str> {
        self.column(column)?.text(row)
    }

    /// The whole number in the column of that name, if it is one.
    pub fn integer(&self, column: &str, row: usize) -> Option<u64> {
        self.column(column)?.integer(row)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two rows with every unit, one of them without source and with a share of nothing.
    pub fn sample() -> Table {
        let rows = [("arc.ident", 123, 4_567_890, 3, 4), ("node, \"x\"", 7, 12, 0, 0)];
        TableBuilder::new("fields", "Fields", &rows)
            .text("field", |row| row.0)
            .number("line", |row| row.1)
            .count("accesses", |row| row.2)
            .share(("share", "share of misses"), |row| (row.3, row.4))
            .source("source", |row| {
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
}
