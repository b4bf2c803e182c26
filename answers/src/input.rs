//! A trace, or a report that was saved as JSON.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Deref;
use std::path::Path;

use trackway_analysis::cache::Caches;
use trackway_report::{saved_report, Report};
use trackway_trace::Trace;

use crate::comparable::{answer, AnalysisName, Settings};
use crate::failure::Failure;
use crate::model::machine_caches;
use crate::reading::require_accesses;

/// Larger files can't be reports.
const MAX_REPORT_BYTES: u64 = 1 << 30;

/// `T` is a trace that the input owns, or one that is open already.
pub enum Input<T = Box<Trace>> {
    Trace(T),
    Saved(Report),
}

impl Input {
    pub fn open(path: &Path) -> Result<Input, Failure> {
        if !is_json(path) {
            return Ok(Input::Trace(Box::new(Trace::open(path)?)));
        }
        let about = |error: &dyn std::fmt::Display| Failure::about(path, error);
        let length = fs::metadata(path).map_err(|error| about(&error))?.len();
        if length > MAX_REPORT_BYTES {
            return Err(about(&"too large for a saved report"));
        }
        let text = fs::read_to_string(path).map_err(|error| about(&error))?;
        Ok(Input::Saved(saved_report(&text).map_err(|error| about(&error))?))
    }

    /// The same for what budgets are set on. Traces with counts are refused, since they have no such numbers.
    pub fn open_accesses(path: &Path) -> Result<Input, Failure> {
        let input = Input::open(path)?;
        if let Input::Trace(trace) = &input {
            require_accesses(trace)?;
        }
        Ok(input)
    }
}

impl<T: Deref<Target = Trace>> Input<T> {
    /// The caches that a report on this simulates by default, if it is a trace.
    pub fn caches(&self) -> Option<Caches> {
        match self {
            Input::Trace(trace) => Some(machine_caches(trace, &mut Vec::new())),
            Input::Saved(_) => None,
        }
    }

    /// What the analysis finds; a saved report is what it is.
    pub fn report(&self, analysis: AnalysisName, settings: &Settings) -> Result<Report, Failure> {
        match self {
            Input::Trace(trace) => answer(analysis, trace, settings),
            Input::Saved(report) => Ok(report.clone()),
        }
    }
}

/// Traces begin with other bytes.
fn is_json(path: &Path) -> bool {
    let mut first = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read(&mut first));
    let begin = read.map_or(&[][..], |length| &first[..length]);
    begin.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}
