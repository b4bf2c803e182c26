//! Answers to questions.

use pyo3::prelude::*;

use crate::table::{text_style, Table};

/// What an analysis found.
#[pyclass(frozen, module = "trackway", name = "NativeReport")]
pub struct Report {
    report: trackway_report::Report,
}

impl From<trackway_report::Report> for Report {
    fn from(report: trackway_report::Report) -> Report {
        Report { report }
    }
}

#[pymethods]
impl Report {
    #[getter]
    fn answer(&self) -> &str {
        &self.report.answer
    }

    #[getter]
    fn warnings(&self) -> Vec<&str> {
        self.report.warnings.iter().map(String::as_str).collect()
    }

    #[getter]
    fn tables(&self) -> Vec<Table> {
        self.report.tables.iter().cloned().map(Table::new).collect()
    }

    /// As `trackway` prints it to a terminal of that width, or to a file.
    fn text(&self, width: Option<usize>) -> String {
        text_style(width).report(&self.report)
    }
}
