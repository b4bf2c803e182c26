//! `trackway patterns`.

use std::path::PathBuf;
use std::process::ExitCode;
use trackway_trace::named_enum;

use clap::{Args, ValueEnum};
use trackway_analysis::patterns::Patterns;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::model::{line_bytes_of_machine, parse_line_size};
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::slice::{SliceArguments, SliceRequest};

/// Say how each place in the program moves through memory, and on how much memory it works
///
/// Prints which sites stay at one address, walk with a stride, follow pointers or jump at random; how many lines and pages
/// are accessed in each stretch of the program; and how evenly the accesses are spread over memory (entropy).
/// docs/verbs/patterns.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("top", |top| top.help("Rows of the table of sites; 0 for all")),
    mut_arg("json", |json| json.help("Print JSON, with the working sets of all threads in full resolution")),
    mut_arg("csv", |csv| csv.help("Print one table as CSV")),
    after_help = "Examples:\n  trackway patterns prog.trackway\n  \
                        trackway patterns --top 30 --merged prog.trackway\n  \
                        trackway patterns --csv --table working-set prog.trackway > working-set.csv")]
pub struct PatternsArguments {
    /// The trace
    pub trace: PathBuf,
    /// The working set of all threads together, in one order [default: of each by itself]
    #[arg(long)]
    pub merged: bool,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Bytes of a line: a power of two from 16 to 1G [default: that of the machine that recorded, or 64]
    #[arg(long, value_name = "BYTES", value_parser = parse_line_size)]
    pub line_size: Option<u32>,
    /// Which table --csv prints
    #[arg(long, value_enum, default_value_t = PatternsTable::Sites, requires = "csv")]
    pub table: PatternsTable,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

named_enum! {
    #[derive(ValueEnum)]
    PatternsTable {
        Patterns = "patterns",
        Sites = "sites",
        WorkingSet = "working_set",
        WorkingSetSizes = "working_set_sizes",
        Entropy = "entropy",
    }
}

impl Question for PatternsArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        let patterns = Patterns {
            line_bytes: self.line_size.unwrap_or_else(|| line_bytes_of_machine(trace)),
            merged: self.merged && trace.streams().len() > 1,
            top: self.output.rows(),
            fine: self.output.is_for_programs(),
        };
        Ok(self.reading.report(&patterns, trace, Vec::new()))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &PatternsArguments) -> Result<ExitCode, Failure> {
    let report = kept::ask("patterns", arguments, &arguments.trace, &arguments.keeping)?;
    let csv = report.table(arguments.table.name());
    let next = NextStep::ask("advise", &arguments.trace, "");
    arguments.output.print_and_lead_on(&report, csv, &next)
}
