//! A budget file for what a trace has now.

use std::collections::HashMap;

use trackway_report::{Report, Table};

use super::values::complete_table;

/// Numbers that make good budgets, in this order.
const MEASURES: [&str; 7] = [
    "accesses",
    "bytes",
    "l1_misses",
    "l2_misses",
    "l3_misses",
    "l4_misses",
    "tlb_misses",
];

/// Begins a budget.
pub const BUDGET: &str = "[[budget]]";

/// What a budget file says before its budgets, so that a check measures the same.
pub struct Basis {
    pub caches: Option<String>,
    pub line_bytes: Option<u32>,
    /// Options that choose what was measured, with a space before each word.
    pub slice: String,
}

/// TOML with limits at the present values plus `margin`: for the whole program, and for the `top` fields by the number that
/// ranks them. A budget's name stands for all rows of that name, so it is written once, with their sum.
///
/// # Errors
/// If a report lacks rows.
pub fn proposal(reports: &[Report], basis: &Basis, margin: f64, top: usize) -> Result<String, String> {
    let mut text = format!(
        "# Limits: what was measured, plus {} %.\n# Check with: trackway check TRACE --budget THIS_FILE{}\n",
        (margin * 1000.0).round() / 10.0,
        basis.slice.replace(char::is_control, " ")
    );
    if let Some(caches) = &basis.caches {
        text += &format!("cache = {}\n", quoted(caches));
    }
    if let Some(bytes) = basis.line_bytes {
        text += &format!("line-size = {bytes}\n");
    }
    for report in reports {
        let table = complete_table(report, "fields")?;
        let measures: Vec<&str> = match table.column("read_hand_overs") {
            Some(_) => vec!["read_hand_overs", "write_hand_overs"],
            None => MEASURES
                .into_iter()
                .filter(|name| table.column(name).is_some())
                .collect(),
        };
        for measure in &measures {
            text += &entry(None, measure, with_margin(total(table, measure), margin));
        }
        let ranked_by = table.ranked_by().map_or(measures, |column| vec![column]);
        for (field, sums) in sums_by_name(table, &ranked_by).into_iter().take(top) {
            for (measure, sum) in ranked_by.iter().zip(sums) {
                text += &entry(Some(field), measure, with_margin(sum, margin));
            }
        }
    }
    Ok(text)
}

/// For each name among the fields, the sums of the measures over all of its rows. The largest come first, else the
/// table's order is kept.
fn sums_by_name<'t>(table: &'t Table, measures: &[&str]) -> Vec<(&'t str, Vec<u64>)> {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut fields: Vec<(&str, Vec<u64>)> = Vec::new();
    for row in 0..table.row_count() {
        let Some(field) = table.text("field", row) else {
            continue;
        };
        let position = *positions.entry(field).or_insert_with(|| {
            fields.push((field, vec![0; measures.len()]));
            fields.len() - 1
        });
        for (sum, measure) in fields[position].1.iter_mut().zip(measures) {
            *sum = sum.saturating_add(number(table, measure, row));
        }
    }
    fields.sort_by(|(_, a), (_, b)| b.first().cmp(&a.first()));
    fields
}

fn entry(field: Option<&str>, measure: &str, max: u64) -> String {
    let field = field.map_or(String::new(), |field| format!("field = {}\n", quoted(field)));
    format!("\n{BUDGET}\n{field}measure = \"{measure}\"\nmax = {max}\n")
}

/// TOML's integers are signed.
fn with_margin(value: u64, margin: f64) -> u64 {
    let more = (value as f64 * margin).ceil() as u64;
    value.saturating_add(more).min(i64::MAX as u64)
}

fn total(table: &Table, measure: &str) -> u64 {
    (0..table.row_count()).fold(0, |sum, row| sum.saturating_add(number(table, measure, row)))
}

fn number(table: &Table, measure: &str, row: usize) -> u64 {
    table.integer(measure, row).unwrap_or(0)
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' | '\\' => format!("\\{character}"),
        control if control.is_control() => format!("\\u{:04X}", control as u32),
        other => other.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::budget::BudgetFile;
    use crate::check::verdict::{verdicts, Verdict};
    use proptest::prelude::*;
    use trackway_report::TableBuilder;

    /// Fields with accesses and misses, ranked by the latter.
    fn report(rows: &[(String, u64, u64)], total_rows: usize) -> Report {
        let table = TableBuilder::new("fields", "Fields", rows)
            .total_rows(total_rows)
            .ranked_by("l2_misses")
            .text("field", |row| row.0.clone())
            .count("accesses", |row| row.1)
            .count(("l2_misses", "misses"), |row| row.2)
            .build();
        Report {
            answer: String::new(),
            warnings: Vec::new(),
            tables: vec![table],
        }
    }

    fn transfers(rows: &[(String, u64, u64)]) -> Report {
        let table = TableBuilder::new("fields", "Fields", rows)
            .text("field", |row| row.0.clone())
            .count(("read_hand_overs", "to read"), |row| row.1)
            .count(("write_hand_overs", "to write"), |row| row.2);
        Report {
            tables: vec![table.build()],
            ..report(&[], 0)
        }
    }

    fn written(text: &str) -> BudgetFile {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("budget.toml");
        std::fs::write(&path, text).unwrap();
        BudgetFile::read(&path).unwrap()
    }

    fn basis(caches: Option<&str>, line_bytes: Option<u32>) -> Basis {
        Basis {
            caches: caches.map(str::to_owned),
            line_bytes,
            slice: String::new(),
        }
    }

    #[test]
    fn what_is_proposed_can_be_read() {
        let rows = [("std::map<\"a\\b\">.\u{7f}x", 3, 100), ("y", 4, 7)];
        let rows = rows.map(|(name, accesses, misses)| (name.to_owned(), accesses, misses));
        let basis = basis(Some("L1=1K,1,64"), Some(128));
        let file = written(&proposal(&[report(&rows, 2)], &basis, 0.1, 1).unwrap());
        assert_eq!(
            (file.cache.as_deref(), file.line_size),
            (Some("L1=1K,1,64"), Some(128))
        );
        let budgets: Vec<_> = file
            .budgets
            .iter()
            .map(|budget| (budget.field.as_deref(), budget.max))
            .collect();
        let first = Some(rows[0].0.as_str());
        assert_eq!(budgets, [(None, Some(8)), (None, Some(118)), (first, Some(110))]);
    }

    #[test]
    fn a_name_has_one_budget() {
        let row = |name: &str, misses: u64| (name.to_owned(), misses, misses);
        let rows = [row("(unknown)", 5), row("x", 6), row("(unknown)", 4)];
        let file = written(&proposal(&[report(&rows, 3)], &basis(None, None), 0.0, 1).unwrap());
        let fields = file.budgets.iter().filter(|budget| budget.field.is_some());
        let fields: Vec<_> = fields
            .map(|budget| (budget.field.as_deref(), budget.max))
            .collect();
        assert_eq!(fields, [(Some("(unknown)"), Some(9))]);
        assert!(
            proposal(&[report(&rows, 4)], &basis(None, None), 0.0, 1).is_err(),
            "rows are missing"
        );
    }

    fn rows() -> impl Strategy<Value = Vec<(String, u64, u64)>> {
        let name = prop_oneof![Just("(unknown)".to_owned()), "[a-c]", ".{0,3}"];
        proptest::collection::vec((name, 0u64..1 << 40, 0u64..1000), 0..12)
    }

    proptest! {
        #[test]
        fn what_is_proposed_holds(rows in rows(), shared in rows(), margin in 0.0..2.0f64, top in 0usize..14) {
            let names: Vec<&String> = rows.iter().map(|row| &row.0).collect();
            let shared: Vec<_> = shared.into_iter().filter(|row| names.contains(&&row.0)).collect();
            let reports = [report(&rows, rows.len()), transfers(&shared)];
            let file = written(&proposal(&reports, &basis(None, None), margin, top).unwrap());
            for budget in &file.budgets {
                let found = verdicts(budget, &reports, None).unwrap();
                prop_assert!(found.iter().all(Verdict::holds), "{budget:?}");
            }
        }
    }
}
