//! `trackway layout`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use trackway_analysis::layout::{Layout, Shown};
use trackway_analysis::structures::Structures;
use trackway_analysis::Findings;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::divided::{Divided, Work};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::model::ModelArguments;
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::slice::{SliceArguments, SliceRequest};
use crate::soundness;
use crate::stage::Stage;
use crate::time::TimeArguments;

/// What the passes over the trace cost, in tenths of the first one's time. The structures:
const COUNTING: [u64; 1] = [10];
/// A survey of the objects that change, and the simulation of all proposals.
const SIMULATING: [u64; 2] = [4, 30];

/// Show how structures are laid out, which fields are hot, and which layouts may be better
///
/// For each structure whose fields the program accesses: its members with holes and padding, their accesses and misses,
/// which fields are accessed together, and proposals with the definition to write. Each proposal is simulated as by
/// `trackway whatif`, and shown if it saves 2 % of the program's misses. docs/verbs/layout.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("top", |top| {
        top.help("Structures to show, and pairs of fields of each; 0 for all").default_value("5")
    }),
    // --window is something else here.
    mut_arg("windows", |windows| windows.alias(None)),
    mut_arg("csv", |csv| csv.help("Print the table of structures as CSV; with --type, that of its members")),
    after_help = "Examples:\n  trackway layout prog.trackway\n  \
                  trackway layout --type arc prog.trackway\n  \
                  trackway layout --json --top 0 prog.trackway"
)]
pub struct LayoutArguments {
    /// The trace
    pub trace: PathBuf,
    /// Only this structure
    #[arg(long = "type", value_name = "TYPE")]
    pub structure: Option<String>,
    /// Fields are accessed together if no more accesses of their thread than this lie between
    #[arg(long, value_name = "ACCESSES", default_value = "100", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub window: u64,
    /// Show all proposals without simulating them: reads the trace once, not three times
    #[arg(long)]
    pub no_simulate: bool,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub model: ModelArguments,
    #[command(flatten)]
    pub time: TimeArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

impl LayoutArguments {
    fn analysis(&self, trace: &Trace, warnings: &mut Vec<String>) -> Result<Layout, Failure> {
        require_accesses(trace)?;
        let structures = Structures::of(trace.program());
        let only = match &self.structure {
            Some(name) => Some(find(&structures, name)?),
            None => None,
        };
        let (caches, rank_by) = self.time.choose(&self.model, trace, true, warnings)?;
        let machine = self.time.machine(&caches, trace, warnings)?;
        let shown = Shown {
            only,
            top: self.output.rows(),
            rank_by,
            command: NextStep::ask("whatif", trace.path(), "").to_string(),
        };
        Ok(Layout::new(structures, caches, self.window, shown).with_time(machine))
    }
}

impl Question for LayoutArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        let mut warnings = Vec::new();
        let layout = self.analysis(trace, &mut warnings)?;
        let simulating: &[u64] = if self.no_simulate { &[] } else { &SIMULATING };
        let costs = COUNTING.iter().chain(simulating).sum();
        let (mut findings, advised, summary) =
            self.reading
                .with_stages(trace, (COUNTING[0], costs), |threads, observer| {
                    let counting = Stage::new(observer, trace, &COUNTING);
                    let (findings, summary) = trackway_analysis::run(&layout, trace, threads, &counting);
                    drop(counting);
                    let stage = Stage::new(observer, trace, simulating);
                    let is_simulated = !self.no_simulate && layout.has_proposals(trace);
                    let advised = is_simulated.then(|| layout.advise(trace, threads, &stage));
                    (findings, advised, summary)
                });
        if let Some(advised) = advised {
            let order = findings
                .tables
                .into_iter()
                .filter(|table| table.name() == "order");
            findings = Findings {
                tables: advised.tables.into_iter().chain(order).collect(),
                ..advised
            };
        }
        Ok(soundness::report(trace, findings, &summary, warnings))
    }

    fn divided(&self, trace: Arc<Trace>, about: String) -> Result<Arc<dyn Divided>, Failure> {
        let mut warnings = Vec::new();
        let layout = self.analysis(&trace, &mut warnings)?;
        Ok(Arc::new(Work::new(layout, trace, about, warnings)))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &LayoutArguments) -> Result<ExitCode, Failure> {
    arguments.time.prepare()?;
    let report = kept::ask("layout", arguments, &arguments.trace, &arguments.keeping)?;
    let csv = match arguments.structure {
        Some(_) => "members",
        None => "structures",
    };
    let next = NextStep::after_layout(&report, &arguments.trace);
    arguments
        .output
        .print_and_lead_on(&report, report.table(csv), &next)
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
