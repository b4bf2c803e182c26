//! `trackway advise`.

mod card;
mod cards;
mod edits;
mod known;
mod simulated;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trackway_analysis::both;
use trackway_analysis::cache::Caches;
use trackway_analysis::layout::{Layout, Shown};
use trackway_analysis::site_counts::Measure;
use trackway_analysis::structures::Structures;
use trackway_report::Report;
use trackway_trace::Trace;

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
use crate::time::MachineArguments;
use cards::Cards;
pub use known::KnownAdvice;
use simulated::Subject;

/// Structures whose layout is looked at: those that take most of the time.
const STRUCTURES: usize = 8;
/// Fields are accessed together if no more accesses lie between, as for `trackway layout`.
const WINDOW: u64 = 100;
/// What the passes over the trace cost, measured with one thread, in tenths of the first one's time. The structures:
const COUNTING: [u64; 1] = [10];
/// A survey for other layouts, and the simulation of all of them: it takes 14 for one layout and 58 for six.
const LAYOUTS: [u64; 2] = [4, 30];
/// A survey of blocks, and the simulation.
const HUGE_PAGES: [u64; 2] = [1, 9];
/// Surveys for other edits: loops, orders of visits, values, arrays that grow. Not all of them are always made.
const SURVEYS: [u64; 4] = [1, 10, 1, 1];
const EDITS: [u64; 1] = [20];
const THREADS_APART: [u64; 1] = [9];

/// Say what to change, and what each change would gain in time
///
/// Looks for changes that save time: other layouts of structures, huge pages, and lines that threads needn't take from
/// each other. Each is simulated, by the costs of the machine (`trackway calibrate`), before it is shown: as a card with the
/// place, the gain, what that rests on, and what to type next. If waiting for memory takes little of the time, it says so.
/// docs/verbs/advise.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("csv", |csv| csv.help("Print the table of cards as CSV")),
    mut_arg("top", |top| top.help("Cards to show, at most").default_value("10")),
    after_help = "Examples:\n  trackway advise prog.trackway\n  \
                  trackway advise --machine zen3 prog.trackway\n  \
                  trackway advise --json prog.trackway"
)]
pub struct AdviseArguments {
    /// The trace
    pub trace: PathBuf,
    #[command(flatten)]
    pub machine: MachineArguments,
    /// Caches to simulate, as for `report` [default: those of the machine that recorded]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

/// What changes are looked for with.
pub(crate) struct Advising<'a> {
    pub machine: &'a MachineArguments,
    pub cache: &'a Option<Caches>,
    pub reading: &'a ReadingArguments,
    /// Cards to show; 0 for all.
    pub most: usize,
    /// Whether a table says where members stand before and after changes of layouts.
    pub with_moves: bool,
}

impl Advising<'_> {
    /// What the pass costs that decides which others are made.
    pub fn first_cost() -> u64 {
        COUNTING[0]
    }

    /// What all passes cost.
    pub fn cost() -> u64 {
        let stages: [&[u64]; 6] = [&COUNTING, &LAYOUTS, &HUGE_PAGES, &SURVEYS, &EDITS, &THREADS_APART];
        stages.iter().copied().flatten().sum()
    }

    /// # Errors
    /// If the trace has no accesses, or the time of no known machine can be estimated.
    pub fn report(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        let mut warnings = Vec::new();
        let model = ModelArguments {
            cache: self.cache.clone(),
            ..ModelArguments::default()
        };
        let (caches, _) = model.choose(trace, true, &mut warnings)?;
        let machine = self.machine.machine(&caches, trace, &mut warnings)?;
        let structures = Structures::of(trace.program());
        let shown = Shown {
            only: None,
            top: STRUCTURES,
            rank_by: Measure::Cycles,
            command: NextStep::ask("whatif", trace.path(), "").to_string(),
        };
        let layout = Layout::new(structures, caches.clone(), WINDOW, shown).with_time(Some(machine.clone()));
        let subject = Subject { trace, machine };
        let (cards, found, summary) =
            self.reading
                .with_stages(trace, (COUNTING[0], Self::cost()), |threads, observer| {
                    let stage = |costs| Stage::new(observer, trace, costs);
                    let ((found, summary), huge_pages) = both(
                        threads,
                        || trackway_analysis::run(&layout, trace, threads, &stage(&COUNTING)),
                        || subject.huge_pages(threads, &stage(&HUGE_PAGES)),
                    );
                    let counters = layout.counters(trace);
                    let (layouts, edits) = both(
                        threads,
                        || layout.cards(trace, threads, &stage(&LAYOUTS)),
                        || subject.edits(&counters, threads, &stage(&SURVEYS), &stage(&EDITS)),
                    );
                    let mut cards = Cards::new(trace, &subject.machine, &counters, &layouts);
                    if let Some(found) = huge_pages {
                        cards.add_or_drop(found);
                    }
                    cards.add_edits(edits);
                    let apart = stage(&THREADS_APART);
                    if !cards.has_sharing() {
                        cards.add(subject.apart(&counters, threads, &apart));
                    }
                    (cards, found, summary)
                });
        let mut findings = cards.findings(self.most, self.with_moves);
        let order = found.tables.into_iter().filter(|table| table.name() == "order");
        findings.tables.extend(order);
        Ok(soundness::report(trace, findings, &summary, warnings))
    }
}

impl Question for AdviseArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        let advising = Advising {
            machine: &self.machine,
            cache: &self.cache,
            reading: &self.reading,
            most: self.output.rows(),
            with_moves: false,
        };
        advising.report(trace)
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &AdviseArguments) -> Result<ExitCode, Failure> {
    show(arguments, |report| {
        Some(NextStep::after_cards(report, &arguments.trace))
    })
}

/// Prints the answer, and what to type next, if that is known.
///
/// # Errors
/// If the trace can't be read, or its time can't be estimated.
pub fn show(
    arguments: &AdviseArguments,
    next: impl FnOnce(&Report) -> Option<NextStep>,
) -> Result<ExitCode, Failure> {
    arguments.machine.prepare()?;
    let report = kept::ask("advise", arguments, &arguments.trace, &arguments.keeping)?;
    let next = next(&report);
    arguments
        .output
        .print_before(&report, report.table("cards"), next.as_ref())
}
