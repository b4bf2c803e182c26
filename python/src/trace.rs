//! An opened trace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use trackway_arrow::TraceTables;

use crate::errors::trace_error;
use crate::info::TraceInfo;

/// An opened trace; its chunks are read when something needs them.
#[pyclass(frozen, module = "trackway", name = "NativeTrace")]
pub struct Trace {
    tables: Arc<TraceTables>,
}

/// Opens a trace and reads all of it but the records.
#[pyfunction]
pub fn open(py: Python, path: PathBuf) -> PyResult<Trace> {
    let opened = py.detach(|| TraceTables::open(&path));
    let tables = opened.map_err(|error| trace_error(&error))?;
    Ok(Trace { tables })
}

impl Trace {
    /// The trace with what its tables share.
    pub fn tables(&self) -> &Arc<TraceTables> {
        &self.tables
    }
}

#[pymethods]
impl Trace {
    #[getter]
    fn path(&self) -> &Path {
        self.tables.trace().path()
    }

    #[getter]
    fn info(&self, py: Python) -> PyResult<TraceInfo> {
        TraceInfo::of(self.tables.trace(), py)
    }
}
