//! The part of a large trace that is looked at where all of it would take long.

use trackway_report::{binary_size, percent, Table, TableBuilder};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::slice::Middle;

/// What is looked at.
pub struct Look {
    /// None if it is all of the trace, or of its slice.
    part: Option<Trace>,
    words: String,
}

impl Look {
    /// A part in the middle of the run, as large as `bytes` of the trace; a slice is looked at as it is.
    ///
    /// # Errors
    /// If the trace can't be read once more, or its middle holds nothing.
    pub fn at(trace: &Trace, bytes: u64) -> Result<Look, Failure> {
        let middle = match trace.slice() {
            Some(_) => None,
            None => Middle::of(trace, bytes),
        };
        let Some(middle) = middle else {
            let words = match trace.slice() {
                Some(_) => "the slice that this page is about",
                None => "the whole run",
            };
            return Ok(Look {
                part: None,
                words: words.into(),
            });
        };
        Ok(Look {
            part: Some(middle.request().apply(trace.again()?)?),
            words: format!(
                "{} of the run’s time, in the middle of its records (--look {})",
                percent(middle.share()),
                binary_size(bytes)
            ),
        })
    }

    pub fn trace<'t>(&'t self, whole: &'t Trace) -> &'t Trace {
        self.part.as_ref().unwrap_or(whole)
    }

    /// What was looked at, in words.
    pub fn table(&self) -> Table {
        TableBuilder::new("looked_at", "What was looked at", &[()])
            .text("part", |()| &self.words)
            .as_record()
            .build()
    }
}
