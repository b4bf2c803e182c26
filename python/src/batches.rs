//! Rows of a trace's tables, batch by batch.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{to_schema_pycapsule, to_stream_pycapsule, ArrayIterator};
use pyo3_arrow::{PyRecordBatch, PySchema, PyTable};
use trackway_arrow::Scan;
use trackway_trace::TraceError;

use crate::errors::trace_error;
use crate::table::struct_field;

/// What could not be read, so far.
type Damage = Arc<Mutex<Vec<String>>>;

/// A stream of record batches that is read once, here or by whom it is handed over to.
#[pyclass(frozen, module = "trackway", name = "NativeBatches")]
pub struct Batches {
    schema: SchemaRef,
    /// None when it has been handed over.
    reading: Mutex<Option<Reading>>,
    damage: Damage,
}

struct Reading {
    scan: Scan,
    damage: Damage,
    /// Whether damaged chunks are left out; else they are errors.
    skips_damage: bool,
    /// Rows of a batch at most.
    most_rows: usize,
    /// What is left of a batch that has more.
    rest: Option<RecordBatch>,
}

impl Reading {
    /// The first rows of a batch; the others are kept.
    fn first_rows(&mut self, batch: RecordBatch) -> RecordBatch {
        let left = batch.num_rows().saturating_sub(self.most_rows);
        if left == 0 {
            return batch;
        }
        self.rest = Some(batch.slice(self.most_rows, left));
        batch.slice(0, self.most_rows)
    }
}

impl Iterator for Reading {
    type Item = Result<RecordBatch, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(rest) = self.rest.take() {
            return Some(Ok(self.first_rows(rest)));
        }
        loop {
            match self.scan.next()? {
                Err(error) if self.skips_damage => locked(&self.damage).push(error.to_string()),
                read => return Some(read.map(|batch| self.first_rows(batch))),
            }
        }
    }
}

impl Batches {
    /// Makes batches of at most so many rows each.
    pub fn new(scan: Scan, most_rows: Option<usize>, skips_damage: bool) -> Batches {
        let scan = match most_rows {
            Some(rows) => scan.with_batch_rows(rows),
            None => scan,
        };
        let damage = Damage::default();
        Batches {
            schema: scan.schema(),
            damage: damage.clone(),
            reading: Mutex::new(Some(Reading {
                scan,
                damage,
                skips_damage,
                most_rows: most_rows.map_or(usize::MAX, |rows| rows.max(1)),
                rest: None,
            })),
        }
    }
}

#[pymethods]
impl Batches {
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PySchema::new(self.schema.clone()).into_arro3(py)
    }

    /// A sentence for each part that was left out.
    #[getter]
    fn damage(&self) -> Vec<String> {
        locked(&self.damage).clone()
    }

    fn __iter__(this: PyRef<Self>) -> PyRef<Self> {
        this
    }

    /// The next batch, which is decoded while other threads of Python run.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let next = py.detach(|| locked(&self.reading).as_mut().map(Iterator::next));
        match next.ok_or_else(handed_over)? {
            None => Ok(None),
            Some(Ok(batch)) => PyRecordBatch::new(batch).into_arro3(py).map(Some),
            Some(Err(error)) => Err(trace_error(&error)),
        }
    }

    /// All that is left, as a table.
    fn read_all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let reading = self.take()?;
        let mut batches = Vec::new();
        let mut reading = reading.into_iter();
        while let Some(read) = py.detach(|| reading.next()) {
            batches.push(read.map_err(|error| trace_error(&error))?);
            py.check_signals()?;
        }
        PyTable::try_new(batches, self.schema.clone())?.into_arro3(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.schema.as_ref())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let arrays = self.take()?.map(|read| match read {
            Ok(batch) => Ok(Arc::new(StructArray::from(batch)) as ArrayRef),
            Err(error) => Err(ArrowError::ExternalError(Box::new(error))),
        });
        let arrays = ArrayIterator::new(arrays, struct_field(&self.schema));
        to_stream_pycapsule(py, Box::new(arrays), requested_schema)
    }
}

impl Batches {
    fn take(&self) -> PyResult<Reading> {
        locked(&self.reading).take().ok_or_else(handed_over)
    }
}

fn handed_over() -> PyErr {
    PyValueError::new_err("these batches have been read, or handed over; ask the trace for them again")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
