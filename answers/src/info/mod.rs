//! `trackway info`.

mod allocations;
mod counts;
mod instrumentation;
mod marks;
mod program;
mod trace;

pub use program::SECTION as TABLES_SECTION;
pub use trace::report as report_on_trace;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;
use crate::output;

const ELF_MAGIC: &[u8] = b"\x7fELF";

/// Show what a program records, or what a trace holds
///
/// Of a program, shared object or object file: its instrumented modules, functions and sites, how many accesses are
/// recorded, left out on request or not recordable, and how many have a variable, a type, a line. Of a trace: how it
/// was recorded, whether it is whole, and its streams.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  trackway info ./prog\n  trackway info prog.trackway\n  \
                        trackway info --json prog.trackway"
)]
pub struct InfoArguments {
    /// A program or a trace
    pub file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub quiet: output::QuietArgument,
}

pub fn run(arguments: &InfoArguments) -> Result<ExitCode, Failure> {
    let path = &arguments.file;
    let report = if is_elf(path)? {
        program::describe(path)?
    } else {
        trace::describe(path)?
    };
    output::print_report(&report, arguments.json)?;
    Ok(ExitCode::SUCCESS)
}

fn is_elf(path: &Path) -> Result<bool, Failure> {
    let mut magic = Vec::new();
    let file = File::open(path).map_err(|error| Failure::about(path, error))?;
    file.take(ELF_MAGIC.len() as u64)
        .read_to_end(&mut magic)
        .map_err(|error| Failure::about(path, error))?;
    Ok(magic == ELF_MAGIC)
}
