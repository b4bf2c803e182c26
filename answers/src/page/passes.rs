//! The analyses of a page, in as few passes over the trace as their orders allow; of one thread, two at a time.

use std::num::NonZeroUsize;
use std::panic;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use trackway_analysis::activity::Activity;
use trackway_analysis::blocks::Origins;
use trackway_analysis::cache::Caches;
use trackway_analysis::layout::{LayoutAndMisses, Shown};
use trackway_analysis::map::{Finest, Map, View, DEFAULT_BINS, DEFAULT_ROWS};
use trackway_analysis::memory::{Memory, DEFAULT_SHORT_LIFE};
use trackway_analysis::moments::ChunkTimes;
use trackway_analysis::reuse::{Reuse, ReuseGrouping, Sampling};
use trackway_analysis::sharing::Sharing;
use trackway_analysis::site_counts::{Grouping, Measure};
use trackway_analysis::structures::Structures;
use trackway_analysis::{run, Findings, Observer, RunSummary, SeparateFindings};
use trackway_report::{Report, Table};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::model::{line_bytes_of_machine, ModelArguments};
use crate::reading::ReadingArguments;
use crate::soundness;

/// Structures that are drawn.
const STRUCTURES: usize = 12;
/// Cells of the map's finest resolution; with more the page would be too large.
pub const MOST_CELLS: usize = 120_000;
/// Fields and variables with a curve of their own.
const CURVES: usize = 6;
/// At most so many lines of a thread are sampled for the curves.
const SAMPLED_LINES: usize = 1 << 15;
/// Maximum number of accesses between two that count as together: the default of `trackway layout`.
const WINDOW: u64 = 100;
/// Passes over the trace: times, simulation, memory, reuse, and two to simulate the proposed layouts. Those of
/// [`Origins`] are added.
const PASSES: u64 = 6;

/// What the analyses are asked with.
pub struct Settings<'s> {
    pub model: &'s ModelArguments,
    /// Maximum number of rows of each table.
    pub rows: usize,
    pub source_root: Option<&'s Path>,
    pub reading: &'s ReadingArguments,
}

/// What the analyses find.
pub struct Reports {
    pub rank_by: Measure,
    pub misses: Report,
    pub layout: Report,
    pub activity: Report,
    pub map: Report,
    pub memory: Report,
    pub reuse: Report,
    /// None if there is only one thread.
    pub sharing: Option<Report>,
}

/// Reads the trace for all of them.
pub fn reports(settings: &Settings, trace: &Trace) -> Result<Reports, Failure> {
    let mut warnings = Vec::new();
    let (caches, rank_by) = settings.model.choose(trace, true, &mut warnings)?;
    let read = |threads: NonZeroUsize, observer: &dyn Observer| {
        let times = ChunkTimes::count(trace, threads, observer);
        let reading = |threads| Reading {
            trace,
            rows: settings.rows,
            source_root: settings.source_root,
            threads,
            observer,
        };
        // Streams that are merged take memory, so two passes don't run at once.
        let at_once = trace.streams().len() <= 1;
        run_both(
            at_once,
            threads,
            |threads| reading(threads).simulation(caches, rank_by, warnings),
            |threads| (reading(threads).memory(&times), reading(threads).reuse()),
        )
    };
    let passes = match Origins::divide(trace.program()) {
        true => PASSES + Origins::PASSES,
        false => PASSES,
    };
    let (simulation, (memory, reuse)) = settings.reading.with_progress(trace, passes, read);
    let [misses, layout, activity] = simulation;
    let (map, memory, sharing) = memory;
    Ok(Reports {
        rank_by,
        misses,
        layout,
        activity,
        map,
        memory,
        reuse,
        sharing,
    })
}

/// Runs both at once, each with a part of the threads if there are several, or one after the other.
fn run_both<A: Send, B: Send>(
    at_once: bool,
    threads: NonZeroUsize,
    one: impl FnOnce(NonZeroUsize) -> A,
    other: impl FnOnce(NonZeroUsize) -> B + Send,
) -> (A, B) {
    let half = NonZeroUsize::new(threads.get() / 2).filter(|_| at_once);
    let Some(half) = half else {
        return (one(threads), other(threads));
    };
    let rest = NonZeroUsize::new(threads.get() - half.get()).unwrap_or(half);
    thread::scope(|scope| {
        let other = scope.spawn(move || other(half));
        let one = one(rest);
        let other = other.join();
        (one, other.unwrap_or_else(|panic| panic::resume_unwind(panic)))
    })
}

/// How a pass reads the trace.
struct Reading<'r> {
    trace: &'r Trace,
    /// Maximum number of rows of each table.
    rows: usize,
    source_root: Option<&'r Path>,
    threads: NonZeroUsize,
    observer: &'r dyn Observer,
}

impl Reading<'_> {
    /// Misses, layouts and what each thread did when.
    fn simulation(&self, caches: Caches, rank_by: Measure, warnings: Vec<String>) -> [Report; 3] {
        let shown = Shown {
            only: None,
            top: STRUCTURES,
            rank_by,
        };
        let structures = Structures::of(self.trace.program());
        let machine_code = self.trace.program().is_machine_code();
        let shown_groupings = Grouping::ALL
            .into_iter()
            .filter(|grouping| machine_code || *grouping != Grouping::Instruction);
        let groupings = (shown_groupings.collect(), self.rows);
        let simulated = LayoutAndMisses::new(structures, caches, WINDOW, shown, groupings)
            .with_sources_below(self.source_root);
        let analyses = (simulated, SeparateFindings::new(Activity::new(self.trace)));
        let (misses, summary) = run(&analyses, self.trace, self.threads, self.observer);
        let (simulated, activity) = analyses;
        let mut layout = simulated.into_layout_findings(self.trace, self.threads, self.observer);
        layout.tables.extend(order_of(&misses).cloned());
        let activity = activity.into_findings();
        [
            soundness::report(self.trace, misses, &summary, warnings.clone()),
            soundness::report(self.trace, layout, &summary, warnings),
            Report {
                answer: String::new(),
                warnings: Vec::new(),
                tables: activity.tables,
            },
        ]
    }

    /// The map, the allocations and, if there are several threads, what they share.
    fn memory(&self, times: &ChunkTimes) -> (Report, Report, Option<Report>) {
        let origins = Arc::new(Origins::of(self.trace, self.threads, self.observer));
        let map = Map::new(self.trace, times, Arc::clone(&origins), self.whole_map(times));
        let memory = Memory::new(self.trace, times, origins, DEFAULT_SHORT_LIFE, self.rows);
        let sharing = (self.trace.streams().len() > 1).then(|| {
            let line_bytes = line_bytes_of_machine(self.trace).into();
            SeparateFindings::new(Sharing::new(self.trace.program(), line_bytes, self.rows))
        });
        let analyses = (
            SeparateFindings::new(map),
            (SeparateFindings::new(memory), sharing),
        );
        let (common, summary) = run(&analyses, self.trace, self.threads, self.observer);
        let (map, (memory, sharing)) = analyses;
        let report = |findings| self.report(findings, &common, &summary);
        (
            report(map.into_findings()),
            report(memory.into_findings()),
            sharing.map(|sharing| report(sharing.into_findings())),
        )
    }

    fn whole_map(&self, times: &ChunkTimes) -> View {
        let (from_ns, to_ns) = times.range_ns();
        View {
            measure: Measure::Accesses,
            caches: Caches::none(),
            from_ns,
            to_ns,
            addresses: (0, u64::MAX),
            owner: None,
            rows: DEFAULT_ROWS,
            bins: DEFAULT_BINS,
            finest: Finest::Cells(MOST_CELLS),
            top: self.rows,
        }
    }

    fn reuse(&self) -> Report {
        let reuse = Reuse {
            line_bytes: line_bytes_of_machine(self.trace),
            merged: false,
            sampling: Some(Sampling::Lines(SAMPLED_LINES)),
            groupings: vec![ReuseGrouping::Field],
            origins: Arc::new(Origins::none(self.trace.program())),
            top: CURVES,
            fine: true,
        };
        let (findings, summary) = run(&reuse, self.trace, self.threads, self.observer);
        soundness::report(self.trace, findings, &summary, Vec::new())
    }

    /// Makes the report of an analysis that shared its pass; `common` is what the pass itself found.
    fn report(&self, mut findings: Findings, common: &Findings, summary: &RunSummary) -> Report {
        findings.tables.extend(order_of(common).cloned());
        soundness::report(self.trace, findings, summary, Vec::new())
    }
}

/// What all numbers of a pass across threads are based on.
fn order_of(findings: &Findings) -> impl Iterator<Item = &Table> {
    findings.tables.iter().filter(|table| table.name() == "order")
}
