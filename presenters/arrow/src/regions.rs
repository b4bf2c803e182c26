//! The table of regions of interest of programs that count: that of the report, with all rows.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use trackway_analysis::regions::{Ranked, Regions};
use trackway_analysis::site_counts::Measure;
use trackway_trace::{file_header, Trace};

use crate::cells::{described, record_batch, UNIT};

/// Schema of the table for a trace without counts.
static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let bytes = file_header([0; 16]).to_vec();
    let empty = Trace::from_bytes(Path::new("empty"), bytes).expect("a file header is a trace");
    all_columns(&empty).schema()
});

pub fn schema() -> SchemaRef {
    SCHEMA.clone()
}

/// The chosen columns.
pub fn batch(trace: &Trace, chosen: &[usize], limit: usize) -> RecordBatch {
    let batch = all_columns(trace);
    let batch = batch.slice(0, batch.num_rows().min(limit));
    let fields: Vec<Field> = chosen
        .iter()
        .map(|index| batch.schema().field(*index).clone())
        .collect();
    let columns = chosen.iter().map(|index| batch.column(*index).clone()).collect();
    record_batch(Arc::new(Schema::new(fields)), columns, batch.num_rows())
}

fn all_columns(trace: &Trace) -> RecordBatch {
    let ranked = Ranked {
        by: Measure::Bytes,
        top: usize::MAX,
    };
    let table = Regions::read(trace).table(trace, "regions", ranked);
    let table = table.expect("every trace has a table of regions");
    let fields: Vec<Field> = table
        .batch()
        .schema()
        .fields()
        .iter()
        .map(|field| renamed(field))
        .collect();
    let (rows, columns) = (table.row_count(), table.batch().columns().to_vec());
    record_batch(Arc::new(Schema::new(fields)), columns, rows)
}

/// Titles are what columns of reports mean.
fn renamed(field: &Field) -> Field {
    let metadata = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
    let unit = metadata(UNIT);
    let unit = match unit.as_str() {
        "text" | "path" | "source" | "number" => "",
        unit => unit,
    };
    described(
        field.name(),
        field.data_type().clone(),
        field.is_nullable(),
        unit,
        &metadata("title"),
    )
}
