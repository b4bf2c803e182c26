//! The page for browsers, as a file.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use pyo3::prelude::*;
use trackway_answers::failure::Failure;
use trackway_answers::questions;
use trackway_view::{write_page, ViewArguments};

use crate::ask::answer_beside;
use crate::errors::failure;
use crate::trace::Trace;

/// Writes the page that `trackway view` writes of the trace, and returns its path.
#[pyfunction]
#[pyo3(signature = (trace, path, words, progress=None))]
pub fn view(
    py: Python,
    trace: &Trace,
    path: Option<PathBuf>,
    words: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PathBuf> {
    let arguments = arguments(trace, path, &words).map_err(|error| failure(&error))?;
    let tables = trace.tables().clone();
    let write = move |following| {
        let mut arguments = arguments;
        arguments.reading.following = following;
        write_page(&arguments, tables.trace(), None)
    };
    answer_beside(py, progress.as_ref(), write)
}

fn arguments(trace: &Trace, path: Option<PathBuf>, words: &[String]) -> Result<ViewArguments, Failure> {
    let output = path.map(|path| {
        let mut word = OsString::from("--output=");
        word.push(path);
        word
    });
    let trace = trace.tables().trace().path().as_os_str();
    let files: Vec<&OsStr> = output
        .iter()
        .map(OsString::as_os_str)
        .chain([OsStr::new("--"), trace])
        .collect();
    questions::options_from("view", words, &files)
}
