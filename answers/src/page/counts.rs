//! What a program counted, as the page shows it.

use std::path::Path;

use trackway_analysis::regions::{Ranked, Regions};
use trackway_analysis::site_counts::Measure;
use trackway_report::{Report, Table};
use trackway_trace::Trace;

use crate::counts;

/// At most so many rows of threads are drawn; the regions that come last are left out as a whole.
const MOST_THREAD_ROWS: u64 = 20_000;

/// The report, with all threads of each region that it names, and shares beside what the code's tables are ranked by.
pub fn report(trace: &Trace, rank_by: Measure, rows: usize, source_root: Option<&Path>) -> Report {
    let regions = Regions::read(trace).with_sources_below(source_root);
    let ranked = Ranked {
        by: rank_by,
        top: rows,
    };
    let mut findings = regions.findings(trace, ranked);
    let all = |name| {
        regions.table(
            trace,
            name,
            Ranked {
                top: usize::MAX,
                ..ranked
            },
        )
    };
    let whole = all("region_variables").map_or(0, |table| sum(&table, &rank_by.column()));
    let threads = all("regions").map_or(0, |regions| rows_of_threads(&regions));
    for table in &mut findings.tables {
        match table.name() {
            "regions_by_thread" => {
                let top = threads.max(rows);
                let threads = regions.table(trace, "regions_by_thread", Ranked { top, ..ranked });
                *table = threads.unwrap_or_else(|| table.clone());
            }
            "region_lines" | "region_variables" | "blocks" => {
                *table = table.with_shares_beside(&rank_by.column(), "share", "share", whole);
            }
            _ => {}
        }
    }
    counts::report_of(trace, &regions, findings)
}

fn sum(table: &Table, column: &str) -> u64 {
    let numbers = (0..table.row_count()).map(|row| table.integer(column, row).unwrap_or(0));
    numbers.fold(0, u64::saturating_add)
}

/// How many rows the first regions' threads take, as far as there is room for all of a region.
fn rows_of_threads(regions: &Table) -> usize {
    let mut rows = 0;
    for region in 0..regions.row_count() {
        let threads = regions.integer("threads", region).unwrap_or(0);
        if rows + threads > MOST_THREAD_ROWS {
            break;
        }
        rows += threads;
    }
    rows as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::TableBuilder;

    fn regions(threads: &[u64]) -> Table {
        TableBuilder::new("regions", "", threads)
            .count(("threads", ""), |threads| *threads)
            .build()
    }

    #[test]
    fn regions_are_drawn_with_all_their_threads_or_not_at_all() {
        assert_eq!(rows_of_threads(&regions(&[])), 0);
        assert_eq!(rows_of_threads(&regions(&[4, 64, 1])), 69);
        assert_eq!(rows_of_threads(&regions(&[12_000, 7_000, 2_000, 1])), 19_000);
    }
}
