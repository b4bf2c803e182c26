//! Puts the page together: a part for each analysis, the suspects, and text of the source files.

use std::path::Path;

use trackway_analysis::site_counts::Measure;
use trackway_analysis::sources::{self, SourceFiles, CHANGED};
use trackway_answers::failure::Failure;
use trackway_answers::page::{counts as regions, reports, samples as sampled, Extent, Reports, Settings};
use trackway_answers::shell_word::quoted;
use trackway_answers::{counts, info, samples, soundness};
use trackway_report::{Report, Table};
use trackway_trace::Trace;

use crate::arguments::{ViewArguments, DEFAULT_ROWS};
use crate::comparison::comparison;
use crate::first::parts_of_first;
use crate::page::{Page, PagePart, SourceText};
use crate::parts::{part, with_curves, with_live_memory_first, with_members, with_resolutions};
use crate::sources::{source_texts, FileText};
use crate::suspects::suspects;

/// Parts whose tables name the lines that are shown.
const WITH_SOURCE: [&str; 3] = ["misses", "regions", "samples"];

/// Everything that the page shows of a trace; `advised` is what to change, if that is known already.
pub fn page(arguments: &ViewArguments, trace: &Trace, advised: Option<Report>) -> Result<Page, Failure> {
    let mut page = match trace.holds_only_counts() || sampled::are_all(trace) {
        true => empty_page(program_name(trace)),
        false => page_of_accesses(arguments, trace, advised)?,
    };
    page.trace = quoted(&trace.path().to_string_lossy());
    if arguments.after.is_some() {
        let compared = comparison(arguments, &arguments.trace, trace)?;
        page.parts.insert(0, part("comparison", "Comparison", compared));
        page.first = parts_of_first(arguments, &arguments.trace, trace)?;
    }
    let root = arguments.sources.root();
    // Counts are sums over the whole run.
    if counts::are_in(trace) && trace.slice().is_none() {
        let rank_by = counts::measure(trace, arguments.model.sort)?;
        add_counts(&mut page, trace, rank_by, arguments.rows(), root);
    }
    if trace.is_sampled() {
        page.parts.extend(samples_of(trace, arguments.rows()));
    }
    page.parts.push(part("info", "Recording", recording(trace)?));
    match arguments.no_source {
        true => forget_sources(&mut page),
        false => page.sources = sources(trace, &page, root),
    }
    Ok(page)
}

/// The whole recording, whatever slice of it the page is about, and what that slice is.
fn recording(trace: &Trace) -> Result<Report, Failure> {
    if trace.slice().is_none() {
        return Ok(info::report_on_trace(trace));
    }
    let mut report = info::report_on_trace(&trace.again()?);
    report.tables.splice(0..0, soundness::extent(trace));
    Ok(report)
}

/// Adds what a program counted, from its trace, with the text of its source.
pub fn add_counted_run(page: &mut Page, trace: &Trace, root: Option<&Path>) {
    add_counts(page, trace, Measure::Bytes, DEFAULT_ROWS, root);
    page.parts
        .push(part("info", "Recording", info::report_on_trace(trace)));
    page.sources = sources(trace, page, root);
}

pub fn empty_page(title: String) -> Page {
    Page {
        title,
        generator: concat!("Trackway ", env!("CARGO_PKG_VERSION")).into(),
        ..Page::default()
    }
}

fn page_of_accesses(
    arguments: &ViewArguments,
    trace: &Trace,
    advised: Option<Report>,
) -> Result<Page, Failure> {
    let settings = Settings {
        model: &arguments.model,
        rows: arguments.rows(),
        source_root: arguments.sources.root(),
        reading: &arguments.reading,
        machine: &arguments.machine,
        look_bytes: arguments.look,
        advised,
        extent: Extent::Page,
    };
    let reports = reports(&settings, trace)?;
    let rank_by = reports.rank_by.column();
    Ok(Page {
        suspects: suspects(&reports.misses, &rank_by, reports.sharing.as_ref()),
        parts: parts(reports, &rank_by),
        rank_by,
        ..empty_page(program_name(trace))
    })
}

/// Adds the counts after the other parts. If there are no others, the page has the ranking of the counts.
fn add_counts(page: &mut Page, trace: &Trace, rank_by: Measure, rows: usize, root: Option<&Path>) {
    if page.rank_by.is_empty() {
        page.rank_by = rank_by.column();
    }
    let report = regions::report(trace, rank_by, rows, root);
    page.parts.push(part("regions", "Regions", report));
}

/// Parts about the owners of the sampled memory, and about the code.
fn samples_of(trace: &Trace, rows: usize) -> [PagePart; 2] {
    [
        part("objects", "Sampled memory", sampled::memory(trace, rows)),
        part("samples", "Sampled code", samples::report(trace, rows)),
    ]
}

/// The name that people use for the program.
pub fn program_name(trace: &Trace) -> String {
    let program = &trace.meta().program;
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    name.unwrap_or(program).to_owned()
}

fn parts(reports: Reports, rank_by: &str) -> Vec<PagePart> {
    let layout = with_members(reports.layout, rank_by);
    let reuse = with_curves(reports.reuse);
    let map = with_resolutions(reports.map);
    let advice = reports
        .advice
        .map(|report| part("advice", "What to change", report));
    let missed = reports.missed_map.map(with_resolutions);
    let mut parts: Vec<PagePart> = advice.into_iter().collect();
    parts.push(part("misses", "Misses", reports.misses));
    parts.push(part("places", "Places", reports.places));
    let sharing = reports.sharing;
    parts.extend(sharing.map(|report| part("sharing", "Sharing", report)));
    parts.extend([
        part("layout", "Layout of structures", layout),
        part("reuse", "Reuse of memory", reuse),
        part("map", "Memory over time", map),
    ]);
    parts.extend(missed.map(|report| part("missed_map", "Misses over time", report)));
    let memory = reports.memory.map(with_live_memory_first);
    parts.extend(memory.map(|report| part("memory", "Allocations", report)));
    parts.push(part("activity", "Threads over time", reports.activity));
    parts
}

/// Removes all text of source files.
fn forget_sources(page: &mut Page) {
    for table in page.parts.iter_mut().flat_map(|part| &mut part.report.tables) {
        *table = table.without_texts("source", |_| true);
    }
}

/// Text of the files that the rankings name, as far as it may be shown.
fn sources(trace: &Trace, page: &Page, root: Option<&Path>) -> Vec<SourceText> {
    let files = SourceFiles::of(trace, root);
    let ranked = page
        .parts
        .iter()
        .filter(|part| WITH_SOURCE.contains(&part.name.as_str()));
    let tables: Vec<Table> = ranked
        .flat_map(|part| part.report.tables.iter().cloned())
        .collect();
    source_texts(&tables, |file| match files.text(file) {
        sources::SourceText::Unknown => None,
        sources::SourceText::Changed => Some(FileText::Instead(CHANGED.to_owned())),
        sources::SourceText::Text(text) => Some(FileText::Text(text)),
    })
}
