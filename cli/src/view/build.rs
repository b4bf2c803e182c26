//! The page's parts: each analysis that a page has a place for, in as few passes over the trace as their orders allow.

use std::path::Path;

use trackway_analysis::activity::{self, Activity};
use trackway_analysis::misses::{Grouping, Misses, SourceFiles};
use trackway_analysis::sharing::Sharing;
use trackway_report::Report;
use trackway_trace::Trace;
use trackway_view::{source_texts, suspects, Page, SourceText};

use super::memory_parts::{self, part};
use super::source::is_source_file;
use super::ViewArguments;
use crate::failure::Failure;
use crate::model::line_bytes_of_machine;
use crate::{info, soundness};

const GROUPINGS: [Grouping; 9] = [
    Grouping::Field,
    Grouping::Variable,
    Grouping::Type,
    Grouping::Line,
    Grouping::Function,
    Grouping::File,
    Grouping::Kind,
    Grouping::Site,
    Grouping::Thread,
];

/// Everything that the page shows of a trace.
pub fn page(arguments: &ViewArguments, trace: &Trace) -> Result<Page, Failure> {
    let (misses, activity, rank_by) = misses_and_activity(arguments, trace)?;
    let sharing = (trace.streams().len() > 1).then(|| sharing_report(arguments, trace));
    let sources = match arguments.no_source {
        true => Vec::new(),
        false => sources(trace, &misses),
    };
    let suspects = suspects(&misses, &rank_by, sharing.as_ref());
    let mut parts = vec![part("misses", "Misses", misses)];
    parts.extend(sharing.map(|report| part("sharing", "Sharing", report)));
    parts.extend(memory_parts::parts(arguments, trace)?);
    parts.push(part("activity", "Threads over time", activity));
    parts.push(part("info", "Recording", info::report_on_trace(trace)));
    Ok(Page {
        title: program_name(trace),
        generator: concat!("Trackway ", env!("CARGO_PKG_VERSION")).into(),
        rank_by,
        suspects,
        parts,
        sources,
    })
}

fn program_name(trace: &Trace) -> String {
    let program = &trace.meta().program;
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    name.unwrap_or(program).to_owned()
}

fn misses_and_activity(
    arguments: &ViewArguments,
    trace: &Trace,
) -> Result<(Report, Report, String), Failure> {
    let mut warnings = Vec::new();
    let (caches, measure) = arguments.model.choose(trace, true, &mut warnings)?;
    let misses = Misses::new(caches, GROUPINGS.to_vec(), measure, arguments.rows());
    let rank_by = measure.column();
    let activity = Activity::new(trace);
    let (mut findings, summary) = arguments.reading.pass(&(misses, activity), trace);
    let (of_activity, of_misses) = findings
        .tables
        .into_iter()
        .partition(|table| activity::TABLES.contains(&table.name()));
    findings.tables = of_misses;
    let activity = Report {
        answer: String::new(),
        warnings: Vec::new(),
        tables: of_activity,
    };
    Ok((
        soundness::report(trace, findings, &summary, warnings),
        activity,
        rank_by,
    ))
}

fn sharing_report(arguments: &ViewArguments, trace: &Trace) -> Report {
    let line_bytes = line_bytes_of_machine(trace).into();
    let sharing = Sharing::new(trace.program(), line_bytes, arguments.rows());
    arguments.reading.report(&sharing, trace, Vec::new())
}

/// Text of the files that the ranking names, as far as they are source code that can be read.
fn sources(trace: &Trace, misses: &Report) -> Vec<SourceText> {
    let files = SourceFiles::new(trace.meta().working_directory.as_ref());
    source_texts(&misses.tables, |file| {
        is_source_file(file).then(|| files.text(file)).flatten()
    })
}
