//! Tables of answers, as Arrow and as rows.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule, ArrayIterator};
use trackway_report::{TextStyle, Value};

/// A table that an analysis yields.
#[pyclass(frozen, module = "trackway", name = "NativeTable")]
pub struct Table {
    table: trackway_report::Table,
    /// With name and title of the table, beside titles and units of the columns.
    batch: RecordBatch,
}

impl Table {
    pub fn new(table: trackway_report::Table) -> Table {
        let metadata = HashMap::from([
            ("name".to_owned(), table.name().to_owned()),
            ("title".to_owned(), table.title().to_owned()),
        ]);
        let batch = table.batch().clone();
        let schema = Schema::new_with_metadata(batch.schema().fields().clone(), metadata);
        let batch = RecordBatch::try_new(Arc::new(schema), batch.columns().to_vec());
        Table {
            batch: batch.expect("the same columns with the same fields"),
            table,
        }
    }
}

#[pymethods]
impl Table {
    #[getter]
    fn name(&self) -> &str {
        self.table.name()
    }

    #[getter]
    fn title(&self) -> &str {
        self.table.title()
    }

    #[getter]
    fn total_rows(&self) -> usize {
        self.table.total_rows()
    }

    #[getter]
    fn ranked_by(&self) -> Option<&str> {
        self.table.ranked_by()
    }

    /// Name, title and unit of each column.
    #[getter]
    fn columns(&self) -> Vec<(&str, &str, &'static str)> {
        let columns = self.table.columns();
        columns
            .map(|column| (column.name(), column.title(), column.unit().name()))
            .collect()
    }

    fn __len__(&self) -> usize {
        self.table.row_count()
    }

    /// The rows as dictionaries.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        (0..self.table.row_count()).map(|row| self.row(py, row)).collect()
    }

    /// As `trackway` prints it to a file.
    fn text(&self, style: Option<usize>) -> String {
        text_style(style).table(&self.table)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.batch.schema().as_ref())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyTuple>> {
        let array = StructArray::from(self.batch.clone());
        to_array_pycapsules(py, struct_field(&self.batch.schema()), &array, requested_schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let array: ArrayRef = Arc::new(StructArray::from(self.batch.clone()));
        let field = struct_field(&self.batch.schema());
        let arrays = ArrayIterator::new(std::iter::once(Ok(array)), field);
        to_stream_pycapsule(py, Box::new(arrays), requested_schema)
    }
}

impl Table {
    fn row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyDict>> {
        let cells = PyDict::new(py);
        for column in self.table.columns() {
            let name = column.name();
            match column.value(row) {
                Value::None => cells.set_item(name, py.None())?,
                Value::Text(text) => cells.set_item(name, text)?,
                Value::Integer(number) => cells.set_item(name, number)?,
                Value::Signed(number) => cells.set_item(name, number)?,
                Value::Real(number) => cells.set_item(name, number)?,
            }
        }
        Ok(cells)
    }
}

/// Record batches cross the interface as arrays of structs.
pub fn struct_field(schema: &Schema) -> Arc<Field> {
    let field = Field::new_struct("", schema.fields().clone(), false);
    Arc::new(field.with_metadata(schema.metadata().clone()))
}

/// Style of text with at most so many characters a line, or with lines of any length.
pub fn text_style(width: Option<usize>) -> TextStyle {
    TextStyle {
        width,
        ..TextStyle::PLAIN
    }
}
