//! `trackway coverage`: runs a program twice, and compares what was recorded.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use trackway_answers::coverage::coverage;
use trackway_answers::output::{self, OutputArguments};
use trackway_answers::reading::ReadingArguments;
use trackway_driver::Installation;
use trackway_recorder::{record, Output, RecordOptions, RecordSummary};
use trackway_recording::buffer_size;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::failure::Failure;

/// Say what of a compiled program's accesses a recording has
///
/// Runs a program of `trackway cc`, `c++` or `fc` twice: recorded as it was compiled, and under `record --binary`, which
/// sees all machine code, that of libraries included. Says which functions move bytes that the first recording lacks, and
/// where they are called. Standard output of the two runs is compared and not shown. docs/verbs/coverage.md defines each
/// number.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway coverage -- ./prog input.txt\n  \
                        trackway coverage --keep traces/ --top 30 -- ./prog\n  \
                        trackway coverage compiled.trackway binary.trackway")]
pub struct CoverageArguments {
    /// Traces that were recorded already: of the compiled program, and of the same one by `record --binary`
    #[arg(num_args = 2, value_names = ["COMPILED", "BINARY"], conflicts_with_all = ["command", "keep"], required_unless_present = "command")]
    pub traces: Vec<PathBuf>,
    /// Keep both traces in this folder: compiled.trackway and binary.trackway
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

pub fn run(arguments: &CoverageArguments) -> Result<ExitCode, Failure> {
    let report = match arguments.traces.as_slice() {
        [compiled, binary] => compared(arguments, compiled, binary)?,
        _ => recorded(arguments)?,
    };
    let parts = report.table("not_recorded");
    arguments.output.print(&report, parts)
}

fn compared(arguments: &CoverageArguments, compiled: &Path, binary: &Path) -> Result<Report, Failure> {
    let (compiled, binary) = (Trace::open(compiled)?, Trace::open(binary)?);
    coverage(&compiled, &binary, &arguments.reading, arguments.output.rows())
}

fn recorded(arguments: &CoverageArguments) -> Result<Report, Failure> {
    let client = Installation::locate().binary_client()?;
    let temporary = tempfile::Builder::new().prefix("trackway-coverage").tempdir();
    let temporary = temporary.map_err(|error| Failure::new(format!("a folder for the traces: {error}")))?;
    let folder = arguments.keep.as_deref().unwrap_or(temporary.path());
    std::fs::create_dir_all(folder).map_err(|error| Failure::about(folder, error))?;
    let (compiled, binary) = (folder.join("compiled.trackway"), folder.join("binary.trackway"));
    let first = Run::record(options(arguments, &compiled))?;
    let mut of_binary = options(arguments, &binary);
    of_binary.client = Some(client);
    let second = Run::record(of_binary)?;
    let mut report = compared(arguments, &compiled, &binary)?;
    report.warnings.extend(differences(first, second)?);
    Ok(report)
}

fn options(arguments: &CoverageArguments, trace: &Path) -> RecordOptions {
    let mut words = arguments.command.iter().cloned();
    let output = Output::File {
        path: trace.to_owned(),
        force: true,
    };
    let mut options = RecordOptions::new(words.next().unwrap_or_default(), output);
    options.arguments = words.collect();
    options.buffer_size = buffer_size(&options.program, None);
    options.notify = |message| output::warn(message);
    options
}

/// A run of the program that has ended.
struct Run {
    summary: RecordSummary,
    printed: Arc<File>,
}

impl Run {
    fn record(mut options: RecordOptions) -> Result<Run, Failure> {
        let printed = Arc::new(tempfile::tempfile().map_err(Failure::writing)?);
        options.standard_output = Some(printed.clone());
        let summary = record(options).map_err(|error| Failure::new(error.to_string()))?;
        match summary.interrupted {
            true => Err(Failure::new("interrupted before the program had ended")),
            false => Ok(Run { summary, printed }),
        }
    }

    fn printed(&self) -> Result<Vec<u8>, Failure> {
        let mut file: &File = &self.printed;
        let mut all = Vec::new();
        file.rewind()
            .and_then(|()| file.read_to_end(&mut all))
            .map_err(Failure::writing)?;
        Ok(all)
    }
}

/// Why the runs can't be compared well.
fn differences(compiled: Run, binary: Run) -> Result<Vec<String>, Failure> {
    let ends = [&compiled, &binary].map(|run| run.summary.program_end.shell_status());
    let mut warnings = Vec::new();
    if ends[0] != ends[1] {
        warnings.push(format!(
            "the program ended with status {} as it was compiled, and with {} as a binary",
            ends[0], ends[1]
        ));
    }
    if compiled.printed()? != binary.printed()? {
        warnings.push(
            "the program printed something else in its second run, so the runs may differ in their accesses, too".to_owned(),
        );
    }
    Ok(warnings)
}
