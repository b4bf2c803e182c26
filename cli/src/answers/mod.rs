//! Analyses by name: what verbs need that work on the tables of any of them.

mod edited;
mod input;

use std::num::NonZeroUsize;

use clap::ValueEnum;
use trackway_analysis::cache::Caches;
use trackway_analysis::calls::Calls;
use trackway_analysis::misses::{Grouping, Measure};
use trackway_analysis::sharing::Sharing;
use trackway_analysis::slices::Slices;
use trackway_analysis::{run as run_analysis, Analysis};
use trackway_report::Report;
use trackway_trace::Trace;

use crate::arguments::{By, ReportForm};
use crate::failure::Failure;
use crate::processors;
use crate::progress::ReadingProgress;
use crate::report;
use crate::sharing::line_bytes_of_machine;

pub use edited::forget_edited_sources;
pub use input::Input;

/// An analysis whose tables can be compared and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnalysisName {
    /// Accesses, bytes and misses, as `trackway report`
    Report,
    /// Cache lines that threads take from each other, as `trackway sharing`
    Sharing,
    /// What functions cost by the path on which they were called
    Calls,
}

/// How analyses are run.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Tables, as far as the analysis has them; its usual ones if empty.
    pub by: Vec<By>,
    pub rank_by: Option<Measure>,
    /// Those of the machine that recorded if none.
    pub caches: Option<Caches>,
    /// That of the machine that recorded if none.
    pub line_bytes: Option<u64>,
    pub threads: Option<NonZeroUsize>,
    pub quiet: bool,
}

/// What the analysis finds in the trace, with all rows of its tables.
pub fn answer(name: AnalysisName, trace: &Trace, settings: &Settings) -> Result<Report, Failure> {
    match name {
        AnalysisName::Report => misses(trace, settings),
        AnalysisName::Calls => {
            let mut warnings = Vec::new();
            let caches = settings.caches.clone();
            let caches = caches.unwrap_or_else(|| report::machine_caches(trace, &mut warnings));
            let caches = match trace.streams().len() {
                0 | 1 => caches.all_private(),
                _ => caches,
            };
            Ok(run(&Calls::new(caches, usize::MAX), trace, settings, warnings))
        }
        AnalysisName::Sharing => {
            let line_bytes = settings
                .line_bytes
                .unwrap_or_else(|| line_bytes_of_machine(trace));
            let mut sharing = Sharing::new(trace.program(), line_bytes, usize::MAX);
            if !settings.by.is_empty() {
                sharing = sharing.grouped_by(settings.by.iter().copied().map(Grouping::from).collect());
            }
            Ok(run(&sharing, trace, settings, Vec::new()))
        }
    }
}

/// The calls of functions over time, at most so many.
pub fn time_line(trace: &Trace, settings: &Settings, most: usize) -> Report {
    let mut warnings = Vec::new();
    let caches = settings.caches.clone();
    let caches = caches.unwrap_or_else(|| report::machine_caches(trace, &mut warnings));
    run(&Slices::new(trace, caches, most), trace, settings, warnings)
}

fn misses(trace: &Trace, settings: &Settings) -> Result<Report, Failure> {
    let form = ReportForm {
        by: settings.by.clone(),
        top: 0,
        sort: settings.rank_by,
        cache: settings.caches.clone(),
        ..ReportForm::default()
    };
    let mut warnings = Vec::new();
    let misses = report::analysis(&form, report::groupings(&form)?, trace, true, &mut warnings)?;
    Ok(run(&misses, trace, settings, warnings))
}

fn run<A: Analysis>(analysis: &A, trace: &Trace, settings: &Settings, warnings: Vec<String>) -> Report {
    let progress = ReadingProgress::new(trace, settings.quiet);
    let threads = settings.threads.unwrap_or_else(processors::available);
    let advance = |accesses, bytes| progress.advance(accesses, bytes);
    let (findings, summary) = run_analysis(analysis, trace, threads, &advance);
    progress.finish();
    report::report(trace, findings, &summary, warnings)
}
