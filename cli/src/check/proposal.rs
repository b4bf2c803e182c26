//! A budget file for what a trace has now.

use trackway_report::{Report, Table, Value};

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

/// TOML with limits at the present values plus `margin`: for the whole program, and for the `top` fields by the number that
/// ranks them.
pub fn proposal(reports: &[Report], caches: Option<&str>, margin: f64, top: usize) -> String {
    let mut text = format!(
        "# Limits: what was measured, plus {} %.\n# Check with: trackway check TRACE --budget THIS_FILE\n",
        (margin * 1000.0).round() / 10.0
    );
    if let Some(caches) = caches {
        text += &format!("cache = {}\n", quoted(caches));
    }
    let tables = reports
        .iter()
        .filter_map(|report| report.tables.iter().find(|table| table.name() == "fields"));
    for table in tables {
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
        for row in 0..table.row_count().min(top) {
            let Some(Value::Text(field)) = table.column("field").map(|column| column.value(row)) else {
                continue;
            };
            for measure in &ranked_by {
                text += &entry(
                    Some(field),
                    measure,
                    with_margin(number(table, measure, row), margin),
                );
            }
        }
    }
    text
}

fn entry(field: Option<&str>, measure: &str, max: u64) -> String {
    let field = field.map_or(String::new(), |field| format!("field = {}\n", quoted(field)));
    format!("\n[[budget]]\n{field}measure = \"{measure}\"\nmax = {max}\n")
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
    match table.column(measure).map(|column| column.value(row)) {
        Some(Value::Integer(number)) => number,
        _ => 0,
    }
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
    use trackway_report::{TableBuilder, Unit};

    #[test]
    fn what_is_proposed_can_be_read() {
        let rows = [("std::map<\"a\\b\">.\u{7f}x", 100), ("y", 7)];
        let table = TableBuilder::new("fields", "Fields", &rows)
            .ranked_by("accesses")
            .text("field", "field", |row| row.0)
            .integer("accesses", "accesses", Unit::Count, |row| row.1)
            .build();
        let report = Report {
            answer: String::new(),
            warnings: Vec::new(),
            tables: vec![table],
        };
        let text = proposal(&[report], Some("L1=1K,1,64"), 0.1, 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("budget.toml");
        std::fs::write(&path, &text).unwrap();
        let file = BudgetFile::read(&path).unwrap();
        assert_eq!(file.cache.as_deref(), Some("L1=1K,1,64"));
        let budgets: Vec<_> = file
            .budgets
            .iter()
            .map(|budget| (budget.field.as_deref(), budget.max))
            .collect();
        assert_eq!(budgets, [(None, Some(118)), (Some(rows[0].0), Some(110))]);
    }
}
