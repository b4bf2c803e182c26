//! `trackway allocations`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use trackway_analysis::allocations::{Allocations, Ranking};
use trackway_report::{Report, TableBuilder};
use trackway_trace::Trace;

use crate::chosen_tables::{self, Groups};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::next_step::NextStep;
use crate::output::{OutputArguments, QuietArgument};
use crate::question::Question;
use crate::slice::{Content, SliceArguments, SliceRequest};
use crate::soundness;
use crate::summed::Sums;

/// Say which calls allocated memory: how often, how much, for how long, and what was never freed
///
/// Reads what `trackway record --allocations` recorded. In a slice, only blocks count that were
/// allocated in it. docs/verbs/allocations.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("csv", |csv| csv.help("Print the table of call sites as CSV")),
    mut_arg("thread", |thread| thread.help("Only calls of this stream, by its number in `trackway dump --allocations`; may be repeated")),
    mut_arg("function", |function| function.help("Only calls by code of functions whose name matches this pattern of * and ?, inlined code included; may be repeated")),
    after_help = "Examples:\n  trackway allocations prog.trackway\n  \
                  trackway allocations --sort leaked --depth 5 prog.trackway\n  \
                  trackway allocations --from 2s --sort leaked prog.trackway\n  \
                  trackway allocations --top 0 --csv prog.trackway > sites.csv"
)]
pub struct AllocationsArguments {
    /// The trace
    pub trace: PathBuf,
    /// By what call sites are ranked
    #[arg(long, value_enum, default_value_t = Sort::Peak)]
    pub sort: Sort,
    /// Frames by which call sites are told apart, from the innermost one on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=255), default_value_t = 3)]
    pub depth: u16,
    /// Tables of calls; may be repeated [default: site]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub by: Vec<AllocationsBy>,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub quiet: QuietArgument,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Number of allocations
    Allocations,
    /// Bytes that were allocated
    Bytes,
    /// Bytes that were live when most was
    Peak,
    /// Bytes that were never freed
    Leaked,
}

impl From<Sort> for Ranking {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Allocations => Ranking::Allocations,
            Sort::Bytes => Ranking::Bytes,
            Sort::Peak => Ranking::Peak,
            Sort::Leaked => Ranking::Leaked,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AllocationsBy {
    /// Call sites, told apart by --depth frames
    Site,
    /// Functions that call an allocator, whatever their callers
    Function,
}

const BY_FUNCTION: Sums = Sums {
    of: "call_sites",
    name: "allocating_functions",
    title: "Functions that allocate",
    keys: &["function"],
    counted: "call_sites",
    added: &["allocations", "bytes", "bytes_at_peak", "leaked", "leaked_bytes"],
    foremost: None,
};

impl Groups for AllocationsBy {
    const ALL: &'static [AllocationsBy] = &[AllocationsBy::Site, AllocationsBy::Function];

    fn tables(self) -> &'static [&'static str] {
        match self {
            AllocationsBy::Site => &["call_sites"],
            AllocationsBy::Function => &["allocating_functions"],
        }
    }

    fn sums(self) -> Option<&'static Sums> {
        (self == AllocationsBy::Function).then_some(&BY_FUNCTION)
    }
}

impl Question for AllocationsArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        if trace.allocation_streams().is_empty() {
            return Err(Failure::about(
                trace.path(),
                "this trace holds no calls of allocators; record them with `trackway record --allocations`",
            ));
        }
        let patterns = self.slice().function_patterns();
        let is_function = |name: &str| patterns.iter().flatten().any(|pattern| pattern.matches(name));
        let is_function = patterns
            .is_some()
            .then_some(&is_function as &dyn Fn(&str) -> bool);
        let allocations = Allocations::of_slice(trace, self.depth.into(), is_function);
        if patterns.is_some() && allocations.events == 0 {
            return Err(Failure::about(
                trace.path(),
                "--function: no function that calls an allocator in the slice has such a name; `trackway allocations` \
                 lists their names",
            ));
        }
        let mut findings = allocations.findings(self.sort.into(), self.output.rows());
        findings.tables.extend(soundness::extent(trace));
        let functions = &self.slice.others.function;
        if patterns.is_some() {
            let table = TableBuilder::new("functions", "Functions that were looked at", functions);
            findings
                .tables
                .push(table.text("pattern", |glob| glob.clone()).build());
        }
        let mut warnings = soundness::warnings(trace);
        warnings.extend(allocations.warnings());
        let mut report = findings.into_report(warnings);
        if !self.by.is_empty() {
            let finer = allocations.findings(self.sort.into(), usize::MAX).tables;
            chosen_tables::choose(&mut report.tables, &finer, &self.by, self.output.rows());
        }
        Ok(report)
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request().of(Content::Calls)
    }
}

pub fn run(arguments: &AllocationsArguments) -> Result<ExitCode, Failure> {
    let report = kept::ask("allocations", arguments, &arguments.trace, &arguments.keeping)?;
    let by = (arguments.by.as_slice(), "call_sites");
    let csv = chosen_tables::csv_table(&arguments.output, &report, None, by)?;
    let next = NextStep::after_allocations(&report, &arguments.trace, arguments.sort == Sort::Leaked);
    arguments.output.print_and_lead_on(&report, csv, &next)
}
