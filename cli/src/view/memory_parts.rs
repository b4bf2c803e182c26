//! The parts of the page that ask how memory is laid out and used.

use trackway_analysis::cache::Caches;
use trackway_analysis::layout::{Layout, Shown};
use trackway_analysis::map::{Finest, Map, View, DEFAULT_BINS, DEFAULT_ROWS};
use trackway_analysis::memory::{Memory, DEFAULT_SHORT_LIFE};
use trackway_analysis::misses::Measure;
use trackway_analysis::reuse::{Reuse, ReuseGrouping, Sampling};
use trackway_analysis::structures::Structures;
use trackway_report::{Report, Table};
use trackway_trace::Trace;
use trackway_view::Part;

use super::{charts, ViewArguments};
use crate::failure::Failure;
use crate::map::chunk_times;
use crate::model::line_bytes_of_machine;

/// Structures that are drawn.
const STRUCTURES: usize = 12;
/// Fields and variables with a curve of their own.
const CURVES: usize = 6;
/// So many lines of a thread are sampled for the curves, and all if it has no more.
const SAMPLED_LINES: usize = 1 << 15;
/// Accesses between those that count as together, as `trackway layout` takes them by default.
const WINDOW: u64 = 100;

/// Layouts, curves, the map, and allocations, each if the trace has something to show.
pub fn parts(arguments: &ViewArguments, trace: &Trace) -> Result<Vec<Part>, Failure> {
    let times = chunk_times(trace, &arguments.reading);
    let mut parts = vec![layouts(arguments, trace)?, curves(arguments, trace)];
    let (from_ns, to_ns) = times.range_ns();
    let view = View {
        measure: Measure::Accesses,
        caches: Caches::none(),
        from_ns,
        to_ns,
        addresses: (0, u64::MAX),
        owner: None,
        rows: DEFAULT_ROWS,
        bins: DEFAULT_BINS,
        finest: Finest::Cells(charts::MAX_CELLS),
        top: arguments.rows(),
    };
    let map = arguments
        .reading
        .report(&Map::new(trace, &times, view), trace, Vec::new());
    parts.push(part(
        "map",
        "Memory over time",
        with_charts(map, &["cells", "levels"], |tables| {
            charts::map(tables).into_iter().flatten().collect()
        }),
    ));
    let memory = Memory::new(trace, &times, DEFAULT_SHORT_LIFE, arguments.rows());
    parts.push(part(
        "memory",
        "Allocations",
        arguments.reading.report(&memory, trace, Vec::new()),
    ));
    Ok(parts)
}

fn layouts(arguments: &ViewArguments, trace: &Trace) -> Result<Part, Failure> {
    let mut warnings = Vec::new();
    let (caches, rank_by) = arguments.model.choose(trace, true, &mut warnings)?;
    let shown = Shown {
        only: None,
        top: STRUCTURES,
        rank_by,
    };
    let layout = Layout::new(Structures::of(trace.program()), caches, WINDOW, shown);
    let column = rank_by.column();
    let report = arguments.reading.report(&layout, trace, Vec::new());
    let report = with_charts(report, &["members", "definition"], |tables| {
        charts::members(tables, &column).into_iter().collect()
    });
    Ok(part("layout", "Layout of structures", report))
}

fn curves(arguments: &ViewArguments, trace: &Trace) -> Part {
    let reuse = Reuse {
        line_bytes: line_bytes_of_machine(trace),
        merged: false,
        sampling: Some(Sampling::Lines(SAMPLED_LINES)),
        groupings: vec![ReuseGrouping::Field],
        top: CURVES,
        fine: true,
    };
    let report = arguments.reading.report(&reuse, trace, Vec::new());
    let replaced = ["miss_ratio_curve", "group_curves", "reuse_distances"];
    part(
        "reuse",
        "Reuse of memory",
        with_charts(report, &replaced, |tables| {
            charts::curves(tables).into_iter().collect()
        }),
    )
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

pub fn part(name: &str, title: &str, report: Report) -> Part {
    Part {
        name: name.into(),
        title: title.into(),
        report,
    }
}
