//! Reads reports that were saved as JSON.

use std::fmt;

use serde_json::Value as Json;

use crate::json::layout_name;
use crate::{Layout, Report, Table, TableBuilder, Unit};

/// Why a text is not a saved report.
#[derive(Debug)]
pub struct SavedReportError(String);

impl fmt::Display for SavedReportError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(
            formatter,
            "not a report as --json prints it: {}; save one with `trackway report --json TRACE > FILE`",
            self.0
        )
    }
}

impl std::error::Error for SavedReportError {}

/// The report that [`crate::report_to_json`] has written.
pub fn saved_report(text: &str) -> Result<Report, SavedReportError> {
    let json: Json = serde_json::from_str(text).map_err(|error| SavedReportError(error.to_string()))?;
    let tables = array(&json, "tables")?.iter().map(table);
    let warnings = array(&json, "warnings")?.iter().filter_map(Json::as_str);
    Ok(Report {
        answer: text_of(&json, "answer")?.to_owned(),
        warnings: warnings.map(str::to_owned).collect(),
        tables: tables.collect::<Result<_, _>>()?,
    })
}

fn table(json: &Json) -> Result<Table, SavedReportError> {
    let rows = array(json, "rows")?;
    let mut builder = TableBuilder::new(text_of(json, "name")?, text_of(json, "title")?, rows);
    let columns = array(json, "columns")?;
    if columns.is_empty() {
        return Err(SavedReportError("a table without columns".into()));
    }
    for column in columns {
        builder = add_column(builder, rows, column)?;
    }
    if json["layout"] == layout_name(Layout::Record) {
        builder = builder.as_record();
    }
    if let Some(total) = json["total_rows"].as_u64() {
        builder = builder.total_rows(total as usize);
    }
    if let Some(column) = json["ranked_by"].as_str() {
        builder = builder.ranked_by(column);
    }
    Ok(builder.build())
}

/// Adds a column of the type that its cells have.
fn add_column<'a>(
    builder: TableBuilder<'a, Json>,
    rows: &[Json],
    column: &Json,
) -> Result<TableBuilder<'a, Json>, SavedReportError> {
    let name = text_of(column, "name")?;
    let heading = (name, text_of(column, "title")?);
    let unit = Unit::from_name(text_of(column, "unit")?);
    let all = |fits: fn(&Json) -> bool| {
        rows.iter()
            .map(|row| &row[name])
            .all(|cell| cell.is_null() || fits(cell))
    };
    Ok(match unit {
        Some(unit @ (Unit::Share | Unit::Rate | Unit::Ratio)) if all(Json::is_number) => {
            builder.real(heading, unit, |row| row[name].as_f64())
        }
        Some(Unit::Change) if all(Json::is_i64) => builder.change(heading, |row| row[name].as_i64()),
        Some(unit) if unit.is_text() && all(Json::is_string) => {
            builder.texts(heading, unit, |row| row[name].as_str().map(str::to_owned))
        }
        _ if all(Json::is_u64) => {
            let unit = unit.unwrap_or(Unit::Number);
            builder.whole(heading, unit, |row| row[name].as_u64())
        }
        _ if all(Json::is_number) => {
            let unit = unit.unwrap_or(Unit::Rate);
            builder.real(heading, unit, |row| row[name].as_f64())
        }
        _ if all(Json::is_string) => {
            builder.texts(heading, Unit::Text, |row| row[name].as_str().map(str::to_owned))
        }
        _ => {
            return Err(SavedReportError(format!(
                "column {name} has cells of several types"
            )))
        }
    })
}

fn array<'j>(json: &'j Json, name: &str) -> Result<&'j [Json], SavedReportError> {
    let values = json[name].as_array();
    Ok(values.ok_or_else(|| SavedReportError(format!("no list `{name}`")))?)
}

fn text_of<'j>(json: &'j Json, name: &str) -> Result<&'j str, SavedReportError> {
    json[name]
        .as_str()
        .ok_or_else(|| SavedReportError(format!("no text `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report_to_json;
    use crate::table::tests::sample;

    #[test]
    fn a_report_survives_its_json() {
        let record = TableBuilder::new("audit", "Audit", &[()])
            .count("accesses", |()| u64::MAX)
            .change("change", |()| Some(i64::MIN))
            .ratio("ratio", |()| None)
            .as_record()
            .build();
        let report = Report {
            answer: "arc.ident".into(),
            warnings: vec!["a gap".into()],
            tables: vec![sample(), record],
        };
        let json = report_to_json(&report);
        let again = saved_report(&json.to_string()).unwrap();
        assert_eq!(report_to_json(&again), json);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "{}",
            "[]",
            r#"{"answer": "", "warnings": [], "tables": [{}]}"#,
            r#"{"answer": "", "warnings": [], "tables": [{"name": "a", "title": "A", "rows": [], "columns": []}]}"#,
            r#"{"answer": "", "warnings": [], "tables": [{"name": "a", "title": "A", "rows": [{"x": 1}, {"x": "y"}],
                "columns": [{"name": "x", "title": "x", "unit": "count"}]}]}"#,
        ] {
            assert!(saved_report(text).is_err(), "{text}");
        }
    }
}
