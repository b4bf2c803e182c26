//! Pictures in files.

use std::path::{Path, PathBuf};

use clap::Args;
use trackway_report::{HeatMap, Report};
use trackway_trace::Existing;

use crate::failure::Failure;
use crate::output;

#[derive(Debug, Clone, Args)]
pub struct PictureArguments {
    /// Write a picture of addresses by time to this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the picture to this file, as PNG; a table says what its pixels are
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,
}

impl PictureArguments {
    /// A file that is asked for, if any is.
    pub fn file(&self) -> Option<&Path> {
        self.svg.as_deref().or(self.png.as_deref())
    }

    /// Writes the files that are asked for, and adds to the report what the pixels are.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn write(&self, picture: &HeatMap, report: &mut Report) -> Result<(), Failure> {
        if let Some(file) = &self.svg {
            output::write_file(file, picture.svg().as_bytes(), Existing::FileReplaced)?;
        }
        if let Some(file) = &self.png {
            let png = picture.png().map_err(|error| Failure::about(file, error))?;
            output::write_file(file, &png, Existing::FileReplaced)?;
            report.tables.insert(0, picture.png_caption());
        }
        Ok(())
    }
}
