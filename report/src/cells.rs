//! Titles and cells of tables as people read them.

use crate::names::readable;
use crate::number::{binary_size, brief, duration, grouped, percent, ratio, signed, signed_real};
use crate::terminal::printable;
use crate::{Column, Unit, Value};

/// The ending of the names of columns that are in nanoseconds, and that of the titles of others.
const NANOSECONDS: &str = "_ns";
const MICROSECONDS: &str = "_us";
const TITLE_IN_NANOSECONDS: &str = " (ns)";
/// How titles of such columns say so; here the cells do.
const UNITS_OF_TIME: [&str; 7] = [" (ns)", ", ns", "ns ", " ns", ", µs", ", us", " us"];
/// The column of sizes of caches and structures.
const SIZE: &str = "size_bytes";
/// A factor of more is a number like others.
const KIBIBYTE: u64 = 1024;

/// The title of a column.
pub fn title(column: Column) -> String {
    let title = printable(column.title());
    match (has_times(column), title.as_str()) {
        (false, _) => title,
        (true, "ns" | "us") => "time".into(),
        (true, _) => UNITS_OF_TIME
            .iter()
            .fold(title, |title, unit| title.replace(unit, "")),
    }
}

/// A cell in full.
pub fn cell(column: Column, row: usize) -> String {
    match (column.value(row), column.unit()) {
        (Value::None, unit) if unit.is_text() => String::new(),
        (Value::None, _) => "-".into(),
        // Code keeps its indentation.
        (Value::Text(text), Unit::Source) => printable(text.trim_end()),
        (Value::Text(text), Unit::Text) => printable(&readable(text.trim())),
        (Value::Text(text), _) => printable(text.trim()),
        (Value::Integer(time), _) if has_times(column) => duration(time.saturating_mul(unit_ns(column))),
        (Value::Real(time), _) if has_times(column) => {
            duration((time * unit_ns(column) as f64).round() as u64)
        }
        (Value::Integer(bytes), Unit::Bytes) if has_sizes(column) => binary_size(bytes),
        (Value::Integer(number), Unit::Count | Unit::Bytes) => grouped(number),
        (Value::Integer(number), _) => number.to_string(),
        (Value::Signed(change), _) => signed(change),
        (Value::Real(share), Unit::Share) => percent(share),
        (Value::Real(rate), Unit::Rate) => grouped_rate(rate),
        (Value::Real(factor), Unit::Ratio) => ratio(factor),
        (Value::Real(change), Unit::Change) => signed_real(change),
        (Value::Real(number), _) => format!("{number:.3}"),
    }
}

/// A number with three digits that count; none where the column has no such numbers.
pub fn brief_cell(column: Column, row: usize) -> Option<String> {
    if has_times(column) || has_sizes(column) {
        return None;
    }
    match (column.value(row), column.unit()) {
        (Value::Integer(number), Unit::Count | Unit::Bytes) => Some(brief(number)),
        (Value::Real(rate), Unit::Rate) if rate >= 10_000.0 => Some(brief(rate as u64)),
        (Value::Real(_), Unit::Rate) | (Value::None, Unit::Count | Unit::Bytes | Unit::Rate) => {
            Some(cell(column, row))
        }
        _ => None,
    }
}

fn has_times(column: Column) -> bool {
    let is_named = column.name().ends_with(NANOSECONDS) || column.title().ends_with(TITLE_IN_NANOSECONDS);
    match column.unit() {
        Unit::Count | Unit::Number => is_named || column.name().ends_with(MICROSECONDS),
        Unit::Rate => column.name().ends_with(MICROSECONDS),
        _ => false,
    }
}

/// The nanoseconds of a column's unit of time.
fn unit_ns(column: Column) -> u64 {
    if column.name().ends_with(MICROSECONDS) {
        1000
    } else {
        1
    }
}

/// 12,345.6
fn grouped_rate(rate: f64) -> String {
    let text = format!("{rate:.1}");
    match text
        .split_once('.')
        .map(|(whole, part)| (whole.parse::<u64>(), part))
    {
        Some((Ok(whole), part)) => format!("{}.{part}", grouped(whole)),
        _ => text,
    }
}

/// Whether all of them are of caches: structures have other sizes.
fn has_sizes(column: Column) -> bool {
    let is_of_a_cache = |row| match column.value(row) {
        Value::Integer(bytes) => bytes >= KIBIBYTE && bytes.is_multiple_of(KIBIBYTE),
        _ => false,
    };
    column.name() == SIZE && column.unit() == Unit::Bytes && (0..column.row_count()).all(is_of_a_cache)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableBuilder;

    #[test]
    fn times_and_sizes_of_caches_have_units() {
        let table = TableBuilder::new("regions", "Regions", &[(1_256_648_298_u64, 32_768_u64)])
            .count(("own_time_ns", "own time (ns)"), |row| row.0)
            .count(("peak_ns", "ns after the beginning"), |row| row.0)
            .count(("weight", "time (ns)"), |row| row.0)
            .rate(("mean_life_us", "mean life, µs"), |row| Some(row.0 as f64 / 1e6))
            .count("first_us", |row| row.0)
            .bytes(("size_bytes", "size"), |row| row.1)
            .bytes("bytes", |row| row.1)
            .build();
        let shown: Vec<(String, String)> = table
            .columns()
            .map(|column| (title(column), cell(column, 0)))
            .collect();
        let expected = [
            ("own time", "1.257 s"),
            ("after the beginning", "1.257 s"),
            ("time", "1.257 s"),
            ("mean life", "1.257 ms"),
            ("first", "1256.648 s"),
            ("size", "32 KiB"),
            ("bytes", "32,768"),
        ];
        assert_eq!(
            shown,
            expected.map(|(title, cell)| (title.to_owned(), cell.to_owned()))
        );
    }

    #[test]
    fn sizes_of_structures_are_bytes() {
        let table = TableBuilder::new("structures", "Structures", &[1024_u64, 40])
            .bytes(("size_bytes", "size"), |row| *row)
            .build();
        let column = table.columns().next().unwrap();
        assert_eq!([cell(column, 0), cell(column, 1)], ["1,024", "40"]);
    }

    #[test]
    fn only_counts_are_brief() {
        let table = TableBuilder::new("fields", "Fields", &[29_795_810_u64])
            .count("misses", |row| *row)
            .number("line", |row| *row)
            .rate("life", |row| Some(*row as f64))
            .build();
        let brief: Vec<Option<String>> = table.columns().map(|column| brief_cell(column, 0)).collect();
        assert_eq!(brief, [Some("29.8M".to_owned()), None, Some("29.8M".to_owned())]);
        assert_eq!(cell(table.columns().last().unwrap(), 0), "29,795,810.0");
    }
}
