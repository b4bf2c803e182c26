//! An opened trace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;

use crate::errors::trace_error;
use crate::info::TraceInfo;

/// An opened trace; its chunks are read when something needs them.
#[pyclass(frozen, module = "trackway", name = "NativeTrace")]
pub struct Trace {
    trace: Arc<trackway_trace::Trace>,
}

/// Opens a trace and reads all of it but the records.
#[pyfunction]
pub fn open(py: Python, path: PathBuf) -> PyResult<Trace> {
    let opened = py.detach(|| trackway_trace::Trace::open(&path));
    let trace = opened.map_err(|error| trace_error(&error))?;
    Ok(Trace { trace: Arc::new(trace) })
}

impl Trace {
    /// The trace itself.
    pub fn shared(&self) -> Arc<trackway_trace::Trace> {
        self.trace.clone()
    }
}

#[pymethods]
impl Trace {
    #[getter]
    fn path(&self) -> &Path {
        self.trace.path()
    }

    #[getter]
    fn info(&self, py: Python) -> PyResult<TraceInfo> {
        TraceInfo::of(&self.trace, py)
    }
}
