//! Hardware events in regions as a table.

use trackway_report::{top_title, Table, TableBuilder};
use trackway_trace::HARDWARE_EVENTS;

use super::hardware::Hardware;
use super::tables::{region_rows, RegionRow};
use super::{Ranked, Regions};

/// Event, column and title.
const KNOWN: [(&str, &str, &str); 8] = [
    ("cycles", "cycles", "cycles"),
    ("instructions", "instructions", "instructions"),
    ("l1d-misses", "l1d_misses", "L1d misses"),
    ("llc-misses", "llc_misses", "LLC misses"),
    ("branch-misses", "branch_misses", "branch misses"),
    ("page-faults", "page_faults", "page faults"),
    ("context-switches", "context_switches", "context switches"),
    ("task-clock", "task_clock_ns", "task clock (ns)"),
];

/// Names and titles of the columns of a recording's events. Events of later versions, or named twice, have numbers.
fn event_columns(events: &[String]) -> Vec<(String, String)> {
    let mut columns: Vec<(String, String)> = Vec::new();
    for (index, event) in events.iter().take(HARDWARE_EVENTS).enumerate() {
        let known = KNOWN.into_iter().find(|(name, ..)| name == event);
        let is_new = |column: &str| columns.iter().all(|(other, _)| other != column);
        columns.push(match known {
            Some((_, column, title)) if is_new(column) => (column.into(), title.into()),
            _ => (format!("event_{}", index + 1), format!("event {}", index + 1)),
        });
    }
    columns
}

/// None if nothing was measured.
pub fn table(regions: &Regions, ranked: Ranked) -> Option<Table> {
    let all = regions.regions.len();
    let columns = event_columns(&regions.hardware_events);
    if columns.is_empty() || regions.unmeasured_events().is_some() {
        return None;
    }
    let rows = region_rows(regions, ranked);
    let title = top_title("Hardware events", rows.len(), all);
    let mut builder = TableBuilder::new("region_hardware", title, &rows)
        .total_rows(all)
        .ranked_by("own_time_ns")
        .text("region", |row| &row.region.name)
        .count("entries", |row| row.totals.entries)
        .count(("measured_entries", "of them measured"), |row| {
            row.totals.hardware.measured_entries
        })
        .count(("unknown_entries", "of which nothing is known"), |row| {
            row.totals.hardware.unknown_entries
        });
    for (event, (column, title)) in columns.iter().enumerate() {
        builder = builder.count((column, title), move |row| row.totals.hardware.estimate(event));
    }
    Some(with_quotients(builder, &columns).build())
}

fn with_quotients<'r>(
    mut builder: TableBuilder<'r, RegionRow<'r>>,
    columns: &[(String, String)],
) -> TableBuilder<'r, RegionRow<'r>> {
    let position = |name: &str| columns.iter().position(|(column, _)| column == name);
    let Some(instructions) = position("instructions") else {
        return builder;
    };
    if let Some(cycles) = position("cycles") {
        builder = builder.ratio("instructions_per_cycle", move |row| {
            quotient(&row.totals.hardware, instructions, cycles, 1.0)
        });
    }
    for (misses, (column, title)) in columns.iter().enumerate() {
        if column.ends_with("_misses") {
            let name = format!("{column}_per_1000_instructions");
            let title = format!("{title} per 1000 instructions");
            builder = builder.rate((name, title), move |row| {
                quotient(&row.totals.hardware, misses, instructions, 1000.0)
            });
        }
    }
    builder
}

fn quotient(hardware: &Hardware, dividend: usize, divisor: usize, factor: f64) -> Option<f64> {
    let [dividend, divisor] = [dividend, divisor].map(|event| hardware.estimates[event]);
    (divisor > 0).then(|| dividend as f64 * factor / divisor as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_names_of_their_own() {
        let events = ["cycles", "event_1\n", "cycles", "task-clock", "page-faults"].map(String::from);
        let columns = event_columns(&events);
        let names: Vec<&str> = columns.iter().map(|(column, _)| column.as_str()).collect();
        assert_eq!(names, ["cycles", "event_2", "event_3", "task_clock_ns"]);
        assert!(event_columns(&[]).is_empty());
    }

    #[test]
    fn quotients_need_a_divisor() {
        let hardware = Hardware {
            estimates: [10, 4, 0, 0],
            ..Hardware::default()
        };
        assert_eq!(quotient(&hardware, 0, 1, 1000.0), Some(2500.0));
        assert_eq!(quotient(&hardware, 0, 2, 1.0), None);
    }
}
