//! Makes tables.
//!
//! Hundreds of columns are given as closures, and what is generic is compiled for each: so only calls of them are.

use crate::number::grouped;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::{Field, Schema};

use super::{Layout, Table, Unit, ASIDE, BOOKKEEPING, TITLE, UNIT};

/// What a column is called: its name for programs, and its title for people, which is the name with spaces unless
/// another is given.
pub struct Heading {
    name: String,
    title: String,
}

impl From<&str> for Heading {
    fn from(name: &str) -> Heading {
        Heading::from((name, name.replace('_', " ")))
    }
}

impl<N: Into<String>, T: Into<String>> From<(N, T)> for Heading {
    fn from((name, title): (N, T)) -> Heading {
        Heading {
            name: name.into(),
            title: title.into(),
        }
    }
}

/// The whole number of a cell; none where it is unknown, or negative.
pub trait Whole {
    fn whole(self) -> Option<u64>;
}

macro_rules! whole_numbers {
    ($($number:ty)*) => {
        $(impl Whole for $number {
            fn whole(self) -> Option<u64> {
                u64::try_from(self).ok()
            }
        })*
    };
}

whole_numbers! { u8 u16 u32 u64 usize i32 }

impl<V: Whole> Whole for Option<V> {
    fn whole(self) -> Option<u64> {
        self.and_then(Whole::whole)
    }
}

/// The real number of a cell: dividend and divisor, where one by 0 is unknown, or the number; none where it is unknown.
pub trait Quotient {
    fn quotient(self) -> Option<f64>;
}

impl Quotient for (u64, u64) {
    fn quotient(self) -> Option<f64> {
        (self.0 as f64, self.1).quotient()
    }
}

impl Quotient for (f64, u64) {
    fn quotient(self) -> Option<f64> {
        (self.1 > 0).then(|| self.0 / self.1 as f64)
    }
}

impl Quotient for Option<f64> {
    fn quotient(self) -> Option<f64> {
        self
    }
}

/// A title that says how many rows there are, where not all are shown.
pub fn top_title(title: impl Into<String>, shown: usize, all: usize) -> String {
    match shown < all {
        true => format!(
            "{}, {} of {}",
            title.into(),
            grouped(shown as u64),
            grouped(all as u64)
        ),
        false => title.into(),
    }
}

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
    is_bookkeeping: bool,
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
            is_bookkeeping: false,
            fields: Vec::new(),
            columns: Vec::new(),
        };
        TableBuilder { rows, table }
    }

    /// A table of no more than the first `most` rows, whose title says so.
    pub fn top(name: impl Into<String>, title: impl Into<String>, rows: &'a [R], most: usize) -> Self {
        let shown = &rows[..rows.len().min(most)];
        TableBuilder::new(name, top_title(title, shown.len(), rows.len()), shown)
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

    /// Says that the columns from here on tell what the numbers rest on. People see them if they ask for that.
    pub fn bookkeeping(mut self) -> Self {
        self.table.is_bookkeeping = true;
        self
    }

    /// Says that the last column only adds to others: in a narrow window it is among the first to be left out.
    pub fn aside(mut self) -> Self {
        self.table.mark_last(ASIDE);
        self
    }

    /// Adds a column of texts.
    pub fn text<S: AsRef<str>>(self, heading: impl Into<Heading>, value: impl Fn(&R) -> S) -> Self {
        self.texts(heading, Unit::Text, |row| Some(value(row)))
    }

    /// Adds a column of paths.
    pub fn path<S: AsRef<str>>(self, heading: impl Into<Heading>, value: impl Fn(&R) -> S) -> Self {
        self.texts(heading, Unit::Path, |row| Some(value(row)))
    }

    /// Adds a column of source lines; none where the source can't be read.
    pub fn source<S: AsRef<str>>(self, heading: impl Into<Heading>, value: impl Fn(&R) -> Option<S>) -> Self {
        self.texts(heading, Unit::Source, value)
    }

    /// Adds a column that says yes or no.
    pub fn yes_or_no(self, heading: impl Into<Heading>, value: impl Fn(&R) -> bool) -> Self {
        self.text(heading, |row| if value(row) { "yes" } else { "no" })
    }

    pub(crate) fn texts<S: AsRef<str>>(
        self,
        heading: impl Into<Heading>,
        unit: Unit,
        value: impl Fn(&R) -> Option<S>,
    ) -> Self {
        let mut values = StringBuilder::new();
        for row in self.rows {
            let text = value(row);
            append(&mut values, text.as_ref().map(S::as_ref));
        }
        self.column(heading.into(), unit, Arc::new(values.finish()))
    }

    /// Adds a column of numbers that count things.
    pub fn count<V: Whole>(self, heading: impl Into<Heading>, value: impl Fn(&R) -> V) -> Self {
        self.whole(heading, Unit::Count, value)
    }

    /// Adds a column of numbers of bytes.
    pub fn bytes<V: Whole>(self, heading: impl Into<Heading>, value: impl Fn(&R) -> V) -> Self {
        self.whole(heading, Unit::Bytes, value)
    }

    /// Adds a column of numbers that identify.
    pub fn number<V: Whole>(self, heading: impl Into<Heading>, value: impl Fn(&R) -> V) -> Self {
        self.whole(heading, Unit::Number, value)
    }

    /// Adds a column of whole numbers.
    pub fn whole<V: Whole>(self, heading: impl Into<Heading>, unit: Unit, value: impl Fn(&R) -> V) -> Self {
        let values = integers(self.rows.len(), &|row| value(&self.rows[row]).whole());
        self.column(heading.into(), unit, values)
    }

    /// Adds a column of shares, parts of wholes.
    pub fn share<V: Quotient>(self, heading: impl Into<Heading>, value: impl Fn(&R) -> V) -> Self {
        self.real(heading, Unit::Share, value)
    }

    /// Adds a column of quotients of other kinds.
    pub fn rate<V: Quotient>(self, heading: impl Into<Heading>, value: impl Fn(&R) -> V) -> Self {
        self.real(heading, Unit::Rate, value)
    }

    /// Adds a column of factors.
    pub fn ratio<V: Quotient>(self, heading: impl Into<Heading>, value: impl Fn(&R) -> V) -> Self {
        self.real(heading, Unit::Ratio, value)
    }

    /// Adds a column of real numbers.
    pub fn real<V: Quotient>(self, heading: impl Into<Heading>, unit: Unit, value: impl Fn(&R) -> V) -> Self {
        let values = reals(self.rows.len(), &|row| value(&self.rows[row]).quotient());
        self.column(heading.into(), unit, values)
    }

    /// Adds a column of changes of whole numbers.
    pub fn change(self, heading: impl Into<Heading>, value: impl Fn(&R) -> Option<i64>) -> Self {
        let values = changes(self.rows.len(), &|row| value(&self.rows[row]));
        self.column(heading.into(), Unit::Change, values)
    }

    fn column(mut self, heading: Heading, unit: Unit, values: ArrayRef) -> Self {
        self.table.add(heading, unit, values);
        self
    }

    /// # Panics
    /// If no column was added.
    pub fn build(self) -> Table {
        self.table.finish()
    }
}

impl Unfinished {
    fn add(&mut self, Heading { name, title }: Heading, unit: Unit, values: ArrayRef) {
        let metadata = HashMap::from([(TITLE.into(), title), (UNIT.into(), unit.name().into())]);
        self.fields
            .push(Field::new(name, values.data_type().clone(), true).with_metadata(metadata));
        self.columns.push(values);
        if self.is_bookkeeping {
            self.mark_last(BOOKKEEPING);
        }
    }

    fn mark_last(&mut self, mark: &str) {
        if let Some(field) = self.fields.last_mut() {
            let mut metadata = field.metadata().clone();
            metadata.insert(mark.to_owned(), "yes".to_owned());
            field.set_metadata(metadata);
        }
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
