//! What a question is.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::divided::Divided;
use crate::failure::Failure;
use crate::reading::ReadingArguments;
use crate::slice::SliceRequest;

/// The options of a command that asks a trace something.
pub trait Question: Args {
    /// What the trace says. It has nothing but [`Question::slice`].
    ///
    /// # Errors
    /// If the trace doesn't hold what the question is about, or an option doesn't fit it.
    fn answer(&self, trace: &Trace) -> Result<Report, Failure>;

    /// The same, with a part of the work done by other processes; `about` is the question in words.
    ///
    /// # Errors
    /// Like those of [`Question::answer`], or if the work can't be divided.
    fn divided(&self, trace: Arc<Trace>, about: String) -> Result<Arc<dyn Divided>, Failure> {
        let _ = (trace, about);
        Err(Failure::new(
            "the work of this analysis can't be divided between processes",
        ))
    }

    /// Where source files are searched, beside the places that the trace names.
    fn source_root(&self) -> Option<&Path> {
        None
    }

    /// What of the trace is asked about.
    fn slice(&self) -> SliceRequest {
        SliceRequest::default()
    }

    /// How the trace is read, if all of it is.
    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        None
    }
}
