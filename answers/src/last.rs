//! `trackway last`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trackway_analysis::last::Last;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::slice::{SliceArguments, SliceRequest};

/// Show the last accesses of each thread, and where a program that crashed stopped
///
/// Prints the newest accesses with variable, field, function and line, and the allocation to whose memory they went, also
/// if that had been given back. Of a program that a signal ended, it names the access that probably raised it.
/// docs/verbs/last.md defines each column.
#[derive(Debug, Args)]
#[command(
    mut_arg("top", |top| top.help("Accesses of each thread").default_value("8")),
    after_help = "Examples:\n  trackway record --flight 64M -- ./server; trackway last server-1.trackway\n  \
                        trackway last --top 30 --thread 2 prog.trackway\n  \
                        trackway last --from 95% prog.trackway")]
pub struct LastArguments {
    /// The trace
    pub trace: PathBuf,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

impl Question for LastArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        let last = Last {
            most: self.output.rows(),
            signal: trace.end().and_then(|end| end.signal),
        };
        Ok(self.reading.report(&last, trace, Vec::new()))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &LastArguments) -> Result<ExitCode, Failure> {
    let report = kept::ask("last", arguments, &arguments.trace, &arguments.keeping)?;
    let csv = report.table("last");
    let next = NextStep::ask("report", &arguments.trace, "");
    arguments.output.print_and_lead_on(&report, csv, &next)
}
