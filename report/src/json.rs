//! JSON: every table with its columns' titles and units, rows as objects.

use serde_json::{json, Map, Value as Json};

use crate::{Layout, Report, Table, Value};

/// The report: `answer`, `warnings` and `tables`.
pub fn report_to_json(report: &Report) -> Json {
    json!({
        "answer": report.answer,
        "warnings": report.warnings,
        "tables": report.tables.iter().map(to_json).collect::<Vec<_>>(),
    })
}

/// The table: `name`, `title`, `layout` (rows or record), `total_rows` (of which `rows` are the top), `ranked_by` (a
/// column, or null), `columns` (name, title, unit) and `rows`. Shares are fractions of 1; unknown values
/// are null.
pub fn to_json(table: &Table) -> Json {
    let columns: Vec<Json> = table
        .columns()
        .map(|column| json!({"name": column.name(), "title": column.title(), "unit": column.unit().name()}))
        .collect();
    let rows: Vec<Json> = (0..table.row_count()).map(|row| row_object(table, row)).collect();
    json!({
        "name": table.name(),
        "title": table.title(),
        "layout": layout_name(table.layout()),
        "total_rows": table.total_rows(),
        "ranked_by": table.ranked_by(),
        "columns": columns,
        "rows": rows,
    })
}

pub(crate) fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Rows => "rows",
        Layout::Record => "record",
    }
}

fn row_object(table: &Table, row: usize) -> Json {
    let cells: Map<String, Json> = table
        .columns()
        .map(|column| (column.name().to_owned(), column.value(row).into()))
        .collect();
    Json::Object(cells)
}

impl From<Value<'_>> for Json {
    fn from(value: Value) -> Json {
        match value {
            Value::None => Json::Null,
            Value::Text(text) => text.into(),
            Value::Integer(number) => number.into(),
            Value::Signed(number) => number.into(),
            Value::Real(number) => number.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample;

    #[test]
    fn a_report_holds_its_tables() {
        let report = Report {
            answer: "arc.ident".into(),
            warnings: vec!["a gap".into()],
            tables: vec![sample()],
        };
        let json = report_to_json(&report);
        assert_eq!(json["answer"], "arc.ident");
        assert_eq!(json["warnings"][0], "a gap");
        let table = &json["tables"][0];
        assert_eq!(
            table["columns"][3],
            json!({"name": "share", "title": "share of misses", "unit": "share"})
        );
        assert_eq!(
            table["rows"][0],
            json!({"field": "arc.ident", "line": 123, "accesses": 4567890, "share": 0.75,
                   "source": "if (arc->ident > BASIC)"})
        );
        assert_eq!(table["rows"][1]["share"], Json::Null);
    }
}
