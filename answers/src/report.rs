//! `trackway report`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use trackway_analysis::drcachesim;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::counts;
use crate::divided::{Divided, Work};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::next_step::NextStep;
use crate::output;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::report_form::ReportForm;
use crate::slice::{SliceArguments, SliceRequest};
use crate::soundness;

/// Say what causes the cache misses of a recorded program
///
/// Prints the answer in a sentence, then the top fields, variables, lines and functions with their accesses, bytes and
/// misses in each level of a simulated cache, then what the numbers rest on. Of a program that counts (`trackway cc
/// --count`) it prints its regions of interest instead, how long they took, what they accessed and executed, by thread,
/// line and variable; of an imported trace, which knows no variables and lines, instructions, kinds of access and
/// threads. docs/verbs/report.md defines each number.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway report prog.trackway\n  \
                        trackway report --by line --top 30 prog.trackway\n  \
                        trackway report --cache L1=32K,8,64:L2=512K,8,64 --sort L1 prog.trackway\n  \
                        trackway report --cache preset:zen3 prog.trackway\n  \
                        trackway report --drcachesim=cores=8:LL=32M,16 imported.trackway\n  \
                        trackway report --by field --csv prog.trackway > fields.csv\n  \
                        trackway report --table blocks --top 0 --csv counted.trackway > blocks.csv")]
pub struct ReportArguments {
    /// The trace
    pub trace: PathBuf,
    #[command(flatten)]
    pub form: ReportForm,
    /// The table that --csv prints, by its name in JSON
    #[arg(long, value_name = "NAME", requires = "csv", conflicts_with = "by")]
    pub table: Option<String>,
    /// Of a trace of machine code: the instruction and data caches of several cores by the rules of DynamoRIO's
    /// drcachesim, instead of the other tables; parts of cores=4:L1I=32K,8:L1D=32K,8:LL=8M,16:line=64:prefetch=next-line,
    /// which are the defaults
    #[arg(long, value_name = "SETTINGS", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["by", "cache", "sort", "table"])]
    pub drcachesim: Option<drcachesim::Settings>,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

impl Question for ReportArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        match (&self.drcachesim, trace.holds_only_counts()) {
            (Some(settings), _) => {
                let why = "drcachesim's caches hold what instructions of all times fetched";
                self.slice.request().require_only_threads(why)?;
                machine_code_caches(trace, settings, &self.reading)
            }
            (None, true) => counts::report(trace, &self.form),
            (None, false) => misses(trace, self),
        }
    }

    fn divided(&self, trace: Arc<Trace>, about: String) -> Result<Arc<dyn Divided>, Failure> {
        require_accesses(&trace)?;
        if self.drcachesim.is_some() || counts::are_in(&trace) {
            return Err(Failure::about(
                trace.path(),
                "instruction fetches, and counts beside accesses, can't be divided between processes: `trackway report`",
            ));
        }
        let mut warnings = Vec::new();
        let misses = self.form.analysis(&trace, true, &mut warnings)?;
        if misses.is_timed() {
            return Err(Failure::about(
                trace.path(),
                "time is followed in the order of each thread, and can't be divided between processes: `trackway report`",
            ));
        }
        Ok(Arc::new(Work::new(misses, trace, about, warnings)))
    }

    fn source_root(&self) -> Option<&Path> {
        self.form.sources.root()
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    show(arguments, next_step)
}

/// Prints the answer, and what to type next, if that is known.
///
/// # Errors
/// If the trace can't be read, or doesn't hold what is asked for.
pub fn show(
    arguments: &ReportArguments,
    next: impl FnOnce(&Report, &ReportArguments) -> Option<NextStep>,
) -> Result<ExitCode, Failure> {
    arguments.form.time.prepare()?;
    let report = kept::ask("report", arguments, &arguments.trace, &arguments.keeping)?;
    let csv = match &arguments.table {
        Some(name) => Some(output::table_named(&report, name)?),
        None => report.tables.first(),
    };
    let next = next(&report, arguments);
    arguments.form.output.print_before(&report, csv, next.as_ref())
}

/// Changes of the program, if accesses with names were reported; without names, the caches of all sizes. Counts of regions
/// have no addresses to ask about: their page shows them beside the source.
fn next_step(report: &Report, arguments: &ReportArguments) -> Option<NextStep> {
    let has_names = report.table("attribution").is_some();
    let has_accesses = report.table("levels").is_some() || report.table("instructions").is_some();
    let verb = match (has_names, has_accesses) {
        (true, _) => "advise",
        (false, true) => "reuse",
        (false, false) if report.table("regions").is_some() => "view",
        (false, false) => return None,
    };
    Some(NextStep::ask(verb, &arguments.trace, ""))
}

fn machine_code_caches(
    trace: &Trace,
    settings: &drcachesim::Settings,
    reading: &ReadingArguments,
) -> Result<Report, Failure> {
    if !trace.program().is_machine_code() {
        return Err(Failure::about(
            trace.path(),
            "--drcachesim simulates instruction fetches, which only traces of machine code have (`trackway import`)",
        ));
    }
    let (findings, summary) =
        reading.with_progress(trace, 1, |_, progress| drcachesim::run(settings, trace, progress));
    Ok(soundness::report(trace, findings, &summary, Vec::new()))
}

/// Also reports what other processes of the same trace counted.
fn misses(trace: &Trace, arguments: &ReportArguments) -> Result<Report, Failure> {
    require_accesses(trace)?;
    let mut warnings = Vec::new();
    let misses = arguments.form.analysis(trace, true, &mut warnings)?;
    if counts::are_in(trace) && trace.slice().is_some() {
        warnings.push("what was counted beside the accesses is left out: counts have no slices".into());
    }
    let mut report = arguments.reading.report(&misses, trace, warnings);
    if counts::are_in(trace) && trace.slice().is_none() {
        counts::add_to(&mut report, trace, &arguments.form)?;
    }
    Ok(report)
}
