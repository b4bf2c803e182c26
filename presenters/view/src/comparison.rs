//! What changed from another trace to the one that the page is about.

use std::path::Path;

use trackway_answers::diff::{self, DiffArguments};
use trackway_answers::failure::Failure;
use trackway_answers::questions::options_from;
use trackway_answers::reading::require_accesses;
use trackway_report::{Report, Table, TableBuilder};
use trackway_trace::Trace;

use crate::arguments::ViewArguments;
use crate::first::common_model;

/// Tables that are compared, of accesses, of counts and of samples.
const ACCESSES: &str = "--by=field,variable,line,function";
const COUNTS: &str = "--by=field,line";
const SAMPLES: &str = "--analysis=objects";

/// The answer of `trackway diff`, with the options that both verbs have.
///
/// # Errors
/// If the other trace can't be read, or holds nothing that can be compared.
pub fn comparison(arguments: &ViewArguments, before: &Path, after: &Trace) -> Result<Report, Failure> {
    let tables = match require_accesses(after).is_ok() {
        true => ACCESSES,
        false if after.holds_only_counts() => COUNTS,
        false => SAMPLES,
    };
    let words = [tables.to_owned(), format!("--top={}", arguments.rows())];
    let asked: DiffArguments = options_from("diff", &words, &[before.as_os_str(), after.path().as_os_str()])?;
    let mut report = diff::answer(&DiffArguments {
        model: common_model(arguments, after),
        sources: arguments.sources.clone(),
        slice: arguments.slice.clone(),
        reading: arguments.reading.clone(),
        ..asked
    })?;
    report.tables.insert(0, compared(before, after.path()));
    Ok(report)
}

/// Which trace is which.
fn compared(before: &Path, after: &Path) -> Table {
    let name = |path: &Path| path.display().to_string();
    TableBuilder::new("compared", "Compared traces", &[()])
        .text("before", |()| name(before))
        .text(("after", "after, which this page is of"), |()| name(after))
        .as_record()
        .build()
}
