//! `trackway reuse`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use trackway_analysis::blocks::Origins;
use trackway_analysis::reuse::{Reuse, ReuseGrouping, Sampling};
use trackway_report::{Chart, Report, TextStyle};
use trackway_trace::Trace;

use crate::divided::{Divided, Work};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::model::{line_bytes_of_machine, parse_line_size};
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::slice::{SliceArguments, SliceRequest};

const CURVE: &str = "miss_ratio_curve";

/// Say how soon lines are used again, and what that means for caches of each size
///
/// Measures for each access how many different cache lines were accessed since the last access to its line (the reuse
/// distance), exactly or of a sample of the lines, and prints the miss ratio of LRU caches of all sizes, the distances, and
/// the fields, variables and allocation sites with theirs. docs/verbs/reuse.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("top", |top| top.help("Rows of the tables of groups; 0 for all")),
    mut_arg("json", |json| json.help("Print JSON, with the curves in full resolution and those of the groups")),
    mut_arg("csv", |csv| csv.help("Print the curve as CSV, in full resolution; with --by, those of the groups")),
    after_help = "Examples:\n  trackway reuse prog.trackway\n  \
                        trackway reuse --sample 0.01 prog.trackway          (much faster, nearly the same)\n  \
                        trackway reuse --merged --by field prog.trackway    (one cache for all threads)\n  \
                        trackway reuse --csv prog.trackway > curve.csv\n  \
                        trackway reuse --csv --by field --top 5 prog.trackway > curves-of-fields.csv")]
pub struct ReuseArguments {
    /// The trace
    pub trace: PathBuf,
    /// Measure only this share of the lines, more than 0 and at most 1, and estimate the rest
    #[arg(long, value_name = "SHARE", value_parser = parse_share, conflicts_with = "sample_lines")]
    pub sample: Option<f64>,
    /// Measure no more than N lines at a time, of each thread, and estimate the rest: the memory is bounded
    #[arg(long, value_name = "N")]
    pub sample_lines: Option<NonZeroUsize>,
    /// All threads in one order, as if they shared a cache [default: each by itself, with a cache of its own]
    #[arg(long)]
    pub merged: bool,
    /// Tables of groups; may be repeated [default: all three]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub by: Vec<ReuseBy>,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Bytes of a line: a power of two from 16 to 1G [default: that of the machine that recorded, or 64]
    #[arg(long, value_name = "BYTES", value_parser = parse_line_size)]
    pub line_size: Option<u32>,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReuseBy {
    Field,
    Variable,
    /// Where the accessed memory was allocated
    Allocation,
}

impl From<ReuseBy> for ReuseGrouping {
    fn from(by: ReuseBy) -> ReuseGrouping {
        match by {
            ReuseBy::Field => ReuseGrouping::Field,
            ReuseBy::Variable => ReuseGrouping::Variable,
            ReuseBy::Allocation => ReuseGrouping::Allocation,
        }
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    Ok(share.ok_or("expected a number above 0 and up to 1, such as 0.01")?)
}

impl Question for ReuseArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        Ok(self.reading.report(&analysis(self, trace), trace, Vec::new()))
    }

    fn divided(&self, trace: Arc<Trace>, about: String) -> Result<Arc<dyn Divided>, Failure> {
        require_accesses(&trace)?;
        let analysis = analysis(self, &trace);
        Ok(Arc::new(Work::new(analysis, trace, about, Vec::new())))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &ReuseArguments) -> Result<ExitCode, Failure> {
    let report = kept::ask("reuse", arguments, &arguments.trace, &arguments.keeping)?;
    let csv = match arguments.by.is_empty() {
        true => CURVE,
        false => "group_curves",
    };
    let next = NextStep::ask("advise", &arguments.trace, "");
    arguments.output.print_as(&report, report.table(csv), |style| {
        text(&report, style) + &next.shown(style)
    })
}

fn analysis(arguments: &ReuseArguments, trace: &Trace) -> Reuse {
    let by_rate = arguments.sample.map(Sampling::Rate);
    let by_lines = arguments.sample_lines.map(|lines| Sampling::Lines(lines.get()));
    let all = [ReuseBy::Field, ReuseBy::Variable, ReuseBy::Allocation];
    let by = match arguments.by.as_slice() {
        [] => &all,
        chosen => chosen,
    };
    let groupings: Vec<ReuseGrouping> = by.iter().copied().map(ReuseGrouping::from).collect();
    Reuse {
        origins: match groupings.contains(&ReuseGrouping::Allocation) {
            true => arguments.reading.origins(trace),
            false => Arc::new(Origins::none(trace.program())),
        },
        line_bytes: arguments
            .line_size
            .unwrap_or_else(|| line_bytes_of_machine(trace)),
        merged: arguments.merged && trace.streams().len() > 1,
        sampling: by_rate.or(by_lines),
        groupings,
        top: arguments.output.rows(),
        fine: arguments.output.is_for_programs(),
        moments: None,
    }
}

/// The report with a drawing of the curve before its tables.
fn text(report: &Report, style: &TextStyle) -> String {
    let curve = report.table(CURVE);
    let curve = curve.and_then(|table| Chart::by_size(table, "cache_bytes", "miss_ratio"));
    style.report_with(report, curve.map(|curve| style.chart(&curve)), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_checked() {
        assert_eq!(parse_share("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "1.5", "NaN", "much"] {
            assert!(parse_share(wrong).is_err(), "{wrong}");
        }
    }
}
