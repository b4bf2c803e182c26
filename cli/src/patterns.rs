//! `trackway patterns`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use trackway_analysis::patterns::Patterns;
use trackway_report::to_csv;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::output;
use crate::processors;
use crate::progress::ReadingProgress;
use crate::report::report;
use crate::reuse::{line_bytes_of_machine, parse_line_size};

/// Say how each place in the program moves through memory, and on how much memory it works
///
/// Prints which sites stay at one address, walk with a stride, follow pointers or jump at random; how many lines and pages
/// are accessed in each stretch of the program; and how evenly the accesses are spread over memory (entropy).
/// docs/analyses.md defines each number.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway patterns prog.trackway\n  \
                        trackway patterns --top 30 --merged prog.trackway\n  \
                        trackway patterns --csv --table working-set prog.trackway > working-set.csv")]
pub struct PatternsArguments {
    /// The trace
    pub trace: PathBuf,
    /// The working set of all threads together, in one order [default: of each by itself]
    #[arg(long)]
    pub merged: bool,
    /// Rows of the table of sites; 0 for all
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub top: usize,
    /// Bytes of a line: a power of two from 16 to 1G [default: that of the machine that recorded, or 64]
    #[arg(long, value_name = "BYTES", value_parser = parse_line_size)]
    pub line_size: Option<u32>,
    /// Print JSON, with the working sets of all threads in full resolution
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print one table as CSV
    #[arg(long)]
    pub csv: bool,
    /// Which table --csv prints
    #[arg(long, value_enum, default_value_t = PatternsTable::Sites, requires = "csv")]
    pub table: PatternsTable,
    /// Threads to work with [default: all processors]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PatternsTable {
    Patterns,
    Sites,
    WorkingSet,
    WorkingSetSizes,
    Entropy,
}

impl PatternsTable {
    fn name(self) -> &'static str {
        match self {
            PatternsTable::Patterns => "patterns",
            PatternsTable::Sites => "sites",
            PatternsTable::WorkingSet => "working_set",
            PatternsTable::WorkingSetSizes => "working_set_sizes",
            PatternsTable::Entropy => "entropy",
        }
    }
}

pub fn run(arguments: &PatternsArguments) -> Result<ExitCode, Failure> {
    let trace = Trace::open(&arguments.trace)?;
    let patterns = Patterns {
        line_bytes: arguments
            .line_size
            .unwrap_or_else(|| line_bytes_of_machine(&trace)),
        merged: arguments.merged && trace.streams().len() > 1,
        top: if arguments.top == 0 {
            usize::MAX
        } else {
            arguments.top
        },
        fine: arguments.json || arguments.csv,
    };
    let progress = ReadingProgress::new(&trace, arguments.quiet);
    let threads = arguments.threads.unwrap_or_else(processors::available);
    let advance = |accesses, bytes| progress.advance(accesses, bytes);
    let (findings, summary) = trackway_analysis::run(&patterns, &trace, threads, &advance);
    progress.finish();
    let report = report(&trace, findings, &summary, Vec::new());
    if arguments.csv {
        report.warnings.iter().for_each(output::warn);
        let wanted = |table: &&trackway_report::Table| table.name() == arguments.table.name();
        let table = report.tables.iter().find(wanted);
        output::print(&table.map(to_csv).unwrap_or_default())?;
    } else {
        output::print_report(&report, arguments.json)?;
    }
    Ok(ExitCode::SUCCESS)
}
