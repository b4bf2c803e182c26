//! The analyses of a page, in as few passes over the trace as their orders allow.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use trackway_analysis::activity::Activity;
use trackway_analysis::blocks::Origins;
use trackway_analysis::cache::Caches;
use trackway_analysis::calls::{Calls, Moments};
use trackway_analysis::layout::{LayoutAndMisses, Shown};
use trackway_analysis::map::{Finest, Map, View, DEFAULT_BINS, DEFAULT_ROWS};
use trackway_analysis::memory::{Memory, DEFAULT_SHORT_LIFE};
use trackway_analysis::moments::{ChunkTimes, MomentBins};
use trackway_analysis::reuse::{Reuse, ReuseGrouping, Sampling};
use trackway_analysis::sharing::Sharing;
use trackway_analysis::site_counts::{Grouping, Measure};
use trackway_analysis::structures::Structures;
use trackway_analysis::time::Machine;
use trackway_analysis::{both, run, Findings, Observer, RunSummary, SeparateFindings, SideBySide};
use trackway_report::Report;
use trackway_trace::Trace;

use super::look::Look;
use super::moments::bins_of;
use super::plan::{
    Contents, Extent, Plan, COST_OF_DECODING, MISSED_MAP_WORK, MOST_MISSED_CELLS, PLACES_WORK, TRIAL_WORK,
};
use crate::advise::Advising;
use crate::failure::Failure;
use crate::model::{line_bytes_of_machine, ModelArguments};
use crate::next_step::NextStep;
use crate::progress::record_bytes;
use crate::reading::ReadingArguments;
use crate::soundness;
use crate::stage::Stage;
use crate::time::MachineArguments;

/// The tables of places that the page uses.
const PLACES: [&str; 8] = [
    "places",
    "place_moments",
    "moment_axis",
    "place_members",
    "place_paths",
    "path_moments",
    "path_nodes",
    "stack_repairs",
];
/// Structures that are drawn.
const STRUCTURES: usize = 12;
/// Fields and variables with a curve of their own.
const CURVES: usize = 24;
/// At most so many lines of a thread are sampled for the curves.
const SAMPLED_LINES: usize = 1 << 15;
/// Maximum number of accesses between two that count as together: the default of `trackway layout`.
const WINDOW: u64 = 100;

/// What the analyses are asked with.
pub struct Settings<'s> {
    pub model: &'s ModelArguments,
    /// Maximum number of rows of each table.
    pub rows: usize,
    pub source_root: Option<&'s Path>,
    pub reading: &'s ReadingArguments,
    /// The machine whose time is estimated.
    pub machine: &'s MachineArguments,
    /// Changes are looked for in so many bytes of the trace, in its middle; nowhere if there are none.
    pub look_bytes: u64,
    /// What to change, if that is known already of the part that is looked at.
    pub advised: Option<Report>,
    pub extent: Extent,
}

/// Changes that are shown.
pub const CARDS: usize = 10;

/// What the analyses find.
pub struct Reports {
    pub rank_by: Measure,
    pub misses: Report,
    /// None if no changes were to be looked for. If none can be, its answer says why.
    pub advice: Option<Report>,
    /// Places in the source by thread, time and path of calls.
    pub places: Report,
    pub layout: Report,
    pub activity: Report,
    pub map: Report,
    /// The map of misses of the ranking level; none if no cache is simulated, or beside another trace.
    pub missed_map: Option<Report>,
    /// None beside another trace, and none of a slice: what was allocated, and for how long, says only the whole run.
    pub memory: Option<Report>,
    pub reuse: Report,
    /// None beside another trace, or if there is only one thread.
    pub sharing: Option<Report>,
}

impl Reports {
    fn empty(rank_by: Measure) -> Reports {
        let nothing = || Findings::default().into_report(Vec::new());
        Reports {
            rank_by,
            misses: nothing(),
            advice: None,
            places: nothing(),
            layout: nothing(),
            activity: nothing(),
            map: nothing(),
            missed_map: None,
            memory: None,
            reuse: nothing(),
            sharing: None,
        }
    }
}

/// Reads the trace for all of them.
pub fn reports(settings: &Settings, trace: &Trace) -> Result<Reports, Failure> {
    let mut warnings = Vec::new();
    let (caches, rank_by) = settings.model.choose(trace, true, &mut warnings)?;
    let look = (settings.look_bytes > 0).then(|| Look::at(trace, settings.look_bytes));
    let machine = timed(settings, trace, &caches);
    let plan = Plan::of(trace, (&caches, rank_by), settings.extent);
    let looked = look.as_ref().and_then(|look| look.as_ref().ok());
    let looked_bytes = match settings.advised {
        Some(_) => 0,
        None => looked.map_or(0, |look| record_bytes(look.trace(trace))),
    };
    let bytes_of_look = looked_bytes.saturating_mul(Advising::cost());
    let settled = looked_bytes.saturating_mul(Advising::first_cost());
    let work = plan.work(trace) * COST_OF_DECODING;
    let bytes = record_bytes(trace)
        .saturating_mul(work)
        .saturating_add(bytes_of_look);
    let read = |threads: NonZeroUsize, observer: &dyn Observer| {
        let observer = &Heavy {
            observer,
            weight: COST_OF_DECODING,
        };
        let times = Arc::new(ChunkTimes::count(trace, threads, observer));
        let reading = Reading {
            trace,
            rows: settings.rows,
            source_root: settings.source_root,
            threads,
            observer,
            contents: plan.contents,
        };
        let (places, missed_map) = reading.places_and_missed_map(&times, (&caches, rank_by), machine);
        let bins = bins_of(&places, &times);
        let timed = (times.as_ref(), bins.as_ref());
        let reports = reading.reports(&plan, timed, (caches, rank_by), warnings);
        Reports {
            places,
            missed_map,
            ..reports
        }
    };
    Ok(settings.reading.as_one((settled, bytes), |reading| {
        let advice = look.map(|look| advice(settings, trace, look, reading));
        let reports = reading.with_progress(trace, work, read);
        Reports { advice, ..reports }
    }))
}

/// What to change. That none can be looked for is no reason to have no page: then the answer says so.
fn advice(
    settings: &Settings,
    trace: &Trace,
    look: Result<Look, Failure>,
    reading: &ReadingArguments,
) -> Report {
    let advising = Advising {
        machine: settings.machine,
        cache: &settings.model.cache,
        reading,
        most: CARDS,
        with_moves: true,
    };
    let looked = look.and_then(|look| {
        let mut report = match &settings.advised {
            Some(report) => report.clone(),
            None => advising.report(look.trace(trace))?,
        };
        report.tables.push(look.table());
        Ok(report)
    });
    looked.unwrap_or_else(|failure| Report {
        answer: format!("No changes were looked for: {failure}"),
        warnings: Vec::new(),
        tables: Vec::new(),
    })
}

/// The machine by which the time of paths is estimated: only of traces of which changes are looked for in all.
fn timed(settings: &Settings, trace: &Trace, caches: &Caches) -> Option<Machine> {
    let is_small = trace.slice().is_some() || trace.file_length() <= settings.look_bytes;
    let machine = || settings.machine.machine(caches, trace, &mut Vec::new());
    (settings.look_bytes > 0 && is_small).then(machine)?.ok()
}

/// Measures the work of a pass by that of one that only decodes.
struct Heavy<'o> {
    observer: &'o dyn Observer,
    weight: u64,
}

impl Observer for Heavy<'_> {
    fn advance(&self, accesses: u64, bytes: u64) {
        self.observer.advance(accesses, bytes.saturating_mul(self.weight));
    }

    fn skip(&self, bytes: u64) {
        self.observer.skip(bytes.saturating_mul(self.weight));
    }

    fn is_stopped(&self) -> bool {
        self.observer.is_stopped()
    }
}

type Simulation = (SeparateFindings<LayoutAndMisses>, SeparateFindings<Activity>);

/// Where memory is and what was allocated, and what threads share of it.
type Memories<'t> = SideBySide<
    (SeparateFindings<Map<'t>>, Option<SeparateFindings<Memory<'t>>>),
    Option<SeparateFindings<Sharing>>,
>;

/// How passes read the trace.
struct Reading<'r> {
    trace: &'r Trace,
    /// Maximum number of rows of each table.
    rows: usize,
    source_root: Option<&'r Path>,
    threads: NonZeroUsize,
    observer: &'r dyn Observer,
    contents: Contents,
}

impl<'r> Reading<'r> {
    /// Two passes at the same time over a single stream, if there are threads for both: only one of them takes runs. Merging
    /// several streams takes memory, which two passes would need twice.
    fn places_and_missed_map(
        &self,
        times: &Arc<ChunkTimes>,
        (caches, rank_by): (&Caches, Measure),
        machine: Option<Machine>,
    ) -> (Report, Option<Report>) {
        let places = || self.places(times, (caches, rank_by), machine);
        let missed_map = || self.missed_map(times, caches, rank_by);
        let threads = match self.trace.streams().len() {
            ..=1 => self.threads,
            _ => NonZeroUsize::MIN,
        };
        both(threads, places, missed_map)
    }

    /// Places in the source by thread, time and path of calls.
    fn places(
        &self,
        times: &Arc<ChunkTimes>,
        (caches, rank_by): (&Caches, Measure),
        machine: Option<Machine>,
    ) -> Report {
        let observer = Heavy {
            observer: self.observer,
            weight: PLACES_WORK,
        };
        let structures = Structures::of(self.trace.program());
        let calls = Calls::new(caches.clone(), self.rows)
            .with_time(machine)
            .with_moments(Moments::new(Arc::clone(times), rank_by, structures));
        let (mut findings, summary) = run(&calls, self.trace, self.threads, &observer);
        findings.tables.retain(|table| PLACES.contains(&table.name()));
        soundness::report(self.trace, findings, &summary, Vec::new())
    }

    fn reports(
        &self,
        plan: &Plan,
        (times, bins): (&ChunkTimes, Option<&MomentBins>),
        (caches, rank_by): (Caches, Measure),
        warnings: Vec<String>,
    ) -> Reports {
        let mut reports = Reports::empty(rank_by);
        for parts in &plan.passes {
            let analyses = SideBySide(
                parts.simulation.then(|| self.simulation(&caches, rank_by)),
                SideBySide(
                    parts.memory.then(|| self.memory(times, bins)),
                    parts.reuse.then(|| SeparateFindings::new(self.reuse(bins))),
                ),
            );
            let observer = Heavy {
                observer: self.observer,
                weight: parts.work(),
            };
            let (common, summary) = run(&analyses, self.trace, self.threads, &observer);
            let pass = Pass {
                reading: self,
                common,
                summary,
            };
            let SideBySide(simulation, SideBySide(memory, reuse)) = analyses;
            if let Some(simulation) = simulation {
                pass.report_simulation(simulation, &warnings, &mut reports);
            }
            if let Some(memory) = memory {
                pass.report_memory(memory, &mut reports);
            }
            if let Some(reuse) = reuse {
                reports.reuse = pass.report(reuse.into_findings(), Vec::new());
            }
        }
        reports
    }

    /// Where and when the ranking level is missed.
    fn missed_map(&self, times: &ChunkTimes, caches: &Caches, rank_by: Measure) -> Option<Report> {
        if !self.contents.missed_map {
            return None;
        }
        let observer = Heavy {
            observer: self.observer,
            weight: MISSED_MAP_WORK,
        };
        let origins = Arc::new(Origins::none(self.trace.program()));
        let view = View {
            measure: rank_by,
            caches: caches.clone(),
            finest: Finest::Cells(MOST_MISSED_CELLS),
            ..self.whole_map(times)
        };
        let map = Map::new(self.trace, times, origins, view);
        let (findings, summary) = run(&map, self.trace, self.threads, &observer);
        Some(soundness::report(self.trace, findings, &summary, Vec::new()))
    }

    /// Misses, layouts and what each thread did when.
    fn simulation(&self, caches: &Caches, rank_by: Measure) -> Simulation {
        let shown = Shown {
            only: None,
            top: STRUCTURES,
            rank_by,
            command: NextStep::ask("whatif", self.trace.path(), "").to_string(),
        };
        let structures = Structures::of(self.trace.program());
        let machine_code = self.trace.program().is_machine_code();
        let shown_groupings = Grouping::ALL
            .into_iter()
            .filter(|grouping| machine_code || *grouping != Grouping::Instruction);
        let groupings = (shown_groupings.collect(), self.rows);
        let simulated = LayoutAndMisses::new(structures, caches.clone(), WINDOW, shown, groupings)
            .with_sources_below(self.source_root);
        (
            SeparateFindings::new(simulated),
            SeparateFindings::new(Activity::new(self.trace)),
        )
    }

    /// The map, the allocations and, if there are several threads, what they share.
    fn memory<'t>(&self, times: &'t ChunkTimes, bins: Option<&MomentBins>) -> Memories<'t>
    where
        'r: 't,
    {
        let origins = Arc::new(Origins::of(self.trace, self.threads, self.observer));
        let map = Map::new(self.trace, times, Arc::clone(&origins), self.whole_map(times));
        let bins_of_page = bins.map(|bins| bins.bins);
        let map = match self.contents.site_owners {
            true => map.with_sites().with_moments(bins_of_page),
            false => map,
        };
        let memory = self.contents.allocations.then(|| {
            let memory = Memory::new(self.trace, times, origins, DEFAULT_SHORT_LIFE, self.rows);
            SeparateFindings::new(memory.with_moments(bins_of_page))
        });
        let sharing = self.contents.sharing.then(|| {
            let line_bytes = line_bytes_of_machine(self.trace).into();
            let sharing = Sharing::new(self.trace.program(), line_bytes, self.rows);
            SeparateFindings::new(sharing.with_moments(bins.cloned()))
        });
        SideBySide((SeparateFindings::new(map), memory), sharing)
    }

    fn whole_map(&self, times: &ChunkTimes) -> View {
        let (from_ns, to_ns) = times.range_ns();
        View {
            measure: Measure::Accesses,
            caches: Caches::none(),
            machine: None,
            from_ns,
            to_ns,
            addresses: (0, u64::MAX),
            owner: None,
            rows: DEFAULT_ROWS,
            bins: DEFAULT_BINS,
            finest: Finest::Cells(self.contents.map_cells),
            top: self.rows,
        }
    }

    fn reuse(&self, bins: Option<&MomentBins>) -> Reuse {
        Reuse {
            line_bytes: line_bytes_of_machine(self.trace),
            merged: false,
            sampling: Some(Sampling::Lines(SAMPLED_LINES)),
            groupings: vec![ReuseGrouping::Field],
            origins: Arc::new(Origins::none(self.trace.program())),
            top: CURVES,
            fine: true,
            moments: bins.cloned(),
        }
    }
}

/// A pass that is over.
struct Pass<'p> {
    reading: &'p Reading<'p>,
    /// What the pass itself found.
    common: Findings,
    summary: RunSummary,
}

impl Pass<'_> {
    fn report_simulation(&self, simulation: Simulation, warnings: &[String], reports: &mut Reports) {
        let Reading {
            trace,
            threads,
            observer,
            ..
        } = *self.reading;
        let (simulated, activity) = simulation;
        let (simulated, misses) = simulated.into_parts();
        let layout = match self.reading.contents.tried_layouts {
            true => {
                let observer = Stage::new(observer, trace, &TRIAL_WORK);
                simulated.into_layout_findings(trace, threads, &observer)
            }
            false => simulated.into_untried_layout_findings(),
        };
        reports.misses = self.report(misses, warnings.to_vec());
        reports.layout = self.report(layout, warnings.to_vec());
        reports.activity = activity.into_findings().into_report(Vec::new());
    }

    fn report_memory(&self, memories: Memories, reports: &mut Reports) {
        let SideBySide((map, memory), sharing) = memories;
        let report = |findings| self.report(findings, Vec::new());
        reports.map = report(map.into_findings());
        reports.memory = memory.map(|memory| report(memory.into_findings()));
        reports.sharing = sharing.map(|sharing| report(sharing.into_findings()));
    }

    /// Makes the report of an analysis that shared the pass.
    fn report(&self, mut findings: Findings, warnings: Vec<String>) -> Report {
        let order = self.common.tables.iter().filter(|table| table.name() == "order");
        findings.tables.extend(order.cloned());
        soundness::report(self.reading.trace, findings, &self.summary, warnings)
    }
}
