//! Parts of a page, and the charts' tables of their reports.

use trackway_report::{Report, Table};

use crate::page::PagePart;
use crate::{charts, map_levels};

pub fn part(name: &str, title: &str, report: Report) -> PagePart {
    PagePart {
        name: name.into(),
        title: title.into(),
        report,
    }
}

pub fn with_members(layout: Report, rank_by: &str) -> Report {
    with_charts(layout, &["members", "definition"], |tables| {
        charts::members(tables, rank_by).into_iter().collect()
    })
}

pub fn with_curves(reuse: Report) -> Report {
    let replaced = ["miss_ratio_curve", "group_curves", "reuse_distances"];
    with_charts(reuse, &replaced, |tables| {
        charts::curves(tables).into_iter().collect()
    })
}

pub fn with_resolutions(map: Report) -> Report {
    with_charts(map, &["cells", "levels"], |tables| {
        map_levels::map(tables).into_iter().flatten().collect()
    })
}

/// What was live when comes first, since that is drawn.
pub fn with_live_memory_first(mut memory: Report) -> Report {
    memory
        .tables
        .sort_by_key(|table| table.name() != "memory_over_time");
    memory
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
