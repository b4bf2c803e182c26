//! Tables as Parquet files.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use trackway_report::{to_parquet, Report};

use crate::failure::Failure;
use crate::output;

/// Where tables go besides standard output.
#[derive(Debug, Clone, Default, Args)]
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
        for table in &report.tables {
            let path = folder.join(format!("{}.parquet", table.name()));
            let content = to_parquet(table).map_err(|error| Failure::about(&path, error))?;
            output::write_new_file(&path, &content, "exists already; name another folder")?;
        }
        Ok(())
    }
}
