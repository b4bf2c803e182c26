//! `trackway layout`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trackway_analysis::cache::Caches;
use trackway_analysis::layout::{Layout, Shown};
use trackway_analysis::misses::Measure;
use trackway_analysis::structures::Structures;
use trackway_report::to_csv;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::progress::ReadingProgress;
use crate::report::{self, report};
use crate::{output, processors};

/// Show how structures are laid out, which fields are hot, and which layouts may be better
///
/// For each structure whose fields the program accesses: its members with holes and padding, their accesses and misses,
/// which fields are accessed together, and proposals with the definition to write; `trackway whatif` says what they would
/// gain. docs/analyses.md defines each number.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway layout prog.trackway\n  \
                        trackway layout --type arc prog.trackway\n  \
                        trackway layout --json --top 0 prog.trackway")]
pub struct LayoutArguments {
    /// The trace
    pub trace: PathBuf,
    /// Only this structure
    #[arg(long = "type", value_name = "TYPE")]
    pub structure: Option<String>,
    /// Fields are accessed together if no more accesses of their thread than this lie between
    #[arg(long, value_name = "ACCESSES", default_value = "100", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub window: u64,
    /// Structures to show, and pairs of fields of each; 0 for all
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub top: usize,
    /// What to rank by: accesses, bytes, or misses in L1, L2, ... [default: L2]
    #[arg(long, value_name = "MEASURE")]
    pub sort: Option<Measure>,
    /// Caches to simulate, as for `trackway report`
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the table of structures as CSV; with --type, that of its members
    #[arg(long)]
    pub csv: bool,
    /// Threads to work with [default: all processors]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

pub fn run(arguments: &LayoutArguments) -> Result<ExitCode, Failure> {
    let trace = Trace::open(&arguments.trace)?;
    let structures = Structures::of(trace.program());
    let only = match &arguments.structure {
        Some(name) => Some(find(&structures, name)?),
        None => None,
    };
    let mut warnings = Vec::new();
    let (caches, rank_by) = report::caches(
        arguments.cache.clone(),
        arguments.sort,
        &trace,
        true,
        &mut warnings,
    )?;
    let top = if arguments.top == 0 {
        usize::MAX
    } else {
        arguments.top
    };
    let shown = Shown { only, top, rank_by };
    let layout = Layout::new(structures, caches, arguments.window, shown);
    let progress = ReadingProgress::new(&trace, arguments.quiet);
    let threads = arguments.threads.unwrap_or_else(processors::available);
    let advance = |accesses, bytes| progress.advance(accesses, bytes);
    let (findings, summary) = trackway_analysis::run(&layout, &trace, threads, &advance);
    progress.finish();
    let report = report(&trace, findings, &summary, warnings);
    if arguments.csv {
        report.warnings.iter().for_each(output::warn);
        let table = report.tables.get(usize::from(only.is_some()));
        output::print(&table.map(to_csv).unwrap_or_default())?;
    } else {
        output::print_report(&report, arguments.json)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The index of the structure of that name.
pub fn find(structures: &Structures, name: &str) -> Result<usize, Failure> {
    structures.find(name).ok_or_else(|| {
        let some: Vec<&str> = structures
            .list
            .iter()
            .take(8)
            .map(|known| known.name.as_str())
            .collect();
        let remedy = match some.is_empty() {
            true => "; the trace knows none: build with -g".into(),
            false => format!("; it knows {}, for example", some.join(", ")),
        };
        Failure::new(format!("the trace knows no structure {name}{remedy}"))
    })
}
