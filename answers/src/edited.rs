//! Source lines that may not be those that were compiled.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use trackway_report::{Report, Table, Unit, Value};
use trackway_trace::Trace;

/// Takes the source texts of files out that were changed after the recording began: they are other lines now. Returns
/// the files.
pub fn forget_edited_sources(report: &mut Report, trace: &Trace) -> Vec<String> {
    let meta = trace.meta();
    let recorded = SystemTime::UNIX_EPOCH + Duration::from_nanos(meta.start_unix_ns);
    let folder = Path::new(&meta.working_directory);
    let mut files: HashMap<String, bool> = HashMap::new();
    for table in &mut report.tables {
        forget_in(table, |file| {
            let is_edited = || is_edited(&folder.join(file), recorded);
            *files.entry(file.to_owned()).or_insert_with(is_edited)
        });
    }
    let edited = files.into_iter().filter(|(_, edited)| *edited);
    let mut edited: Vec<String> = edited.map(|(file, _)| file).collect();
    edited.sort();
    edited
}

fn forget_in(table: &mut Table, mut is_edited: impl FnMut(&str) -> bool) {
    let of_unit = |unit| table.columns().find(|column| column.unit() == unit);
    let (Some(file), Some(source)) = (of_unit(Unit::Path), of_unit(Unit::Source)) else {
        return;
    };
    let name = source.name().to_owned();
    let forgotten: Vec<bool> = (0..table.row_count())
        .map(|row| match file.value(row) {
            Value::Text(file) => is_edited(file),
            _ => false,
        })
        .collect();
    *table = table.without_texts(&name, |row| forgotten[row]);
}

fn is_edited(file: &Path, recorded: SystemTime) -> bool {
    let changed = fs::metadata(file).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| changed > recorded)
}
