//! Which source files are quoted.

use std::path::{Path, PathBuf};

use clap::Args;

/// Where lines of source come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct SourceArguments {
    /// Also look for source files below DIR, by the end of their path; those that the trace has no checksum of are quoted
    /// below DIR only [default: below the present folder]
    #[arg(long, value_name = "DIR", value_parser = folder)]
    source_root: Option<PathBuf>,
}

impl SourceArguments {
    pub fn root(&self) -> Option<&Path> {
        self.source_root.as_deref()
    }
}

fn folder(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text)
        .canonicalize()
        .map_err(|error| error.to_string())?;
    match path.is_dir() {
        true => Ok(path),
        false => Err("this is no folder".into()),
    }
}
