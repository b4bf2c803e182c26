//! Parts of a table.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A part of the work on a table; it can travel to another process that opens the same trace.
#[pyclass(frozen, eq, from_py_object, module = "trackway")]
#[derive(Clone, PartialEq)]
pub struct Partition {
    partition: trackway_arrow::Partition,
}

impl From<trackway_arrow::Partition> for Partition {
    fn from(partition: trackway_arrow::Partition) -> Partition {
        Partition { partition }
    }
}

impl Partition {
    pub fn into_inner(self) -> trackway_arrow::Partition {
        self.partition
    }
}

#[pymethods]
impl Partition {
    /// How many chunks of records are read for it.
    #[getter]
    fn chunks(&self) -> usize {
        self.partition.chunk_count()
    }

    /// As JSON, from which `from_json` makes the same.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.partition).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Partition> {
        let partition = serde_json::from_str(text)
            .map_err(|error| PyValueError::new_err(format!("not a partition: {error}")))?;
        Ok(Partition { partition })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let class = PyType::new::<Partition>(py);
        Ok((class.getattr("from_json")?, (self.to_json()?,)))
    }

    fn __repr__(&self) -> String {
        format!("<trackway partition of {} chunks>", self.chunks())
    }
}
