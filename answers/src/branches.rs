//! `trackway branches`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use trackway_analysis::branches::{replay_trace, BranchTables, PredictorChoice, TraceReplay};
use trackway_report::{Report, Table, TableBuilder};
use trackway_trace::Trace;

use crate::chosen_tables::{self, Groups};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::next_step::NextStep;
use crate::output::{self, OutputArguments};
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::slice::{SliceArguments, SliceRequest};
use crate::soundness;
use crate::summed::Sums;

/// Say which branches a processor would predict wrongly
///
/// Replays the control flow that the trace holds through simulated predictors of directions, from a table of counters to
/// TAGE-SC-L and LLBP, and prints the mispredictions of each, and for each line and conditional branch how often it was
/// executed and taken and how often each predictor was wrong. `unlimited` is TAGE-SC-L with tables that never lack room:
/// what is between it and another predictor is what larger tables could gain. docs/verbs/branches.md defines each
/// number.
#[derive(Debug, Args)]
#[command(
    mut_arg("csv", |csv| csv.help("Print one table as CSV, by default that of lines, or of branches where no lines are known")),
    after_help = "Examples:\n  trackway branches prog.trackway\n  \
                  trackway branches --by branch --top 30 prog.trackway\n  \
                  trackway branches --by function prog.trackway\n  \
                  trackway branches --predictor gshare,tage-sc-l=64K,tage-sc-l=512K,unlimited prog.trackway\n  \
                  trackway branches --csv --table predictors prog.trackway > predictors.csv")]
pub struct BranchesArguments {
    /// The trace
    pub trace: PathBuf,
    /// Which predictors: bimodal, gshare, perceptron, tage, tage-sc-l, llbp, unlimited; all but the last also with a
    /// size, a power of two from 1K to 16M that it about has: gshare=64K [default: all]
    #[arg(long = "predictor", value_name = "LIST", value_delimiter = ',')]
    pub predictors: Vec<PredictorChoice>,
    /// Tables of branches; may be repeated [default: branch, line]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub by: Vec<BranchGrouping>,
    #[command(flatten)]
    pub output: OutputArguments,
    /// The table that --csv prints, by its name in JSON
    #[arg(long, value_name = "NAME", requires = "csv")]
    pub table: Option<String>,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BranchGrouping {
    Branch,
    Line,
    Function,
}

const BY_FUNCTION: Sums = Sums {
    of: "lines",
    name: "functions",
    title: "Functions by mispredictions",
    keys: &["function"],
    counted: "lines",
    added: &["executions", "missed_*"],
    foremost: None,
};

impl Groups for BranchGrouping {
    const ALL: &'static [BranchGrouping] = &[
        BranchGrouping::Branch,
        BranchGrouping::Line,
        BranchGrouping::Function,
    ];

    fn tables(self) -> &'static [&'static str] {
        match self {
            BranchGrouping::Branch => &["branches"],
            BranchGrouping::Line => &["lines"],
            BranchGrouping::Function => &["functions"],
        }
    }

    fn sums(self) -> Option<&'static Sums> {
        (self == BranchGrouping::Function).then_some(&BY_FUNCTION)
    }
}

impl Question for BranchesArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        let why = "predictors learn from all branches of a thread";
        self.slice.request().require_only_threads(why)?;
        let predictors = match self.predictors.is_empty() {
            true => PredictorChoice::standard(),
            false => self.predictors.clone(),
        };
        let replay = self.reading.with_progress(trace, 1, |threads, progress| {
            replay_trace(trace, &predictors, threads, progress)
        });
        if !replay.is_known() {
            return Err(Failure::about(
                trace.path(),
                "this trace doesn't say how its records follow from the program's branches: compile with this version \
                 of `trackway cc`, without --calls=0",
            ));
        }
        report(trace, replay, self)
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &BranchesArguments) -> Result<ExitCode, Failure> {
    let report = kept::ask("branches", arguments, &arguments.trace, &arguments.keeping)?;
    let csv = match &arguments.table {
        Some(name) => Some(output::table_named(&report, name)?),
        // The table of predictors is the first.
        None => report.tables.get(1),
    };
    let next = NextStep::ask("view", &arguments.trace, "");
    arguments.output.print_and_lead_on(&report, csv, &next)
}

fn report(trace: &Trace, replay: TraceReplay, arguments: &BranchesArguments) -> Result<Report, Failure> {
    let tables = BranchTables::new(&replay.totals, arguments.output.rows());
    let mut findings = tables.findings(&replay.totals, |address| replay.place(address));
    if !arguments.by.is_empty() {
        let finer = BranchTables::new(&replay.totals, usize::MAX);
        let finer = finer
            .findings(&replay.totals, |address| replay.place(address))
            .tables;
        let rows = arguments.output.rows();
        chosen_tables::choose(&mut findings.tables, &finer, &arguments.by, rows);
        if findings.tables.len() == 1 {
            return Err(Failure::about(
                trace.path(),
                "this trace knows no lines of its branches: --by branch",
            ));
        }
    }
    findings.tables.push(control_flow(trace, &replay));
    findings.tables.extend(soundness::extent(trace));
    let mut warnings = soundness::warnings(trace);
    warnings.extend(replay.damage.iter().map(ToString::to_string));
    Ok(findings.into_report(warnings))
}

/// What the numbers are based on.
fn control_flow(trace: &Trace, replay: &TraceReplay) -> Table {
    let (totals, unresolved) = (&replay.totals, &replay.unresolved);
    let known = totals.conditional();
    let streams = trace
        .streams()
        .iter()
        .filter(|stream| !stream.chunks.is_empty())
        .count();
    let damaged = trace.damage().len() + replay.damage.len();
    TableBuilder::new("control_flow", "Control flow", &[()])
        .count("streams", |()| streams)
        .count("instructions", |()| totals.instructions)
        .count(("executed", "branches"), |()| totals.executed)
        .count(("conditional", "of them conditional"), |()| known)
        .count(("unrecorded", "stretches of unknown branches"), |()| {
            unresolved.unrecorded
        })
        .count(("silent", "branches without an event"), |()| {
            replay.silent_branches()
        })
        .count(("cut_off", "left out, cut off"), |()| unresolved.cut_off)
        .count(("interrupted", "left out, interrupted"), |()| {
            unresolved.interrupted
        })
        .count(("indistinct", "left out, to the next instruction"), |()| {
            unresolved.indistinct
        })
        .count(("assumed_taken", "of unknown target"), |()| {
            unresolved.assumed_taken
        })
        .bookkeeping()
        .count("gaps", |()| trace.gaps().len())
        .count("damaged_parts", |()| damaged)
        .as_record()
        .build()
}
