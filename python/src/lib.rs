//! The native part of the Python package `trackway`; `trackway/__init__.py` is what users import.

mod ask;
mod batches;
mod divided;
mod errors;
mod info;
mod live;
mod partition;
mod report;
mod scan;
mod table;
mod trace;
mod view;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::ask::{about, ask, check, diff, options, questions};
    #[pymodule_export]
    use super::batches::Batches;
    #[pymodule_export]
    use super::divided::{Divided, Lines, TaskRun};
    #[pymodule_export]
    use super::info::{GapInfo, TraceInfo};
    #[pymodule_export]
    use super::live::{join_layouts, LiveTrace};
    #[pymodule_export]
    use super::partition::Partition;
    #[pymodule_export]
    use super::report::Report;
    #[pymodule_export]
    use super::scan::{columns, divide, scan, tables};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::trace::{open, Trace};
    #[pymodule_export]
    use super::view::view;
}
