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
use crate::progress::record_bytes;
use crate::reading::require_accesses;
use crate::slice::{described_in, SliceRequest};

/// Larger files can't be reports.
const MAX_REPORT_BYTES: u64 = 1 << 30;

/// `T` is a trace that the input owns, or one that is open already.
pub enum Input<T = Box<Trace>> {
    Trace(T),
    Saved(Report),
}

impl Input {
    /// Opens what is asked for of a trace. A saved report can't be cut, so it must be on a slice if one is asked for.
    ///
    /// # Errors
    /// If the file is neither a trace nor a saved report, or doesn't have the slice.
    pub fn open(path: &Path, slice: &SliceRequest) -> Result<Input, Failure> {
        if !is_json(path) {
            return Ok(Input::Trace(Box::new(slice.apply(Trace::open(path)?)?)));
        }
        let about = |error: &dyn std::fmt::Display| Failure::about(path, error);
        let length = fs::metadata(path).map_err(|error| about(&error))?.len();
        if length > MAX_REPORT_BYTES {
            return Err(about(&"too large for a saved report"));
        }
        let text = fs::read_to_string(path).map_err(|error| about(&error))?;
        let report = saved_report(&text).map_err(|error| about(&error))?;
        match slice.is_all() || described_in(&report).is_some() {
            true => Ok(Input::Saved(report)),
            false => Err(about(
                &"a saved report can't be cut to a slice; save it with the same options: `trackway report --from ... --json \
                  --top 0`",
            )),
        }
    }

    /// The same for what budgets are set on. Traces with counts are refused, since they have no such numbers.
    ///
    /// # Errors
    /// Like those of [`Input::open`], or if the trace holds no accesses.
    pub fn open_accesses(path: &Path, slice: &SliceRequest) -> Result<Input, Failure> {
        let input = Input::open(path, &SliceRequest::default())?;
        match input {
            Input::Trace(trace) => {
                require_accesses(&trace)?;
                Ok(Input::Trace(Box::new(slice.apply(*trace)?)))
            }
            Input::Saved(_) => Input::open(path, slice),
        }
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

    /// Bytes that a pass over its records reads; none of a saved report.
    pub fn record_bytes(&self) -> u64 {
        match self {
            Input::Trace(trace) => record_bytes(trace),
            Input::Saved(_) => 0,
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
