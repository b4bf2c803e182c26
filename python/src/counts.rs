//! Accesses and bytes by site, in ranges of chunks.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::filter::filter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::{PyRecordBatch, PySchema};
use trackway_analysis::misses::{count_chunks, SiteCounters};
use trackway_analysis::partial::ranges;
use trackway_arrow::{Partition, Relation, Selection, TraceTables};

use crate::errors::trace_error;

/// Counts the accesses of a trace.
#[pyclass(frozen, module = "trackway")]
pub struct Counting {
    tables: Arc<TraceTables>,
    /// Which columns, by their names.
    by: Vec<String>,
}

/// What accesses can be counted by: the columns of the table of sites, and `thread`; then what is counted.
#[pyfunction]
pub fn counted_columns() -> PySchema {
    let sites = Relation::Sites.schema();
    let named = sites.fields().iter().map(|field| field.as_ref().clone());
    let fields: Vec<Field> = named.chain([THREAD, "accesses", "bytes"].map(number)).collect();
    PySchema::new(Arc::new(Schema::new(fields)))
}

const THREAD: &str = "thread";

fn number(name: &str) -> Field {
    Field::new(name, DataType::Int64, false)
}

#[pymethods]
impl Counting {
    #[new]
    fn new(py: Python, path: PathBuf, by: Vec<String>) -> PyResult<Counting> {
        let sites = Relation::Sites.schema();
        let known = |name: &String| name == THREAD || sites.index_of(name).is_ok();
        if let Some(unknown) = by.iter().find(|name| !known(name)) {
            return Err(PyValueError::new_err(format!("accesses can't be counted by {unknown:?}")));
        }
        let tables = py.detach(|| TraceTables::open(&path));
        let tables = tables.map_err(|error| trace_error(&error))?;
        Ok(Counting { tables, by })
    }

    /// Stream, first and end of about so many ranges of chunks.
    fn ranges(&self, count: usize) -> Vec<(u32, u64, u64)> {
        let count = NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN);
        let ranges = ranges(self.tables.trace(), count);
        ranges.map(|(stream, range)| (stream, range.start, range.end)).collect()
    }

    /// Accesses and bytes of each site that a range of chunks has, with the columns by which they are counted.
    fn count(&self, py: Python, stream: u32, first: usize, end: usize) -> PyResult<PyRecordBatch> {
        let found = self.tables.trace().stream(stream);
        let chunks = found.and_then(|found| found.chunks.get(first..end));
        let chunks = chunks.ok_or_else(|| {
            PyValueError::new_err(format!("stream {stream} has no chunks {first} to {end}"))
        })?;
        let counters = py.detach(|| count_chunks(self.tables.trace(), chunks));
        let counters = counters.map_err(|error| trace_error(&error))?;
        let batch = self.batch(stream, &counters);
        Ok(PyRecordBatch::new(batch.map_err(PyValueError::new_err)?))
    }
}

impl Counting {
    fn batch(&self, stream: u32, counters: &[SiteCounters]) -> Result<RecordBatch, String> {
        let used = |counters: &&SiteCounters| counters.accesses > 0;
        let rows = counters.iter().filter(used).count();
        let mask: BooleanArray = counters.iter().map(|counters| Some(counters.accesses > 0)).collect();
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for name in &self.by {
            let (field, column) = match name.as_str() {
                THREAD => (number(THREAD), numbers(vec![u64::from(stream); rows])),
                name => self.site_column(name, &mask)?,
            };
            fields.push(field);
            columns.push(column);
        }
        fields.extend(["accesses", "bytes"].map(number));
        columns.push(numbers(counters.iter().filter(used).map(|counters| counters.accesses)));
        columns.push(numbers(counters.iter().filter(used).map(|counters| counters.bytes)));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|error| error.to_string())
    }

    fn site_column(&self, name: &str, mask: &BooleanArray) -> Result<(Field, ArrayRef), String> {
        let schema = Relation::Sites.schema();
        let index = schema.index_of(name).map_err(|error| error.to_string())?;
        let selection = Selection {
            columns: Some(vec![index]),
            ..Selection::default()
        };
        let mut scan = self.tables.scan(Relation::Sites, Partition::default(), selection);
        let batch = scan.next().ok_or("the table of sites is missing")?;
        let batch = batch.map_err(|error| error.to_string())?;
        let column = filter(batch.column(0), mask).map_err(|error| error.to_string())?;
        Ok((schema.field(index).clone(), column))
    }
}

/// Counts beyond 2^63 stay there.
fn numbers(counts: impl IntoIterator<Item = u64>) -> ArrayRef {
    let numbers = counts.into_iter().map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    Arc::new(Int64Array::from_iter_values(numbers))
}
