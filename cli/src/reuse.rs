//! `trackway reuse`.

use std::env;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use trackway_analysis::reuse::{Reuse, ReuseGrouping, Sampling};
use trackway_report::{draw_curve, to_csv, CurveStyle, Report, TextStyle};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::output;
use crate::processors;
use crate::progress::ReadingProgress;
use crate::report::report;

/// Where the machine's lines are not known.
const USUAL_LINE_BYTES: u32 = 64;
const MOST_LINE_BYTES: u64 = 1 << 30;
const LEAST_LINE_BYTES: u64 = 16;
const PLOT_ROWS: usize = 8;

/// Say how soon lines are used again, and what that means for caches of each size
///
/// Measures for each access how many different cache lines were accessed since the last access to its line (the reuse
/// distance), exactly or of a sample of the lines, and prints the miss ratio of LRU caches of all sizes, the distances, and
/// the fields, variables and allocation sites with theirs. docs/analyses.md defines each number.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway reuse prog.trackway\n  \
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
    /// Rows of the tables of groups; 0 for all
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub top: usize,
    /// Bytes of a line: a power of two from 16 to 1G [default: that of the machine that recorded, or 64]
    #[arg(long, value_name = "BYTES", value_parser = parse_line_size)]
    pub line_size: Option<u32>,
    /// Print JSON, with the curves in full resolution and those of the groups
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the curve as CSV, in full resolution; with --by, those of the groups
    #[arg(long)]
    pub csv: bool,
    /// Threads to work with [default: all processors]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
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

/// Of what analyses take for a line.
pub fn parse_line_size(text: &str) -> Result<u32, String> {
    let size = trackway_analysis::cache::parse_size(text)
        .filter(|size| size.is_power_of_two() && (LEAST_LINE_BYTES..=MOST_LINE_BYTES).contains(size));
    let size = size.and_then(|size| u32::try_from(size).ok());
    Ok(size.ok_or("expected a power of two from 16 to 1G, such as 64")?)
}

pub fn run(arguments: &ReuseArguments) -> Result<ExitCode, Failure> {
    let trace = Trace::open(&arguments.trace)?;
    let progress = ReadingProgress::new(&trace, arguments.quiet);
    let threads = arguments.threads.unwrap_or_else(processors::available);
    let advance = |accesses, bytes| progress.advance(accesses, bytes);
    let reuse = analysis(arguments, &trace);
    let (findings, summary) = trackway_analysis::run(&reuse, &trace, threads, &advance);
    progress.finish();
    let report = report(&trace, findings, &summary, Vec::new());
    if arguments.csv {
        report.warnings.iter().for_each(output::warn);
        output::print(&csv(arguments, &report))?;
    } else if arguments.json {
        output::print_report(&report, true)?;
    } else {
        output::print(&text(&report, &output::terminal_style()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn analysis(arguments: &ReuseArguments, trace: &Trace) -> Reuse {
    let by_rate = arguments.sample.map(Sampling::Rate);
    let by_lines = arguments.sample_lines.map(|lines| Sampling::Lines(lines.get()));
    let all = [ReuseBy::Field, ReuseBy::Variable, ReuseBy::Allocation];
    let by = match arguments.by.as_slice() {
        [] => &all,
        chosen => chosen,
    };
    Reuse {
        line_bytes: arguments
            .line_size
            .unwrap_or_else(|| line_bytes_of_machine(trace)),
        merged: arguments.merged && trace.streams().len() > 1,
        sampling: by_rate.or(by_lines),
        groupings: by.iter().copied().map(ReuseGrouping::from).collect(),
        top: if arguments.top == 0 {
            usize::MAX
        } else {
            arguments.top
        },
        fine: arguments.json || arguments.csv,
    }
}

/// Of the first level; a power of two.
pub fn line_bytes_of_machine(trace: &Trace) -> u32 {
    let sizes = trace.meta().caches.iter().map(|cache| cache.line_bytes);
    let usable = |size: &u32| parse_line_size(&size.to_string()).is_ok();
    sizes.filter(usable).max().unwrap_or(USUAL_LINE_BYTES)
}

fn csv(arguments: &ReuseArguments, report: &Report) -> String {
    let name = match arguments.by.is_empty() {
        true => "miss_ratio_curve",
        false => "group_curves",
    };
    let table = report.tables.iter().find(|table| table.name() == name);
    table.map(to_csv).unwrap_or_default()
}

/// The report with a drawing of the curve before its tables.
fn text(report: &Report, style: &TextStyle) -> String {
    let head = Report {
        tables: Vec::new(),
        ..report.clone()
    };
    let curve = report
        .tables
        .iter()
        .find(|table| table.name() == "miss_ratio_curve");
    let drawing = curve.and_then(|table| {
        let style = CurveStyle {
            rows: PLOT_ROWS,
            unicode: shows_unicode(),
        };
        draw_curve(table, "cache_bytes", "miss_ratio", style)
    });
    let tables = report.tables.iter().map(|table| style.table(table));
    let parts = std::iter::once(style.report(&head)).chain(drawing).chain(tables);
    parts.collect::<Vec<String>>().join("\n")
}

/// Whether the locale is one of UTF-8.
fn shows_unicode() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_line_sizes_are_checked() {
        assert_eq!(parse_share("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "1.5", "NaN", "much"] {
            assert!(parse_share(wrong).is_err(), "{wrong}");
        }
        assert_eq!((parse_line_size("64"), parse_line_size("4K")), (Ok(64), Ok(4096)));
        for wrong in ["8", "48", "2G", ""] {
            assert!(parse_line_size(wrong).is_err(), "{wrong}");
        }
    }
}
