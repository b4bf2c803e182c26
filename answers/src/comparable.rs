//! Analyses whose tables can be compared, for commands that work on the tables of any analysis.

use clap::ValueEnum;
use trackway_analysis::objects::Objects;
use trackway_analysis::sharing::Sharing;
use trackway_analysis::site_counts::Grouping;
use trackway_analysis::slices::Slices;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::calls::calls;
use crate::counts;
use crate::failure::Failure;
use crate::model::{line_bytes_of_machine, machine_caches, ModelArguments};
use crate::objects;
use crate::output::OutputArguments;
use crate::reading::{require_accesses, ReadingArguments};
use crate::report_form::ReportForm;
use crate::sources::SourceArguments;
use crate::time::TimeArguments;

/// An analysis whose tables can be compared and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnalysisName {
    /// Accesses, bytes and misses, as `trackway report`
    Report,
    /// Cache lines that threads take from each other, as `trackway sharing`
    Sharing,
    /// What functions cost by the path on which they were called
    Calls,
    /// The memory that the time of sampled programs goes to, as `trackway objects`
    Objects,
}

/// How analyses are run.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Tables to show, as far as the analysis has them; if empty, its usual ones.
    pub by: Vec<Grouping>,
    pub model: ModelArguments,
    pub time: TimeArguments,
    pub sources: SourceArguments,
    /// Bytes of a line; if none, those of the machine that recorded.
    pub line_bytes: Option<u32>,
    pub reading: ReadingArguments,
}

/// What the analysis finds in the trace, with all rows of its tables.
pub fn answer(name: AnalysisName, trace: &Trace, settings: &Settings) -> Result<Report, Failure> {
    if name == AnalysisName::Report && trace.holds_only_counts() {
        return counts::report(trace, &whole(settings));
    }
    if name != AnalysisName::Objects {
        require_accesses(trace)?;
    }
    match name {
        AnalysisName::Report => misses(trace, settings),
        AnalysisName::Objects => sampled(trace),
        AnalysisName::Calls => calls(
            trace,
            &settings.model.cache,
            &settings.time,
            &settings.reading,
            usize::MAX,
        ),
        AnalysisName::Sharing => {
            let line_bytes = settings
                .line_bytes
                .unwrap_or_else(|| line_bytes_of_machine(trace));
            let mut sharing = Sharing::new(trace.program(), line_bytes.into(), usize::MAX);
            if !settings.by.is_empty() {
                sharing = sharing.grouped_by(settings.by.clone());
            }
            Ok(settings.reading.report(&sharing, trace, Vec::new()))
        }
    }
}

/// All owners of memory in a sampled trace.
fn sampled(trace: &Trace) -> Result<Report, Failure> {
    objects::require_samples(trace)?;
    let joined = Objects::of(trace, objects::DEFAULT_SLICES.into());
    let mut report = objects::report(trace, &joined, usize::MAX);
    // Absolute times differ from run to run, so tenths of the run are compared.
    report.tables.retain(|table| table.name() != "object_phases");
    Ok(report)
}

/// The calls of functions over time, at most so many.
pub fn time_line(trace: &Trace, settings: &Settings, most: usize) -> Report {
    let mut warnings = Vec::new();
    let caches = settings.model.cache.clone();
    let caches = caches.unwrap_or_else(|| machine_caches(trace, &mut warnings));
    settings
        .reading
        .report(&Slices::new(trace, caches, most), trace, warnings)
}

/// All rows of the tables.
fn whole(settings: &Settings) -> ReportForm {
    ReportForm {
        by: settings.by.clone(),
        model: settings.model.clone(),
        time: settings.time.clone(),
        sources: settings.sources.clone(),
        output: OutputArguments::all_rows(),
    }
}

fn misses(trace: &Trace, settings: &Settings) -> Result<Report, Failure> {
    let mut warnings = Vec::new();
    let misses = whole(settings).analysis(trace, true, &mut warnings)?;
    Ok(settings.reading.report(&misses, trace, warnings))
}
