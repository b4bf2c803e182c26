//! Tables as Parquet files.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use trackway_report::{to_parquet, Report};
use trackway_trace::output_file::write_whole;
use trackway_trace::Existing;

use crate::failure::Failure;

/// Where tables go besides standard output.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct ParquetArgument {
    /// Also write each table to a Parquet file of its name in this folder
    #[arg(long, value_name = "DIR")]
    pub parquet: Option<PathBuf>,
}

impl ParquetArgument {
    /// Writes the tables, if that is asked for. Files that exist are not replaced.
    pub fn write(&self, report: &Report) -> Result<(), Failure> {
        let Some(folder) = &self.parquet else {
            return Ok(());
        };
        fs::create_dir_all(folder).map_err(|error| Failure::about(folder, error))?;
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for table in &report.tables {
            let count = counts.entry(table.name()).or_default();
            *count += 1;
            let path = folder.join(file_name(table.name(), *count));
            let content = to_parquet(table).map_err(|error| Failure::about(&path, error))?;
            write_whole(&path, &content, Existing::Kept).map_err(|error| match path.exists() {
                true => Failure::about(&path, "exists already; name another folder"),
                false => error.into(),
            })?;
        }
        Ok(())
    }
}

/// A report may have several tables of a name.
fn file_name(table: &str, count: u32) -> String {
    match count {
        1 => format!("{table}.parquet"),
        _ => format!("{table}-{count}.parquet"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::TableBuilder;

    #[test]
    fn tables_of_one_name_have_files_of_their_own() {
        let table = |name: &str| {
            TableBuilder::new(name, "Table", &[7u64])
                .number("number", |row| *row)
                .build()
        };
        let report = Report {
            answer: String::new(),
            warnings: Vec::new(),
            tables: ["members", "pairs", "members"].map(table).into(),
        };
        let folder = tempfile::tempdir().unwrap();
        let argument = ParquetArgument {
            parquet: Some(folder.path().join("tables")),
        };
        argument.write(&report).unwrap();
        for name in ["members.parquet", "members-2.parquet", "pairs.parquet"] {
            assert!(folder.path().join("tables").join(name).exists(), "{name}");
        }
        assert!(argument.write(&report).is_err(), "nothing is replaced");
    }
}
