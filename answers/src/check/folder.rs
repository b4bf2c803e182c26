//! Checks all traces of a folder against budgets.

use std::path::{Path, PathBuf};

use trackway_report::{counted, Report, Table, TableBuilder};
use trackway_trace::traces_in;

use super::budget::BudgetFile;
use super::github::Annotation;
use super::verdict::{self, Verdict};
use super::{checked, CheckArguments, Checked, Outcome, BROKEN, HOLDS};
use crate::failure::{Failure, ERROR};
use crate::input::Input;

/// A trace with the result of its budgets, or the reason why that isn't known.
struct Row {
    trace: PathBuf,
    result: Result<Checked, Failure>,
}

impl Row {
    fn verdicts(&self) -> &[Verdict] {
        self.result.as_ref().map_or(&[], |checked| &checked.verdicts)
    }

    fn broken(&self) -> usize {
        self.result.as_ref().map_or(0, Checked::broken)
    }

    fn answer(&self) -> String {
        match (&self.result, self.broken()) {
            (Err(failure), _) => format!("could not be checked: {failure}"),
            (Ok(_), 0) => "all hold".into(),
            (Ok(_), _) => "broken".into(),
        }
    }
}

/// Checks each trace, and goes on after those that can't be.
pub fn check(arguments: &CheckArguments, path: &Path, file: &BudgetFile) -> Result<Outcome, Failure> {
    let traces = traces_in(&arguments.trace)?;
    if traces.is_empty() {
        return Err(Failure::about(
            &arguments.trace,
            "the folder has no traces; they are files named *.trackway",
        ));
    }
    let slice = arguments.slice.request();
    let rows = traces.into_iter().map(|trace| Row {
        result: Input::open_accesses(&trace, &slice).and_then(|input| checked(arguments, path, file, &input)),
        trace,
    });
    let rows: Vec<Row> = rows.collect();
    let failed = rows.iter().filter(|row| row.result.is_err()).count();
    let broken = rows.iter().filter(|row| row.broken() > 0).count();
    let report = Report {
        answer: format!(
            "{}: {broken} with broken budgets, {failed} could not be checked",
            counted(rows.len() as u64, "trace")
        ),
        warnings: rows.iter().flat_map(warnings).collect(),
        tables: std::iter::once(summary(&rows))
            .chain(rows.iter().filter_map(budgets))
            .collect(),
    };
    let status = match (failed, broken) {
        (0, 0) => HOLDS,
        (0, _) => BROKEN,
        _ => ERROR,
    };
    Ok(Outcome {
        report,
        status,
        annotations: rows.iter().flat_map(annotations).collect(),
    })
}

fn annotations(row: &Row) -> Vec<Annotation> {
    let about = format!("{}: ", row.trace.display());
    match &row.result {
        Ok(checked) => checked.annotations(&about),
        Err(failure) => vec![Annotation::without_place(true, format!("{about}{failure}"))],
    }
}

fn warnings(row: &Row) -> Vec<String> {
    let reports = row.result.as_ref().map_or(&[][..], |checked| &checked.reports);
    let warnings = reports.first().into_iter().flat_map(|report| &report.warnings);
    warnings
        .map(|warning| format!("{}: {warning}", row.trace.display()))
        .collect()
}

fn summary(rows: &[Row]) -> Table {
    TableBuilder::new("traces", "Traces", rows)
        .path("trace", |row| row.trace.display().to_string())
        .count("budgets", |row| row.verdicts().len())
        .count("broken", |row| row.broken())
        .source("result", |row| Some(row.answer()))
        .build()
}

fn budgets(row: &Row) -> Option<Table> {
    let table = verdict::table(&row.result.as_ref().ok()?.verdicts);
    let title = format!("{}: {}", row.trace.display(), table.title());
    Some(table.titled(title))
}
