//! Samples as time series in files.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use trackway_analysis::regions::live::{series, Sample};
use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_report::{to_csv, to_parquet};
use trackway_trace::{Existing, OutputFile};

use crate::arguments::ViewArguments;

#[derive(Default)]
pub struct Files {
    csv: Option<(PathBuf, File)>,
    /// The file is written at the end, from all samples.
    parquet: Option<(PathBuf, Existing, Vec<Sample>)>,
}

impl Files {
    /// Creates the files, so that obstacles are known before the program runs. CSV can be read while it grows.
    pub fn create(arguments: &ViewArguments) -> Result<Self, Failure> {
        let mut files = Files::default();
        let existing = Existing::with_force(arguments.force);
        if let Some(path) = &arguments.csv {
            let mut file = OutputFile::create(path, existing)?;
            let headings = to_csv(&series(&[], 0, true));
            let written = file.write_all(headings.as_bytes());
            written.map_err(|error| Failure::about(path, error))?;
            files.csv = Some((path.clone(), file.publish()?));
        }
        if let Some(path) = &arguments.parquet {
            OutputFile::check(path, existing)?;
            files.parquet = Some((path.clone(), existing, Vec::new()));
        }
        Ok(files)
    }

    pub fn write(&mut self, sample: &Sample, begin_ns: u64, with_bytes: bool) -> Result<(), Failure> {
        if let Some((path, file)) = &mut self.csv {
            let text = to_csv(&series(std::slice::from_ref(sample), begin_ns, with_bytes));
            let rows = text.split_once('\n').map_or("", |(_, rows)| rows);
            let written = file.write_all(rows.as_bytes());
            written.map_err(|error| Failure::about(path, error))?;
        }
        if let Some((.., samples)) = &mut self.parquet {
            samples.push(sample.clone());
        }
        Ok(())
    }

    pub fn finish(self, begin_ns: u64, with_bytes: bool) -> Result<(), Failure> {
        let Some((path, existing, samples)) = self.parquet else {
            return Ok(());
        };
        let content = to_parquet(&series(&samples, begin_ns, with_bytes));
        let content = content.map_err(|error| Failure::about(&path, error))?;
        output::write_file(&path, &content, existing)
    }
}
