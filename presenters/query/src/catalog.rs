//! Which tables and columns there are.

use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use trackway_arrow::{Relation, MEANING, UNIT};

use crate::traces::trace_fields;
use crate::TraceSet;

/// A table and its columns.
#[derive(Debug, Clone)]
pub struct TableDescription {
    pub name: &'static str,
    /// What a row of it is.
    pub meaning: &'static str,
    pub columns: Vec<ColumnDescription>,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub struct ColumnDescription {
    pub name: String,
    /// Name of the type in Arrow.
    pub data_type: String,
    /// Empty for names and numbers that identify.
    pub unit: String,
    pub meaning: String,
}

/// The tables of a trace that queries can use. Counts of sites aren't a table of their own: they replace accesses.
pub fn relations() -> impl Iterator<Item = Relation> {
    Relation::ALL
        .iter()
        .copied()
        .filter(|relation| *relation != Relation::SiteCounts)
}

/// The tables that queries of these traces know.
pub fn catalog(set: &TraceSet) -> Vec<TableDescription> {
    let relations = relations().map(|relation| {
        let mut columns = columns(relation.schema_with_served());
        if set.is_collection() {
            columns.extend(trace_fields().iter().map(column));
        }
        TableDescription {
            name: relation.name(),
            meaning: relation.meaning(),
            columns,
        }
    });
    let traces = TableDescription {
        name: "traces",
        meaning: "a trace",
        columns: columns(set.table().schema()),
    };
    relations.chain([traces]).collect()
}

fn columns(schema: SchemaRef) -> Vec<ColumnDescription> {
    schema.fields().iter().map(|field| column(field)).collect()
}

fn column(field: &Field) -> ColumnDescription {
    let metadata = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
    ColumnDescription {
        name: field.name().clone(),
        data_type: match field.data_type() {
            DataType::Dictionary(_, value) => value.to_string(),
            other => other.to_string(),
        },
        unit: metadata(UNIT),
        meaning: metadata(MEANING),
    }
}
