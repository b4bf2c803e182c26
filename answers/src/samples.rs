//! `trackway samples`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use trackway_analysis::samples::SampledProgram;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::chosen_tables::{self, Groups};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::next_step::NextStep;
use crate::output::{OutputArguments, QuietArgument};
use crate::question::Question;
use crate::slice::{SliceArguments, SliceRequest};
use crate::soundness;

/// Say where a sampled program spends its time, and where it makes its accesses
///
/// Takes a trace of `trackway record --sample`, or one that was imported from perf. For each line and each instruction:
/// the share of the time, with its 95 % interval; the share of the accesses, by the instructions that follow samples;
/// how many of them store; how their addresses are known; and, where the processor says so, latency and source of the
/// data. docs/verbs/samples.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("csv", |csv| csv.help("Print one table as CSV")),
    after_help = "Examples:\n  trackway record --sample -o prog.trackway -- ./prog\n  \
                        trackway samples prog.trackway\n  \
                        trackway samples --by function prog.trackway\n  \
                        trackway samples --table sample_instructions --csv prog.trackway")]
pub struct SamplesArguments {
    /// The trace
    pub trace: PathBuf,
    /// Tables of places; may be repeated [default: line, instruction]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub by: Vec<SamplesBy>,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub quiet: QuietArgument,
    #[command(flatten)]
    pub keeping: KeepingArguments,
    /// The table that --csv prints, by its name in JSON
    #[arg(long, value_name = "NAME", requires = "csv", conflicts_with = "by")]
    pub table: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SamplesBy {
    Function,
    Line,
    Instruction,
}

/// Those that are shown if none are chosen.
const USUAL: [SamplesBy; 2] = [SamplesBy::Line, SamplesBy::Instruction];

impl Groups for SamplesBy {
    const ALL: &'static [SamplesBy] = &[SamplesBy::Function, SamplesBy::Line, SamplesBy::Instruction];

    fn tables(self) -> &'static [&'static str] {
        match self {
            SamplesBy::Function => &["sample_functions"],
            SamplesBy::Line => &["sample_lines"],
            SamplesBy::Instruction => &["sample_instructions"],
        }
    }
}

impl Question for SamplesArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        if !trace.is_sampled() {
            return Err(Failure::about(
                trace.path(),
                "this trace holds no samples: record with `trackway record --sample`",
            ));
        }
        let by = match self.by.as_slice() {
            // CSV may be of any of them.
            [] if self.table.is_some() => SamplesBy::ALL,
            [] => &USUAL,
            chosen => chosen,
        };
        Ok(report_by(trace, self.output.rows(), by))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }
}

pub fn run(arguments: &SamplesArguments) -> Result<ExitCode, Failure> {
    show(arguments, Some(&NextStep::ask("view", &arguments.trace, "")))
}

/// Prints the answer, and what to type next, if that is known.
///
/// # Errors
/// If the trace can't be read, or has no samples.
pub fn show(arguments: &SamplesArguments, next: Option<&NextStep>) -> Result<ExitCode, Failure> {
    let report = kept::ask("samples", arguments, &arguments.trace, &arguments.keeping)?;
    let by = (arguments.by.as_slice(), "sample_lines");
    let csv = chosen_tables::csv_table(&arguments.output, &report, arguments.table.as_deref(), by)?;
    arguments.output.print_before(&report, csv, next)
}

/// What the samples show by line and instruction, and what that is based on.
pub fn report(trace: &Trace, rows: usize) -> Report {
    report_by(trace, rows, &USUAL)
}

fn report_by(trace: &Trace, rows: usize, by: &[SamplesBy]) -> Report {
    let program = SampledProgram::read(trace);
    let mut warnings = soundness::warnings(trace);
    warnings.extend(program.damage().iter().map(ToString::to_string));
    warnings.extend(program.notes());
    let mut findings = program.findings(rows);
    findings.tables.extend(soundness::extent(trace));
    let mut report = findings.into_report(warnings);
    chosen_tables::keep_only(&mut report, by);
    report
}
