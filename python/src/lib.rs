//! The native part of the Python package `trackway`; `trackway/__init__.py` is what users import.

mod counts;
mod errors;
mod info;
mod live;
mod rows;
mod trace;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::counts::{counted_columns, Counting};
    #[pymodule_export]
    use super::info::{GapInfo, TraceInfo};
    #[pymodule_export]
    use super::live::LiveTrace;
    #[pymodule_export]
    use super::rows::{table_schema, Rows, RowsRead};
    #[pymodule_export]
    use super::trace::{open, Trace};
}
