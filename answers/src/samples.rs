//! `trackway samples`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trackway_analysis::samples::SampledProgram;
use trackway_report::{counted, Report};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
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
                        trackway samples --table sample_instructions --csv prog.trackway")]
pub struct SamplesArguments {
    /// The trace
    pub trace: PathBuf,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub quiet: QuietArgument,
    #[command(flatten)]
    pub keeping: KeepingArguments,
    /// The table that --csv prints, by its name in JSON
    #[arg(long, value_name = "NAME", default_value = "sample_lines", requires = "csv")]
    pub table: String,
}

impl Question for SamplesArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        if !trace.is_sampled() {
            return Err(Failure::about(
                trace.path(),
                "this trace holds no samples: record with `trackway record --sample`",
            ));
        }
        Ok(report(trace, self.output.rows()))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }
}

pub fn run(arguments: &SamplesArguments) -> Result<ExitCode, Failure> {
    let report = kept::ask("samples", arguments, &arguments.trace, &arguments.keeping)?;
    let csv = arguments.output.csv_table(&report, &arguments.table)?;
    arguments.output.print(&report, csv)
}

/// With fewer samples, the interval of a share is wider than half of the whole.
const LEAST_SAMPLES: u64 = 10;

/// The answer in place of shares that mean nothing, where there are hardly any samples.
fn too_few(report: &Report) -> Option<String> {
    let samples = report.table("sampling")?.integer("samples", 0)?;
    (1..LEAST_SAMPLES).contains(&samples).then(|| {
        format!(
            "{} can't say where the time goes: sample for longer, or more often (`record --sample 5000hz`)",
            counted(samples, "sample")
        )
    })
}

/// What the samples show, and what that is based on.
pub fn report(trace: &Trace, rows: usize) -> Report {
    let program = SampledProgram::read(trace);
    let mut warnings = soundness::warnings(trace);
    warnings.extend(program.damage().iter().map(ToString::to_string));
    warnings.extend(program.notes());
    let mut findings = program.findings(rows);
    findings.tables.extend(soundness::extent(trace));
    let mut report = findings.into_report(warnings);
    if let Some(too_few) = too_few(&report) {
        report.answer = too_few;
    }
    report
}
