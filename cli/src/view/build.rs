//! Puts the page together: a part for each analysis, the suspects, and text of the source files.

use std::path::Path;

use trackway_analysis::misses::SourceFiles;
use trackway_report::{Report, Table};
use trackway_trace::Trace;
use trackway_view::{source_texts, suspects, Page, Part, SourceText};

use super::passes::{self, Reports};
use super::source::is_source_file;
use super::{charts, map_levels, ViewArguments};
use crate::failure::Failure;
use crate::info;

/// Everything that the page shows of a trace.
pub fn page(arguments: &ViewArguments, trace: &Trace) -> Result<Page, Failure> {
    let mut reports = passes::reports(arguments, trace)?;
    let rank_by = reports.rank_by.column();
    let sources = match arguments.no_source {
        true => forget_sources(&mut reports.misses),
        false => sources(trace, &reports.misses),
    };
    Ok(Page {
        title: program_name(trace),
        generator: concat!("Trackway ", env!("CARGO_PKG_VERSION")).into(),
        suspects: suspects(&reports.misses, &rank_by, reports.sharing.as_ref()),
        parts: parts(reports, &rank_by, info::report_on_trace(trace)),
        rank_by,
        sources,
    })
}

fn program_name(trace: &Trace) -> String {
    let program = &trace.meta().program;
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    name.unwrap_or(program).to_owned()
}

fn parts(reports: Reports, rank_by: &str, info: Report) -> Vec<Part> {
    let layout = with_charts(reports.layout, &["members", "definition"], |tables| {
        charts::members(tables, rank_by).into_iter().collect()
    });
    let replaced = ["miss_ratio_curve", "group_curves", "reuse_distances"];
    let reuse = with_charts(reports.reuse, &replaced, |tables| {
        charts::curves(tables).into_iter().collect()
    });
    let map = with_charts(reports.map, &["cells", "levels"], |tables| {
        map_levels::map(tables).into_iter().flatten().collect()
    });
    let part = |name: &str, title: &str, report| Part {
        name: name.into(),
        title: title.into(),
        report,
    };
    let mut parts = vec![part("misses", "Misses", reports.misses)];
    let sharing = reports.sharing;
    parts.extend(sharing.map(|report| part("sharing", "Sharing", report)));
    parts.extend([
        part("layout", "Layout of structures", layout),
        part("reuse", "Reuse of memory", reuse),
        part("map", "Memory over time", map),
        part("memory", "Allocations", reports.memory),
        part("activity", "Threads over time", reports.activity),
        part("info", "Recording", info),
    ]);
    parts
}

/// The charts' tables come first; those that they replace are left out.
fn with_charts(report: Report, replaced: &[&str], charts: impl Fn(&[Table]) -> Vec<Table>) -> Report {
    let mut tables = charts(&report.tables);
    let kept = report
        .tables
        .into_iter()
        .filter(|table| !replaced.contains(&table.name()));
    tables.extend(kept);
    Report { tables, ..report }
}

/// Leaves no text of source files.
fn forget_sources(report: &mut Report) -> Vec<SourceText> {
    for table in &mut report.tables {
        *table = table.without_texts("source", |_| true);
    }
    Vec::new()
}

/// Text of the files that the ranking names, as far as they are source code that can be read.
fn sources(trace: &Trace, misses: &Report) -> Vec<SourceText> {
    let files = SourceFiles::new(trace.meta().working_directory.as_ref());
    source_texts(&misses.tables, |file| {
        is_source_file(file).then(|| files.text(file)).flatten()
    })
}
