//! Answers that are kept, so that the same question about the same trace is answered at once.
//!
//! The one way from a verb to its answer leads through here. A kept answer counts only if nothing has changed that it
//! rests on: the program, the options, the trace, and the source files that it quotes. Whatever is wrong with the folder
//! or an entry, the question is answered anew; a verb never fails because of it.

mod bytes;
mod command;
mod entry;
mod file_state;
mod folder;
mod premises;

use std::fmt::Debug;
use std::path::Path;

use clap::Args;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::question::Question;
use crate::slice::SliceRequest;
pub use command::{run, KeptArguments};
use folder::Folder;
use premises::Premises;

/// Set to anything but nothing and 0, it has the effect of `--fresh` on all verbs.
pub const FRESH: &str = "TRACKWAY_FRESH";

/// Whether answers are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct KeepingArguments {
    /// Read the trace though the answer may be known from an earlier time, and keep no answer. `trackway answers` lists
    /// those that are kept
    #[arg(long)]
    pub fresh: bool,
}

/// A question that may have been answered before.
pub struct Asked<'q> {
    /// The verb.
    pub verb: &'q str,
    /// All options that the answer depends on.
    pub options: String,
    pub trace: &'q Path,
    /// Where source files are searched, beside the places that the trace names.
    pub source_root: Option<&'q Path>,
    /// What of the trace is asked about; it must follow from the options.
    pub slice: SliceRequest,
}

/// Asks a trace, unless the answer is kept.
///
/// # Errors
/// If the trace can't be opened or can't answer.
pub fn ask<Q: Question + Debug>(
    verb: &str,
    question: &Q,
    trace: &Path,
    keeping: &KeepingArguments,
) -> Result<Report, Failure> {
    let asked = Asked {
        verb,
        options: format!("{question:?}"),
        trace,
        source_root: question.source_root(),
        slice: question.slice(),
    };
    asked.answer(keeping, |trace| question.answer(trace))
}

/// An answer as it is kept.
pub trait Keepable: Sized {
    /// None if it can't be kept.
    fn to_bytes(&self) -> Option<Vec<u8>>;

    /// None if these are no such bytes.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl Keepable for Report {
    fn to_bytes(&self) -> Option<Vec<u8>> {
        trackway_report::report_to_bytes(self).ok()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Report> {
        trackway_report::report_from_bytes(bytes).ok()
    }
}

impl Keepable for String {
    fn to_bytes(&self) -> Option<Vec<u8>> {
        Some(self.as_bytes().to_vec())
    }

    fn from_bytes(bytes: &[u8]) -> Option<String> {
        String::from_utf8(bytes.to_vec()).ok()
    }
}

impl Asked<'_> {
    /// The kept answer, or that of `answer`, which is kept.
    ///
    /// # Errors
    /// If the trace can't be opened, and those of `answer`.
    pub fn answer<K: Keepable>(
        &self,
        keeping: &KeepingArguments,
        answer: impl FnOnce(&Trace) -> Result<K, Failure>,
    ) -> Result<K, Failure> {
        let folder = match keeping.fresh || is_set(FRESH) {
            true => None,
            false => Folder::of_user(),
        };
        self.answer_from(folder.as_ref(), answer)
    }

    fn answer_from<K: Keepable>(
        &self,
        folder: Option<&Folder>,
        answer: impl FnOnce(&Trace) -> Result<K, Failure>,
    ) -> Result<K, Failure> {
        // They are noted before the trace is read, so that whatever changes meanwhile makes them untrue.
        let premises = folder.and_then(|_| Premises::of(self));
        let place = folder.zip(premises.as_ref());
        if let Some(kept) = place.and_then(|(folder, premises)| folder.find(premises)) {
            if let Some(answer) = K::from_bytes(&kept) {
                return Ok(answer);
            }
        }
        let trace = self.slice.apply(Trace::open(self.trace)?)?;
        let sources = place.map(|_| premises::source_files(&trace, self.source_root));
        let answer = answer(&trace)?;
        if let (Some((folder, premises)), Some(sources)) = (place, sources) {
            if let Some(bytes) = answer.to_bytes() {
                folder.keep(premises, &sources, &bytes);
            }
        }
        Ok(answer)
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

#[cfg(test)]
mod tests;
