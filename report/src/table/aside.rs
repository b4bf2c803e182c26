//! Columns beside those of a finished table: shares beside counts, source lines beside names.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};

use super::{Column, Table, Unit, Value, ASIDE, BOOKKEEPING, TITLE, UNIT};

impl Table {
    /// The same table with the numbers of a column as shares of `whole`, after that column. In a narrow window it is among
    /// the first to be left out.
    pub fn with_shares_beside(&self, count: &str, name: &str, title: &str, whole: u64) -> Table {
        let Some(column) = self.column(count) else {
            return self.clone();
        };
        let share = |row| match column.value(row) {
            Value::Integer(part) if whole > 0 => Some(part as f64 / whole as f64),
            _ => None,
        };
        let shares: Float64Array = (0..self.row_count()).map(share).collect();
        self.with_aside(count, name, title, Unit::Share, Arc::new(shares))
    }

    /// The same table with lines of source after that column, one for each row. In a narrow window they are the first
    /// to be left out.
    pub fn with_sources_beside(&self, column: &str, lines: &[Option<String>]) -> Table {
        let lines: StringArray = lines.iter().collect();
        self.with_aside(column, "source", "source", Unit::Source, Arc::new(lines))
    }

    /// Adds the column if the table has the column `place`, and no column of the new name yet.
    fn with_aside(&self, place: &str, name: &str, title: &str, unit: Unit, values: ArrayRef) -> Table {
        let schema = self.batch.schema();
        let Ok(position) = schema.index_of(place) else {
            return self.clone();
        };
        if self.column(name).is_some() {
            return self.clone();
        }
        let metadata = [(TITLE, title), (UNIT, unit.name()), (ASIDE, "yes")];
        let metadata: HashMap<String, String> = metadata
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        let mut fields = schema.fields().to_vec();
        let field = Field::new(name, values.data_type().clone(), true).with_metadata(metadata);
        fields.insert(position + 1, Arc::new(field));
        let mut columns = self.batch.columns().to_vec();
        columns.insert(position + 1, values);
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        Table {
            batch: batch.expect("every column has a value for every row"),
            ..self.clone()
        }
    }
}

impl Column<'_> {
    /// Whether it only adds to the column before it.
    pub(crate) fn is_aside(&self) -> bool {
        self.field.metadata().contains_key(ASIDE)
    }

    /// Whether it says what the numbers of others rest on.
    pub(crate) fn is_bookkeeping(&self) -> bool {
        self.field.metadata().contains_key(BOOKKEEPING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample;

    #[test]
    fn shares_stand_behind_their_counts() {
        let table = sample().with_shares_beside("accesses", "access_share", "of all", 4_567_902);
        let names: Vec<&str> = table.columns().map(|column| column.name()).collect();
        assert_eq!(
            names,
            ["field", "line", "accesses", "access_share", "share", "source"]
        );
        let share = table.column("access_share").unwrap();
        assert_eq!(
            (share.title(), share.unit(), share.is_aside()),
            ("of all", Unit::Share, true)
        );
        assert_eq!(share.value(1), Value::Real(12.0 / 4_567_902.0));
        let nothing = sample().with_shares_beside("accesses", "access_share", "of all", 0);
        assert_eq!(nothing.column("access_share").unwrap().value(0), Value::None);
        assert_eq!(table.title(), sample().title());
    }

    #[test]
    fn what_is_missing_or_there_already_changes_nothing() {
        let columns = |table: &Table| table.columns().count();
        let before = columns(&sample());
        assert_eq!(
            columns(&sample().with_shares_beside("missing", "x", "x", 1)),
            before
        );
        let lines = [Some("a".to_owned()), None];
        assert_eq!(columns(&sample().with_sources_beside("field", &lines)), before);
    }

    #[test]
    fn sources_stand_beside_names() {
        let lines = [Some("a = b;".to_owned()), None];
        let table = sample().without_texts("source", |_| true);
        let table = Table {
            batch: table.batch.project(&[0, 2]).unwrap(),
            ..table
        };
        let table = table.with_sources_beside("field", &lines);
        let source = table.columns().nth(1).unwrap();
        assert_eq!((source.name(), source.unit()), ("source", Unit::Source));
        assert_eq!(
            (source.value(0), source.value(1)),
            (Value::Text("a = b;"), Value::None)
        );
    }
}
