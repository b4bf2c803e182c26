//! Errors as Python's exceptions, which `trackway/errors.py` defines.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use trackway_trace::TraceError;

/// `trackway.TraceError` with its file, offset and remedy.
pub fn trace_error(error: &TraceError) -> PyErr {
    let raise = |py: Python| {
        let named = PyDict::new(py);
        named.set_item("file", error.file().map(|file| file.display().to_string()))?;
        named.set_item("offset", error.offset())?;
        named.set_item("remedy", error.remedy())?;
        let class = py.import("trackway.errors")?.getattr("TraceError")?;
        Ok(PyErr::from_value(class.call((error.to_string(),), Some(&named))?))
    };
    Python::attach(|py| raise(py).unwrap_or_else(|failed: PyErr| failed))
}
