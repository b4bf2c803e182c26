//! What was counted until now.

use std::collections::HashMap;

use trackway_trace::{Batch, Program};

use super::counting::{Counting, Counts, Simulated};
use super::cycles::Cycles;
use super::grid::Grid;
use super::owners::Owners;
use super::simulation::Simulation;
use super::site_owners::SiteOwners;
use super::Map;
use crate::model::blocks::{OriginCursor, Processes};
use crate::model::moments::Clock;
use crate::model::site_counts::Measure;

/// Key of the simulation of threads that share a cache. Other simulations have one core, of number 0.
const SHARED: u32 = u32::MAX;

/// What was counted until now.
pub struct MapShard {
    pub(super) grid: Grid,
    pub(super) owners: Owners,
    processes: Processes<u32>,
    clock: Clock,
    cursor: OriginCursor,
    pub(super) counts: Counts,
    simulations: HashMap<u32, Option<Simulation>>,
    /// None if the measure isn't of cycles.
    cycles: Option<Cycles>,
    /// None if they are not asked for.
    pub(super) site_owners: Option<SiteOwners>,
}

impl MapShard {
    pub fn new(map: &Map) -> Self {
        let threads = map.trace.streams().len();
        MapShard {
            grid: Grid::new(map.bins.count(), map.view.rows.max(2 * threads)),
            owners: Owners::default(),
            processes: Processes::new(map.trace),
            clock: Clock::default(),
            cursor: OriginCursor::default(),
            counts: Counts::default(),
            simulations: HashMap::new(),
            cycles: map.view.machine.as_ref().map(Cycles::new),
            site_owners: map.with_sites.then(SiteOwners::default),
        }
    }

    pub fn take(&mut self, map: &Map, batch: &Batch) {
        let position = self.clock.advance(map.times, batch);
        self.counts.accesses = self.counts.accesses.saturating_add(batch.access_count());
        let (places, thread) = self.processes.of(batch);
        let counting = Counting {
            map,
            batch,
            position,
            places,
            thread,
            grid: &mut self.grid,
            owners: &mut self.owners,
            cursor: &mut self.cursor,
            counts: &mut self.counts,
            site_owners: self.site_owners.as_mut(),
        };
        let simulated = match (map.measure, &mut self.cycles) {
            (Measure::Misses(level), _) => {
                let shared = map.view.caches.any_shared();
                let key = if shared { SHARED } else { batch.stream };
                let simulation = self.simulations.entry(key);
                let simulation = simulation.or_insert_with(|| Simulation::new(&map.view.caches, level));
                simulation.as_mut().map_or(Simulated::Nothing, Simulated::Misses)
            }
            (Measure::Cycles, Some(cycles)) => {
                cycles.estimate(batch);
                Simulated::Cycles(&cycles.of_batch)
            }
            _ => Simulated::Nothing,
        };
        counting.take(simulated);
    }

    pub fn take_program(&mut self, program: &Program) {
        if let Some(cycles) = &mut self.cycles {
            cycles.take_program(program);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.counts == Counts::default() && self.owners.list.is_empty()
    }
}
