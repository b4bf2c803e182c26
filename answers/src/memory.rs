//! `trackway memory`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use trackway_analysis::memory::{Memory, DEFAULT_SHORT_LIFE};
use trackway_report::{Chart, Report, TextStyle};
use trackway_trace::Trace;

use crate::chosen_tables::{self, Groups};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::map::chunk_times;
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::slice::{Content, SliceArguments, SliceRequest};

/// The table that is shown as a plot.
const OVER_TIME: &str = "memory_over_time";

/// Say what memory a program allocated, when, for how long, and what it did with it
///
/// Follows all blocks from allocation to release: what was live over time and at the peak, by the places that allocated it
/// and by type; short-lived blocks, and those that were never released or never accessed; accesses per allocated byte.
/// In a slice, only blocks that were allocated in it count.
/// docs/verbs/memory.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("csv", |csv| csv.help("Print one table as CSV")),
    mut_arg("function", |function| function.help("Only accesses and allocations by code of functions whose name, or linkage name, matches this pattern of * and ?, inlined code included; may be repeated")),
    after_help = "Examples:\n  trackway memory prog.trackway\n  \
                        trackway memory --by type prog.trackway\n  \
                        trackway memory --top 30 --short-life 100 prog.trackway\n  \
                        trackway memory --after-mark \"cache is warm\" prog.trackway\n  \
                        trackway memory --table memory_over_time --csv prog.trackway > memory.csv")]
pub struct MemoryArguments {
    /// The trace
    pub trace: PathBuf,
    /// A block that is released before so many accesses of all threads is short-lived
    #[arg(long, value_name = "ACCESSES", default_value_t = DEFAULT_SHORT_LIFE)]
    pub short_life: u64,
    /// Tables of what was allocated; may be repeated [default: both]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub by: Vec<MemoryBy>,
    #[command(flatten)]
    pub output: OutputArguments,
    /// The table that --csv prints, by its name in JSON
    #[arg(long, value_name = "NAME", requires = "csv", conflicts_with = "by")]
    pub table: Option<String>,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MemoryBy {
    /// The call that allocates
    Allocation,
    /// The type of the elements
    Type,
}

impl Groups for MemoryBy {
    const ALL: &'static [MemoryBy] = &[MemoryBy::Allocation, MemoryBy::Type];

    fn tables(self) -> &'static [&'static str] {
        match self {
            MemoryBy::Allocation => &["allocations", "peak", "use"],
            MemoryBy::Type => &["type_use", "peak_types"],
        }
    }
}

impl Question for MemoryArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        let times = chunk_times(trace, &self.reading);
        let origins = self.reading.origins(trace);
        let memory = Memory::new(trace, &times, origins, self.short_life, self.output.rows());
        let mut report = self.reading.report(&memory, trace, Vec::new());
        if !self.by.is_empty() {
            chosen_tables::keep_only(&mut report, &self.by);
        }
        Ok(report)
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request().of(Content::Blocks)
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &MemoryArguments) -> Result<ExitCode, Failure> {
    let report = kept::ask("memory", arguments, &arguments.trace, &arguments.keeping)?;
    let by = (arguments.by.as_slice(), "allocations");
    let csv = chosen_tables::csv_table(&arguments.output, &report, arguments.table.as_deref(), by)?;
    let next = NextStep::ask("advise", &arguments.trace, "");
    arguments
        .output
        .print_as(&report, csv, |style| text(&report, style) + &next.shown(style))
}

/// The text of a report, with a plot in place of the table of times.
fn text(report: &Report, style: &TextStyle) -> String {
    let over_time = report.table(OVER_TIME);
    let plot = over_time.and_then(|table| Chart::over_time(table, "most_bytes"));
    style.report_with(report, plot.map(|plot| style.chart(&plot)), &[OVER_TIME])
}
