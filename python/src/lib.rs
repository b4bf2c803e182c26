//! The native part of the Python package `trackway`; `trackway/__init__.py` is what users import.

mod errors;
mod info;
mod trace;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::info::{GapInfo, TraceInfo};
    #[pymodule_export]
    use super::trace::{open, Trace};
}
