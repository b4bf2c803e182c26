//! Errors as Python's exceptions, which `trackway/errors.py` defines.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use trackway_answers::failure::Failure;
use trackway_trace::TraceError;

/// `trackway.TraceError` with its file, offset and remedy.
pub fn trace_error(error: &TraceError) -> PyErr {
    let parts = Parts {
        file: error.file().map(|file| file.display().to_string()),
        offset: error.offset(),
        remedy: error.remedy(),
    };
    raised("TraceError", &error.to_string(), parts)
}

/// The same for a trace, `trackway.QuestionError` for a question that can't be answered.
pub fn failure(failure: &Failure) -> PyErr {
    match failure {
        Failure::Trace(error) => trace_error(error),
        other => raised("QuestionError", &other.to_string(), Parts::default()),
    }
}

#[derive(Default)]
struct Parts {
    file: Option<String>,
    offset: Option<u64>,
    remedy: Option<String>,
}

fn raised(class: &str, message: &str, parts: Parts) -> PyErr {
    let raise = |py: Python| {
        let named = PyDict::new(py);
        named.set_item("file", parts.file)?;
        named.set_item("offset", parts.offset)?;
        named.set_item("remedy", parts.remedy)?;
        let class = py.import("trackway.errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call((message,), Some(&named))?))
    };
    Python::attach(|py| raise(py).unwrap_or_else(|failed: PyErr| failed))
}
