//! What a page shows of the first of two traces, beside the same of the second one.

use std::path::Path;

use trackway_answers::failure::Failure;
use trackway_answers::model::{machine_caches, ModelArguments};
use trackway_answers::page::{reports, Extent, Reports, Settings};
use trackway_answers::reading::require_accesses;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::arguments::ViewArguments;
use crate::page::PagePart;
use crate::parts::{part, with_curves, with_members, with_resolutions};

/// The tables of each part that stand beside those of the second trace.
const SHOWN: [(&str, &[&str]); 5] = [
    ("advice", &["cards", "card", "looked_at"]),
    ("places", &["place_paths", "path_nodes"]),
    ("layout", &["layouts"]),
    ("reuse", &["curves"]),
    ("map", &["map_cells", "map_times", "map_addresses"]),
];

/// The caches of both traces: those that are asked for, or else those of the second one's machine.
pub fn common_model(arguments: &ViewArguments, second: &Trace) -> ModelArguments {
    let chosen = arguments.model.cache.clone();
    ModelArguments {
        cache: Some(chosen.unwrap_or_else(|| machine_caches(second, &mut Vec::new()))),
        ..arguments.model.clone()
    }
}

/// Parts of the first trace; none of one without accesses, and of a saved report.
///
/// # Errors
/// If the trace doesn't hold the slice, or the options don't fit it.
pub fn parts_of_first(
    arguments: &ViewArguments,
    first: &Path,
    second: &Trace,
) -> Result<Vec<PagePart>, Failure> {
    let Ok(trace) = Trace::open(first) else {
        return Ok(Vec::new());
    };
    if require_accesses(&trace).is_err() || require_accesses(second).is_err() {
        return Ok(Vec::new());
    }
    let trace = arguments.slice.request().apply(trace)?;
    let settings = Settings {
        model: &common_model(arguments, second),
        rows: arguments.rows(),
        source_root: arguments.sources.root(),
        reading: &arguments.reading,
        machine: &arguments.machine,
        look_bytes: arguments.look,
        advised: None,
        extent: Extent::Beside,
    };
    let reports = reports(&settings, &trace)?;
    let rank_by = reports.rank_by.column();
    Ok(parts(reports, &rank_by))
}

fn parts(reports: Reports, rank_by: &str) -> Vec<PagePart> {
    let mut parts: Vec<PagePart> = reports
        .advice
        .into_iter()
        .map(|report| part("advice", "What to change", report))
        .collect();
    parts.extend([
        part("places", "Places", reports.places),
        part(
            "layout",
            "Layout of structures",
            with_members(reports.layout, rank_by),
        ),
        part("reuse", "Reuse of memory", with_curves(reports.reuse)),
        part("map", "Memory over time", with_resolutions(reports.map)),
    ]);
    parts.into_iter().map(only_shown).collect()
}

fn only_shown(part: PagePart) -> PagePart {
    let shown = SHOWN.iter().find(|(name, _)| *name == part.name);
    let tables = shown.map_or(&[][..], |(_, tables)| tables);
    let kept = part
        .report
        .tables
        .into_iter()
        .filter(|table| tables.contains(&table.name()));
    PagePart {
        report: Report {
            tables: kept.collect(),
            ..part.report
        },
        ..part
    }
}
