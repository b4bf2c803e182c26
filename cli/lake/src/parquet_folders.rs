//! The tables of a trace as folders of Parquet files.

use std::process::ExitCode;
use std::sync::Arc;

use trackway_answers::export::ExportArguments;
use trackway_answers::failure::Failure;
use trackway_answers::progress::{stored_bytes, with_polled_bar};
use trackway_answers::{output, processors, soundness};
use trackway_arrow::{Relation, TraceTables};
use trackway_query::{export, relations, ExportSettings};
use trackway_report::{counted, grouped};
use trackway_trace::Trace;

use crate::query::failed;

/// Writes all tables, or the one that is asked for, and reports how many rows each has.
pub fn write(arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    let folder = arguments.parquet.as_deref();
    let folder = folder.ok_or_else(|| Failure::new("name a folder with --parquet"))?;
    let trace = Trace::open(&arguments.trace)?;
    soundness::warnings(&trace).iter().for_each(output::warn);
    let settings = ExportSettings {
        tables: chosen(arguments.table.as_deref())?,
        rows_per_file: arguments.rows.get(),
        threads: arguments.reading.threads.unwrap_or_else(processors::available),
    };
    let total = stored_bytes(&trace);
    let tables = Arc::new(TraceTables::new(trace));
    let read = || tables.decoded().1;
    let exported = with_polled_bar(total, arguments.reading.quiet, &read, || {
        export(&tables, folder, &settings).map_err(failed)
    })?;
    exported.damage.iter().for_each(output::warn);
    if !arguments.reading.quiet {
        for (relation, rows) in &exported.tables {
            output::print(&format!("{:>15}  {}\n", grouped(*rows), relation.name()))?;
        }
        let files = counted(exported.files, "file");
        output::print(&format!("rows in {files} below {}\n", folder.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn chosen(name: Option<&str>) -> Result<Vec<Relation>, Failure> {
    let Some(name) = name else {
        return Ok(relations().collect());
    };
    let found = relations().find(|relation| relation.name() == name);
    let found = found.ok_or_else(|| {
        let names: Vec<&str> = relations().map(Relation::name).collect();
        Failure::new(format!(
            "--table: there is no table {name:?}; there are {}",
            names.join(", ")
        ))
    })?;
    Ok(vec![found])
}
