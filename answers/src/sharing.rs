//! `trackway sharing`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use trackway_analysis::misses::cycles_of_sites;
use trackway_analysis::sharing::Sharing;
use trackway_analysis::site_counts::Grouping;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::divided::{Divided, Work};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::model::{line_bytes_of_machine, parse_line_size, ModelArguments};
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::report_form::parser_of;
use crate::slice::{SliceArguments, SliceRequest};
use crate::time::TimeArguments;

/// Groups of sites that take lines from each other. Single sites, kinds of access and threads have no such table.
const GROUPINGS: [Grouping; 6] = [
    Grouping::Field,
    Grouping::Variable,
    Grouping::Type,
    Grouping::Line,
    Grouping::Function,
    Grouping::File,
];

/// Say which cache lines threads take from each other
///
/// Merges the accesses of all threads into one order that respects their synchronisation, follows each cache line from
/// thread to thread, and prints which fields and lines of source take lines that another thread had, and how exact the
/// order is. docs/verbs/sharing.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("csv", |csv| csv.help("Print the first table as CSV: that of fields, unless --by says otherwise")),
    after_help = "Examples:\n  trackway sharing prog.trackway\n  \
                  trackway sharing --by type,function prog.trackway\n  \
                  trackway sharing --line-size 128 --json prog.trackway"
)]
pub struct SharingArguments {
    /// The trace
    pub trace: PathBuf,
    /// Tables of what takes lines; may be repeated [default: field, line]
    #[arg(long, value_parser = parser_of(&GROUPINGS), value_delimiter = ',')]
    pub by: Vec<Grouping>,
    /// Bytes of a cache line: a power of two [default: that of the machine that recorded, or 64]
    #[arg(long, value_name = "BYTES", value_parser = parse_line_size)]
    pub line_size: Option<u32>,
    #[command(flatten)]
    pub time: TimeArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

impl SharingArguments {
    fn analysis(&self, trace: &Trace) -> Result<Sharing, Failure> {
        require_accesses(trace)?;
        let line_bytes = self.line_size.unwrap_or_else(|| line_bytes_of_machine(trace));
        let sharing = Sharing::new(trace.program(), line_bytes.into(), self.output.rows());
        Ok(match self.by.is_empty() {
            true => sharing,
            false => sharing.grouped_by(self.by.clone()),
        })
    }
}

impl SharingArguments {
    /// Estimated cycles by site, if they are asked for.
    fn cycles(&self, trace: &Trace, warnings: &mut Vec<String>) -> Result<Option<Vec<u64>>, Failure> {
        if !self.time.time {
            return Ok(None);
        }
        let (caches, _) = ModelArguments::default().choose(trace, true, warnings)?;
        let machine = self.time.machine(&caches, trace, warnings)?;
        let cycles = |machine| {
            self.reading.with_progress(trace, 1, |threads, observer| {
                cycles_of_sites(&machine, trace, threads, observer)
            })
        };
        Ok(machine.map(cycles))
    }
}

impl Question for SharingArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        let mut warnings = Vec::new();
        let sharing = self.analysis(trace)?;
        let sharing = sharing.with_cycles(self.cycles(trace, &mut warnings)?);
        Ok(self.reading.report(&sharing, trace, warnings))
    }

    fn divided(&self, trace: Arc<Trace>, about: String) -> Result<Arc<dyn Divided>, Failure> {
        if self.time.time {
            return Err(Failure::about(
                trace.path(),
                "time is followed in the order of each thread, and can't be divided between processes: `trackway sharing`",
            ));
        }
        let analysis = self.analysis(&trace)?;
        Ok(Arc::new(Work::new(analysis, trace, about, Vec::new())))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &SharingArguments) -> Result<ExitCode, Failure> {
    arguments.time.prepare()?;
    let report = kept::ask("sharing", arguments, &arguments.trace, &arguments.keeping)?;
    let next = NextStep::after_sharing(&report, &arguments.trace);
    arguments
        .output
        .print_and_lead_on(&report, report.tables.first(), &next)
}
