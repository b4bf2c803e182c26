//! `trackway memory`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trackway_analysis::memory::{Memory, DEFAULT_SHORT_LIFE};
use trackway_report::{to_csv, Plot, Report, TextStyle};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::map::chunk_times;
use crate::output;
use crate::progress::ReadingProgress;
use crate::report::report;

/// The table that is shown as a plot.
const OVER_TIME: &str = "memory_over_time";

/// Say what memory a program allocated, when, for how long, and what it did with it
///
/// Follows all blocks from allocation to release: what was live over time and at the peak, by the places that allocated it
/// and by type; short-lived blocks, and those that were never released or never accessed; accesses per allocated byte.
/// docs/analyses.md defines each number.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway memory prog.trackway\n  \
                        trackway memory --top 30 --short-life 100 prog.trackway\n  \
                        trackway memory --table memory_over_time --csv prog.trackway > memory.csv")]
pub struct MemoryArguments {
    /// The trace
    pub trace: PathBuf,
    /// A block that is released before so many accesses of all threads is short-lived
    #[arg(long, value_name = "ACCESSES", default_value_t = DEFAULT_SHORT_LIFE)]
    pub short_life: u64,
    /// Rows per table; 0 for all
    #[arg(long, default_value_t = crate::arguments::DEFAULT_ROWS, value_name = "N")]
    pub top: usize,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print one table as CSV
    #[arg(long)]
    pub csv: bool,
    /// The table that --csv prints, by its name in JSON
    #[arg(long, value_name = "NAME", default_value = "allocations", requires = "csv")]
    pub table: String,
    /// Threads to work with where the order of accesses doesn't matter [default: all processors]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

pub fn run(arguments: &MemoryArguments) -> Result<ExitCode, Failure> {
    let trace = Trace::open(&arguments.trace)?;
    let times = chunk_times(&trace, arguments.threads, arguments.quiet);
    let top = if arguments.top == 0 {
        usize::MAX
    } else {
        arguments.top
    };
    let memory = Memory::new(&trace, &times, arguments.short_life, top);
    let progress = ReadingProgress::new(&trace, arguments.quiet);
    let advance = |accesses, bytes| progress.advance(accesses, bytes);
    let (findings, summary) = trackway_analysis::run(&memory, &trace, NonZeroUsize::MIN, &advance);
    progress.finish();
    print(arguments, &report(&trace, findings, &summary, Vec::new()))?;
    Ok(ExitCode::SUCCESS)
}

fn print(arguments: &MemoryArguments, report: &Report) -> Result<(), Failure> {
    if arguments.csv {
        let named = report.tables.iter().find(|table| table.name() == arguments.table);
        let names: Vec<&str> = report.tables.iter().map(|table| table.name()).collect();
        let table = named.ok_or_else(|| {
            Failure::new(format!(
                "--table: there is no table {:?}; there are {}",
                arguments.table,
                names.join(", ")
            ))
        })?;
        report.warnings.iter().for_each(output::warn);
        return output::print(&to_csv(table));
    }
    if arguments.json {
        return output::print_report(report, true);
    }
    output::print(&text(report, &output::terminal_style()))
}

/// A plot takes the place of the table of times.
fn text(report: &Report, style: &TextStyle) -> String {
    let head = Report {
        tables: Vec::new(),
        ..report.clone()
    };
    let over_time = report.tables.iter().find(|table| table.name() == OVER_TIME);
    let plot = over_time.and_then(|table| Plot::from_table(table, "most_bytes"));
    let plot = plot.map(|plot| style.plot(&plot));
    let tables = report.tables.iter().filter(|table| table.name() != OVER_TIME);
    let parts = [style.report(&head)].into_iter().chain(plot);
    let parts: Vec<String> = parts.chain(tables.map(|table| style.table(table))).collect();
    parts.join("\n")
}
