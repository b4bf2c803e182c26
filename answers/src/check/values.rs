//! Numbers of reports that budgets are compared with.

use trackway_analysis::site_counts::Grouping;
use trackway_report::{Report, Table};

use super::budget::Subject;

/// A number of a subject, and the whole program's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    pub part: u64,
    pub whole: u64,
}

/// Looks the number up in the first report that has it. The first report with a table says what exists: a subject that
/// another report leaves out has 0 there.
pub fn measured(reports: &[Report], subject: &Subject, measure: &str) -> Result<Measured, String> {
    let report = report_with(reports, "fields", measure)?;
    let whole = sum(complete_table(report, "fields")?, measure, |_| true);
    let Subject::Rows { by, name, function } = subject else {
        return Ok(Measured { part: whole, whole });
    };
    let (table_name, column) = table_and_column(*by);
    let is_subject = |table: &Table, row: usize| {
        is(table, column, row, name)
            && function
                .as_ref()
                .is_none_or(|function| is(table, "function", row, function))
    };
    let exists = reports
        .iter()
        .filter_map(|report| table(report, table_name))
        .any(|table| (0..table.row_count()).any(|row| is_subject(table, row)));
    let table = complete_table(report, table_name)?;
    if !exists {
        return Err(format!(
            "there is no {subject} among the {table_name}; `trackway report --by {} --top 0` shows the names",
            by_name(*by)
        ));
    }
    let part = sum(table, measure, |row| is_subject(table, row));
    Ok(Measured { part, whole })
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u64,
}

/// Where the program has most of a subject's number; none if the reports have no table of sites. A variable of a structure's
/// type has no place, since sites go by their fields.
pub fn place(reports: &[Report], subject: &Subject, measure: &str) -> Option<Place> {
    let sites = table(report_with_table(reports, "sites", measure)?, "sites")?;
    let number = |row| sum(sites, measure, |other| other == row);
    let mut rows = (0..sites.row_count()).filter(|row| is_site_of(sites, *row, subject));
    let first = rows.next()?;
    let row = rows.fold(
        first,
        |most, row| if number(row) > number(most) { row } else { most },
    );
    Some(Place {
        file: sites
            .text("file", row)
            .filter(|file| !file.is_empty())?
            .to_owned(),
        line: sites.integer("line", row).filter(|line| *line > 0)?,
    })
}

fn is_site_of(sites: &Table, row: usize, subject: &Subject) -> bool {
    let Subject::Rows { by, name, function } = subject else {
        return true;
    };
    let is_in = |function: &String| is(sites, "function", row, function);
    let field = sites.text("field", row).unwrap_or_default();
    function.as_ref().is_none_or(is_in)
        && match by {
            Grouping::Type => {
                let member = field.strip_prefix(name.as_str());
                member.is_some_and(|member| member.is_empty() || member.starts_with('.'))
            }
            Grouping::Variable => field == name,
            by => is(sites, table_and_column(*by).1, row, name),
        }
}

fn report_with_table<'r>(reports: &'r [Report], name: &str, measure: &str) -> Option<&'r Report> {
    reports.iter().find(|report| {
        let table = table(report, name);
        table.is_some_and(|table| {
            columns(measure)
                .iter()
                .all(|column| table.column(column).is_some())
        })
    })
}

fn report_with<'r>(reports: &'r [Report], name: &str, measure: &str) -> Result<&'r Report, String> {
    report_with_table(reports, name, measure).ok_or_else(|| {
        format!(
            "there is no number {measure}; there are accesses, bytes, hand_overs, and l1_misses and so on for each \
             level of the caches"
        )
    })
}

fn table<'r>(report: &'r Report, name: &str) -> Option<&'r Table> {
    report.tables.iter().find(|table| table.name() == name)
}

pub fn complete_table<'r>(report: &'r Report, name: &str) -> Result<&'r Table, String> {
    let table = table(report, name).ok_or_else(|| format!("the report has no table {name}"))?;
    match table.row_count() < table.total_rows() {
        true => Err(format!(
            "the report has not all rows of {name}; save it with --top 0"
        )),
        false => Ok(table),
    }
}

/// The columns whose sum is the measure.
fn columns(measure: &str) -> Vec<&str> {
    match measure {
        "hand_overs" => vec!["read_hand_overs", "write_hand_overs"],
        other => vec![other],
    }
}

fn sum(table: &Table, measure: &str, is_counted: impl Fn(usize) -> bool) -> u64 {
    let columns: Vec<_> = columns(measure)
        .into_iter()
        .filter_map(|name| table.column(name))
        .collect();
    let rows = (0..table.row_count()).filter(|row| is_counted(*row));
    let numbers = rows.flat_map(|row| columns.iter().filter_map(move |column| column.integer(row)));
    numbers.fold(0, u64::saturating_add)
}

fn is(table: &Table, column: &str, row: usize, name: &str) -> bool {
    table.text(column, row) == Some(name)
}

fn table_and_column(by: Grouping) -> (&'static str, &'static str) {
    match by {
        Grouping::Variable => ("variables", "variable"),
        Grouping::Type => ("types", "type"),
        Grouping::Function => ("functions", "function"),
        Grouping::File => ("files", "file"),
        _ => ("fields", "field"),
    }
}

fn by_name(by: Grouping) -> &'static str {
    table_and_column(by).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::TableBuilder;

    fn report(table: Table) -> Report {
        Report {
            answer: String::new(),
            warnings: Vec::new(),
            tables: vec![table],
        }
    }

    fn reports(total_rows: usize) -> [Report; 2] {
        let counts = TableBuilder::new("fields", "Fields", &[("a.x", 5), ("a.y", 7)])
            .total_rows(total_rows)
            .text("field", |row| row.0)
            .count("accesses", |row| row.1);
        let transfers = TableBuilder::new("fields", "Fields", &[("a.x", 2)])
            .text("field", |row| row.0)
            .count(("read_hand_overs", "to read"), |row| row.1)
            .count(("write_hand_overs", "to write"), |row| 10 * row.1);
        [report(counts.build()), report(transfers.build())]
    }

    fn field(name: &str) -> Subject {
        Subject::Rows {
            by: Grouping::Field,
            name: name.into(),
            function: None,
        }
    }

    #[test]
    fn numbers_come_from_the_report_that_has_them() {
        let of = |subject: &Subject, measure| {
            let measured = measured(&reports(2), subject, measure)?;
            Ok::<_, String>((measured.part, measured.whole))
        };
        assert_eq!(of(&field("a.x"), "accesses"), Ok((5, 12)));
        assert_eq!(of(&Subject::Program, "accesses"), Ok((12, 12)));
        assert_eq!(of(&field("a.x"), "hand_overs"), Ok((22, 22)));
        assert_eq!(of(&field("a.x"), "write_hand_overs"), Ok((20, 20)));
        assert_eq!(
            of(&field("a.y"), "hand_overs"),
            Ok((0, 22)),
            "it is there, but not shared"
        );
        assert!(of(&field("a.z"), "accesses")
            .unwrap_err()
            .contains("no a.z among the fields"));
        assert!(of(&field("a.z"), "hand_overs").is_err());
        assert!(of(&field("a.x"), "l9_misses")
            .unwrap_err()
            .contains("no number l9_misses"));
    }

    #[test]
    fn a_place_is_that_of_the_site_with_most() {
        let rows = [
            ("t.x", 3, 5),
            ("t.y", 9, 8),
            ("t.x", 4, 7),
            ("t", 5, 1),
            ("tt.x", 6, 9),
        ];
        let sites = TableBuilder::new("sites", "Sites", &rows)
            .text("field", |row| row.0)
            .path("file", |_| "a.c")
            .number("line", |row| row.1)
            .text("function", |_| "main")
            .count("l2_misses", |row| row.2);
        let reports = [report(sites.build())];
        let line = |subject: &Subject| place(&reports, subject, "l2_misses").map(|place| place.line);
        let by = |by, name: &str| Subject::Rows {
            by,
            name: name.into(),
            function: None,
        };
        assert_eq!(line(&field("t.x")), Some(4));
        assert_eq!(line(&by(Grouping::Type, "t")), Some(9));
        assert_eq!(line(&by(Grouping::Function, "main")), Some(6));
        assert_eq!(line(&by(Grouping::Variable, "t")), Some(5));
        assert_eq!(line(&by(Grouping::Variable, "other")), None);
        assert_eq!(line(&Subject::Program), Some(6));
        assert_eq!(place(&reports, &Subject::Program, "l1_misses"), None);
    }

    #[test]
    fn cut_tables_are_refused() {
        assert!(measured(&reports(3), &field("a.x"), "accesses")
            .unwrap_err()
            .contains("--top 0"));
    }
}
