//! How far runs of the same program differ.

use super::columns::{common, Role};
use super::number::Number;
use super::pairs::pair_rows;
use crate::{Report, Table};

/// For each row of a table, the numbers of one measure in several runs.
pub struct Noise {
    /// The least and the largest number of each row; empty if there is only one run.
    ranges: Vec<(f64, f64)>,
    /// The least and the largest sum of all rows.
    total: (f64, f64),
}

impl Noise {
    /// A row that one of the runs lacks counts as 0 there.
    pub fn new(table: &Table, again: &[Report], measure: &str) -> Noise {
        let others = again.iter().flat_map(|report| &report.tables);
        let others: Vec<&Table> = others.filter(|other| other.name() == table.name()).collect();
        let mut ranges = Vec::new();
        if !others.is_empty() {
            let number = |row| number(table, measure, Some(row));
            ranges.extend((0..table.row_count()).map(|row| (number(row), number(row))));
        }
        let mut total = (sum(table, measure), sum(table, measure));
        for other in others {
            widen(&mut ranges, table, other, measure);
            let found = sum(other, measure);
            total = (total.0.min(found), total.1.max(found));
        }
        Noise { ranges, total }
    }

    pub fn is_known(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// The largest sum of all rows less the least.
    pub fn of_total(&self) -> f64 {
        self.total.1 - self.total.0
    }

    /// The largest number less the least; 0 for a row that no run had.
    pub fn of(&self, row: Option<usize>) -> f64 {
        let range = row.and_then(|row| self.ranges.get(row));
        range.map_or(0.0, |(least, largest)| largest - least)
    }
}

fn widen(ranges: &mut [(f64, f64)], table: &Table, other: &Table, measure: &str) {
    for pair in pair_rows(table, other) {
        if let Some(range) = pair.before.and_then(|row| ranges.get_mut(row)) {
            let found = number(other, measure, pair.after);
            *range = (range.0.min(found), range.1.max(found));
        }
    }
}

fn sum(table: &Table, measure: &str) -> f64 {
    let rows = 0..table.row_count();
    rows.map(|row| number(table, measure, Some(row))).sum()
}

fn number(table: &Table, measure: &str, row: Option<usize>) -> f64 {
    let columns = common(table, table, Role::Measure);
    let column = columns
        .iter()
        .map(|(column, _)| *column)
        .find(|column| column.name() == measure);
    let value = column
        .zip(row)
        .and_then(|(column, row)| Number::of(column.value(row)));
    value.map_or(0.0, Number::as_real)
}
