//! The tables of a trace in parts, for engines that read them in several processes.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pyo3_arrow::{PyRecordBatch, PySchema};
use trackway_arrow::{partitions, Partition, Relation, Scan, Selection, TraceTables};

use crate::errors::trace_error;

/// The columns of a table.
#[pyfunction]
pub fn table_schema(table: &str) -> PyResult<PySchema> {
    Ok(PySchema::new(relation(table)?.schema()))
}

fn relation(name: &str) -> PyResult<Relation> {
    Relation::named(name).ok_or_else(|| {
        let names: Vec<&str> = Relation::ALL.iter().map(|relation| relation.name()).collect();
        let names = names.join(", ");
        PyValueError::new_err(format!("a trace has no table {name:?}; it has {names}"))
    })
}

/// The wanted rows and columns of a table.
#[pyclass(frozen, module = "trackway")]
pub struct Rows {
    tables: Arc<TraceTables>,
    relation: Relation,
    selection: Selection,
}

#[pymethods]
impl Rows {
    /// `addresses` and `times_ns` are first and last ones.
    #[new]
    fn new(
        py: Python,
        path: PathBuf,
        table: &str,
        columns: Vec<String>,
        threads: Option<Vec<u32>>,
        sites: Option<Vec<u32>>,
        addresses: (u64, u64),
        times_ns: (u64, u64),
    ) -> PyResult<Rows> {
        let relation = relation(table)?;
        let schema = relation.schema();
        let index = |name: &String| {
            schema
                .index_of(name)
                .map_err(|_| PyValueError::new_err(format!("the table {table} has no column {name:?}")))
        };
        let columns: PyResult<Vec<usize>> = columns.iter().map(index).collect();
        let opened = py.detach(|| TraceTables::open(&path));
        let range = |(first, last): (u64, u64)| RangeInclusive::new(first, last);
        Ok(Rows {
            tables: opened.map_err(|error| trace_error(&error))?,
            relation,
            selection: Selection {
                columns: Some(columns?),
                threads,
                sites,
                addresses: range(addresses),
                times_ns: range(times_ns),
                limit: None,
            },
        })
    }

    /// About so many parts, which [`Rows::read`] reads. Chunks that hold no wanted row by their thread and time are in none.
    fn partitions<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let parts = py.detach(|| partitions(&self.tables, self.relation, &self.selection, count));
        let encoded = |part: &Partition| {
            let bytes = serde_json::to_vec(part).map_err(|error| PyValueError::new_err(error.to_string()))?;
            Ok(PyBytes::new(py, &bytes))
        };
        parts.iter().map(encoded).collect()
    }

    /// Of what is read.
    fn schema(&self) -> PySchema {
        let part = Partition::default();
        PySchema::new(
            self.tables
                .scan(self.relation, part, self.selection.clone())
                .schema(),
        )
    }

    /// Which trace it is: `trace` (its identity), `program`, `host` and `build_id`.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let trace = self.tables.trace();
        let meta = trace.meta();
        let identity: String = trace
            .identity()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let about = PyDict::new(py);
        about.set_item("trace", identity)?;
        about.set_item("program", &meta.program)?;
        about.set_item("host", &meta.host)?;
        about.set_item("build_id", py.None())?;
        Ok(about)
    }

    /// Reads a part, batch by batch.
    fn read(&self, part: &[u8]) -> PyResult<RowsRead> {
        let part: Partition = serde_json::from_slice(part)
            .map_err(|error| PyValueError::new_err(format!("this is no part of a table: {error}")))?;
        let scan = self.tables.scan(self.relation, part, self.selection.clone());
        Ok(RowsRead {
            scan: Mutex::new(scan),
        })
    }
}

/// Yields record batches. After an error, which names what could not be read, it goes on behind that.
#[pyclass(frozen, module = "trackway")]
pub struct RowsRead {
    scan: Mutex<Scan>,
}

#[pymethods]
impl RowsRead {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python) -> PyResult<Option<PyRecordBatch>> {
        let next = py.detach(|| self.scan.lock().unwrap_or_else(PoisonError::into_inner).next());
        let batch = next.transpose().map_err(|error| trace_error(&error))?;
        Ok(batch.map(PyRecordBatch::new))
    }
}
