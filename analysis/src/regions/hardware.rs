//! What hardware events came to in regions.

use std::ops::AddAssign;

use trackway_report::{Table, TableBuilder, Unit};
use trackway_trace::{Node, HARDWARE_EVENTS};

use super::evaluate::Scale;
use super::stratum::Stratum;
use super::tables::{region_rows, title, RegionRow};
use super::{Ranked, Regions};

/// Of entries for which stand those around which they were counted, regions within them included.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    pub measured_entries: u64,
    /// For which these stand.
    pub entries: u64,
    /// In the order of the recording's events.
    pub sums: [u64; HARDWARE_EVENTS],
}

impl Measured {
    pub fn add(&mut self, node: &Node) {
        self.measured_entries = self.measured_entries.saturating_add(node.measured_entries);
        self.entries = self.entries.saturating_add(node.hardware_entries);
        add_each(&mut self.sums, node.hardware);
    }
}

fn add_each(sums: &mut [u64; HARDWARE_EVENTS], more: [u64; HARDWARE_EVENTS]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum = sum.saturating_add(more);
    }
}

/// Of all entries, as far as some of their stratum were measured.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Hardware {
    pub measured_entries: u64,
    /// Entries of strata of which none was measured.
    pub unknown_entries: u64,
    pub estimates: [u64; HARDWARE_EVENTS],
}

impl Hardware {
    pub fn of(stratum: &Stratum) -> Hardware {
        let Measured {
            measured_entries,
            entries,
            sums,
        } = stratum.measured;
        if measured_entries == 0 || entries == 0 {
            return Hardware {
                unknown_entries: stratum.runs(),
                ..Hardware::default()
            };
        }
        let scale = Scale::new(stratum.runs().max(entries), entries);
        Hardware {
            measured_entries,
            unknown_entries: 0,
            estimates: sums.map(|sum| scale.apply(sum)),
        }
    }

    fn estimate(&self, event: usize) -> Option<u64> {
        (self.measured_entries > 0).then(|| self.estimates[event])
    }
}

impl AddAssign for Hardware {
    fn add_assign(&mut self, more: Hardware) {
        self.measured_entries = self.measured_entries.saturating_add(more.measured_entries);
        self.unknown_entries = self.unknown_entries.saturating_add(more.unknown_entries);
        add_each(&mut self.estimates, more.estimates);
    }
}

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

/// Names and titles of the columns of a recording's events; those of later versions, or named twice, have numbers.
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
    let title = title("Hardware events", rows.len(), all);
    let mut builder = TableBuilder::new("region_hardware", title, &rows)
        .total_rows(all)
        .ranked_by("own_time_ns")
        .text("region", "region", |row| &row.region.name)
        .integer("entries", "entries", Unit::Count, |row| row.totals.entries)
        .integer("measured_entries", "of them measured", Unit::Count, |row| {
            row.totals.hardware.measured_entries
        })
        .integer(
            "unknown_entries",
            "of which nothing is known",
            Unit::Count,
            |row| row.totals.hardware.unknown_entries,
        );
    for (event, (column, title)) in columns.iter().enumerate() {
        builder = builder.optional_integer(column, title, Unit::Count, move |row| {
            row.totals.hardware.estimate(event)
        });
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
        builder = builder.optional_real(
            "instructions_per_cycle",
            "instructions per cycle",
            Unit::Ratio,
            move |row| quotient(&row.totals.hardware, instructions, cycles, 1.0),
        );
    }
    for (misses, (column, title)) in columns.iter().enumerate() {
        if column.ends_with("_misses") {
            let name = format!("{column}_per_1000_instructions");
            let title = format!("{title} per 1000 instructions");
            builder = builder.optional_real(&name, &title, Unit::Rate, move |row| {
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

    fn stratum(entries: u64, stood_for: u64, sum: u64) -> Stratum {
        Stratum {
            entries,
            measured: Measured {
                measured_entries: stood_for.min(5),
                entries: stood_for,
                sums: [sum, 0, 0, u64::MAX],
            },
            ..Stratum::default()
        }
    }

    #[test]
    fn sums_are_scaled_to_all_entries_of_their_stratum() {
        let mut hardware = Hardware::of(&stratum(100, 16, 64));
        assert_eq!(hardware.estimates, [400, 0, 0, u64::MAX]);
        hardware += Hardware::of(&stratum(3, 3, 7));
        assert_eq!((hardware.measured_entries, hardware.unknown_entries), (8, 0));
        assert_eq!(hardware.estimate(0), Some(407));
        // They stand for more than were entered, as a thread that was killed may say.
        assert_eq!(Hardware::of(&stratum(1, 2, 8)).estimates[0], 8);
    }

    #[test]
    fn where_none_was_measured_nothing_is_known() {
        let hardware = Hardware::of(&stratum(100, 0, 64));
        assert_eq!((hardware.measured_entries, hardware.unknown_entries), (0, 100));
        assert_eq!(hardware.estimate(0), None);
    }

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
