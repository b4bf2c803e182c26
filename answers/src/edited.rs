//! Source lines that may differ from those that were compiled.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use trackway_analysis::sources::{SourceFiles, CHANGED};
use trackway_report::{Report, Table, Unit, Value};
use trackway_trace::Trace;

/// Removes the source texts of files that were changed after they were compiled, since their lines are other ones now.
/// For files without a checksum, the time of their last change decides. Returns the changed files.
pub fn forget_edited_sources(report: &mut Report, trace: &Trace) -> Vec<String> {
    let mut edited = BTreeSet::new();
    for table in &mut report.tables {
        forget_in(table, trace, &mut edited);
    }
    edited.into_iter().collect()
}

fn forget_in(table: &mut Table, trace: &Trace, edited: &mut BTreeSet<String>) {
    let of_unit = |unit| table.columns().find(|column| column.unit() == unit);
    let (Some(file), Some(source)) = (of_unit(Unit::Path), of_unit(Unit::Source)) else {
        return;
    };
    let files = SourceFiles::of(trace, None);
    let name = source.name().to_owned();
    let mut forgotten = vec![false; table.row_count()];
    for (row, forgotten) in forgotten.iter_mut().enumerate() {
        // A file is looked at only if one of its lines is quoted.
        let (Value::Text(file), Value::Text(line)) = (file.value(row), source.value(row)) else {
            continue;
        };
        let by_time = || !files.has_checksum(file) && is_edited(file, trace);
        *forgotten = line == CHANGED || edited.contains(file) || by_time();
        if *forgotten {
            edited.insert(file.to_owned());
        }
    }
    *table = table.without_texts(&name, |row| forgotten[row]);
}

fn is_edited(file: &str, trace: &Trace) -> bool {
    let meta = trace.meta();
    let recorded = SystemTime::UNIX_EPOCH + Duration::from_nanos(meta.start_unix_ns);
    let path = Path::new(&meta.working_directory).join(file);
    let changed = fs::metadata(path).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| changed > recorded)
}
