//! `trackway man`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command};

use crate::failure::Failure;

/// Write the manual pages
///
/// Writes trackway.1 and a page for each verb, such as trackway-record.1, into a folder, which is created.
#[derive(Debug, Args)]
#[command(after_help = "Example: trackway man ~/.local/share/man/man1")]
pub struct ManArguments {
    /// The folder
    pub folder: PathBuf,
}

/// Describes the command line in pages.
pub fn run(arguments: &ManArguments, command_line: Command) -> Result<ExitCode, Failure> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).map_err(|error| Failure::about(folder, error))?;
    clap_mangen::generate_to(command_line, folder).map_err(|error| Failure::about(folder, error))?;
    Ok(ExitCode::SUCCESS)
}
