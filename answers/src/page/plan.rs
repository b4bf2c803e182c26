//! What is shown of a trace, and which passes over it find that.

use trackway_analysis::blocks::Origins;
use trackway_analysis::cache::Caches;
use trackway_analysis::site_counts::Measure;
use trackway_trace::Trace;

/// Cells of the map's finest resolution; with more the page would be too large.
pub const MOST_CELLS: usize = 120_000;
/// The same of the map of misses, which has the others beside it.
pub(super) const MOST_MISSED_CELLS: usize = 40_000;
/// The same of the map of a trace that is shown beside another one.
const MOST_CELLS_BESIDE: usize = 40_000;
/// How much of a trace is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All that a page shows.
    Page,
    /// What stands beside that of another trace.
    Beside,
}

/// What is found of a trace beside misses, layouts, reuse, places and what threads did when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Contents {
    /// Cells of the map's finest resolution.
    pub map_cells: usize,
    /// The owners of the memory that each site accesses, and when.
    pub site_owners: bool,
    /// Where and when the ranking level is missed.
    pub missed_map: bool,
    /// What was allocated, and for how long.
    pub allocations: bool,
    /// What threads share.
    pub sharing: bool,
    /// What proposed layouts save, simulated.
    pub tried_layouts: bool,
}

impl Contents {
    /// Allocations are those of the whole run: a slice has none.
    fn of(trace: &Trace, rank_by: Measure, extent: Extent) -> Contents {
        match extent {
            Extent::Page => Contents {
                map_cells: MOST_CELLS,
                site_owners: true,
                missed_map: matches!(rank_by, Measure::Misses(_)),
                allocations: trace.slice().is_none(),
                sharing: trace.streams().len() > 1,
                tried_layouts: true,
            },
            Extent::Beside => Contents {
                map_cells: MOST_CELLS_BESIDE,
                site_owners: false,
                missed_map: false,
                allocations: false,
                sharing: false,
                tried_layouts: false,
            },
        }
    }
}

/// Which parts share a pass, as far as the orders that they need allow.
pub(super) struct Plan {
    pub passes: Vec<Parts>,
    pub contents: Contents,
}

/// Parts of the page.
#[derive(Clone, Copy, Default)]
pub(super) struct Parts {
    pub simulation: bool,
    pub memory: bool,
    pub reuse: bool,
}

impl Plan {
    /// Memory needs one order of all threads, reuse that of each, and the simulation what its caches need.
    pub fn of(trace: &Trace, (caches, rank_by): (&Caches, Measure), extent: Extent) -> Plan {
        let is_merged = trace.streams().len() > 1;
        let simulation_is_merged = is_merged && caches.any_shared();
        let parts = Parts {
            simulation: simulation_is_merged || !is_merged,
            memory: true,
            reuse: !is_merged,
        };
        let others = Parts {
            simulation: !parts.simulation,
            memory: false,
            reuse: !parts.reuse,
        };
        let passes = match is_merged {
            true => vec![parts, others],
            false => vec![parts],
        };
        Plan {
            passes,
            contents: Contents::of(trace, rank_by, extent),
        }
    }

    /// The work of all passes, with those before and after.
    pub fn work(&self, trace: &Trace) -> u64 {
        let origins = match Origins::divide(trace.program()) {
            true => Origins::PASSES,
            false => 0,
        };
        let passes: u64 = self.passes.iter().map(|parts| parts.work()).sum();
        let missed_map = match self.contents.missed_map {
            true => MISSED_MAP_WORK,
            false => 0,
        };
        let trials = match self.contents.tried_layouts {
            true => TRIAL_WORK.iter().sum(),
            false => 0,
        };
        1 + PLACES_WORK + origins + passes + missed_map + trials
    }
}

/// What a pass that only decodes costs, in the unit of what looking for changes costs.
pub(super) const COST_OF_DECODING: u64 = 2;
/// Work of the parts of the page, and of the two passes that try the proposed layouts, by the time that they take with
/// programs that follow pointers.
const SIMULATION_WORK: u64 = 5;
const MEMORY_WORK: u64 = 5;
const REUSE_WORK: u64 = 2;
pub(super) const TRIAL_WORK: [u64; 2] = [2, 15];
pub(super) const PLACES_WORK: u64 = 5;
pub(super) const MISSED_MAP_WORK: u64 = 5;

impl Parts {
    pub fn work(self) -> u64 {
        let works = [
            (self.simulation, SIMULATION_WORK),
            (self.memory, MEMORY_WORK),
            (self.reuse, REUSE_WORK),
        ];
        works
            .into_iter()
            .filter_map(|(is_in, work)| is_in.then_some(work))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn contents(extent: Extent) -> (Plan, u64) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v2.trackway");
        let trace = Trace::open(&path).unwrap();
        let caches: Caches = "L1=32K,8,64".parse().unwrap();
        let rank_by = Measure::default_for(&caches);
        let plan = Plan::of(&trace, (&caches, rank_by), extent);
        let work = plan.work(&trace);
        (plan, work)
    }

    #[test]
    fn what_stands_beside_another_trace_takes_less_work() {
        let ((page, work), (beside, less)) = (contents(Extent::Page), contents(Extent::Beside));
        assert!(page.contents.missed_map && page.contents.allocations && page.contents.tried_layouts);
        assert!(!beside.contents.missed_map && !beside.contents.sharing && !beside.contents.site_owners);
        assert!(beside.contents.map_cells < page.contents.map_cells);
        assert_eq!(work - less, MISSED_MAP_WORK + TRIAL_WORK.iter().sum::<u64>());
        assert_eq!(page.passes.len(), beside.passes.len());
    }

    #[test]
    fn each_part_is_found_by_one_pass() {
        let (plan, _) = contents(Extent::Page);
        let count = |is_in: fn(&Parts) -> bool| plan.passes.iter().filter(|parts| is_in(parts)).count();
        assert_eq!(
            [
                count(|parts| parts.simulation),
                count(|parts| parts.memory),
                count(|parts| parts.reuse)
            ],
            [1; 3]
        );
    }
}
