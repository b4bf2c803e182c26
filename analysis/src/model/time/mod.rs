//! The model of time: what a program waits for. `docs/verbs/time.md` defines what it counts.
//!
//! Caches say which level serves each access, [`core`] how much of that the program waits for.

mod blocks;
mod branches;
mod core;
mod costs;
mod detours;
mod forwarding;
mod sites;
mod walks;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use trackway_trace::{Batch, BatchItem, Event, Lane, Piece, Program};

use self::core::{Core, Served};
use super::cache::{Access, Caches, LineChanges, Outcome, Page, Pages, Simulator, Totals, MAX_TLB_LEVELS};
use super::site_counts::{address_space, SiteCounters};
#[cfg(test)]
pub(crate) use core::tests::costs as test_costs;
pub use costs::Costs;
use costs::{NewPages, SERVING};
pub(crate) use sites::TimedSites;

/// Other places, and lines that are asked for before, save what accesses wait, and little of what others do. So such changes are
/// looked at where the accesses wait in at least this part of the time: half of what a change must save to be shown.
pub(crate) const LEAST_WAITING: f64 = 0.01;

/// A machine: its caches with their prefetchers, and what they cost.
#[derive(Debug, Clone)]
pub struct Machine {
    pub caches: Caches,
    pub costs: Costs,
}

impl Machine {
    /// The cycles that these accesses of the program's sites, with the instructions around them, would take if none
    /// waited for anything.
    pub fn cycles_of_work(&self, program: &Program, counters: &[SiteCounters]) -> u64 {
        let all: f64 = self.work_ns(program, counters).sum();
        self.cycles(all)
    }

    /// The cycles of each of the program's sites beyond those of work: what its accesses, and the instructions around them,
    /// waited.
    pub fn cycles_waited(&self, program: &Program, counters: &[SiteCounters]) -> Vec<u64> {
        let work = self.work_ns(program, counters);
        let beyond = |(counters, ns): (&SiteCounters, f64)| counters.cycles.saturating_sub(self.cycles(ns));
        counters.iter().zip(work).map(beyond).collect()
    }

    /// The time of each site's accesses if none waited for anything.
    fn work_ns<'c>(
        &'c self,
        program: &Program,
        counters: &'c [SiteCounters],
    ) -> impl Iterator<Item = f64> + use<'c> {
        let sites = TimedSites::of(program);
        let known = counters.iter().enumerate().take(sites.count());
        known.map(move |(site, counters)| {
            let (instructions, waits) = sites.instructions_and_waits(site);
            (instructions + waits) * counters.accesses as f64 * self.costs.instruction_ns
        })
    }

    /// How long so many cycles take.
    pub fn nanoseconds(&self, cycles: u64) -> u64 {
        (cycles as f64 / self.costs.ghz).round() as u64
    }

    fn cycles(&self, ns: f64) -> u64 {
        (ns * self.costs.ghz).round() as u64
    }
}

/// The time that the accesses of some streams take, as far as it has come.
#[derive(Debug)]
pub(crate) struct Timing {
    machine: Arc<Machine>,
    sites: Arc<TimedSites>,
    /// One for each stream, or one for all if a level is shared.
    caches: BTreeMap<u32, Levels>,
    cores: BTreeMap<u32, Core>,
    /// Nanoseconds of each site.
    spent: Vec<f64>,
}

impl Timing {
    /// The caches must have at least one level, else there is nothing to time.
    pub fn new(machine: Arc<Machine>) -> Timing {
        Timing {
            machine,
            sites: Arc::default(),
            caches: BTreeMap::new(),
            cores: BTreeMap::new(),
            spent: Vec::new(),
        }
    }

    /// Learns the program's sites. Sites that it knows come first.
    pub fn take_sites(&mut self, sites: Arc<TimedSites>) {
        self.spent.resize(sites.count().max(self.spent.len()), 0.0);
        for core in self.cores.values_mut() {
            core.make_room(sites.count(), sites.type_count);
        }
        self.sites = sites;
    }

    /// Returns by how many cycles the batch's stream ends later.
    pub fn take(&mut self, batch: &Batch) -> u64 {
        self.take_each(batch, |_| ())
    }

    /// The same, with the cycles of each access outside of runs.
    pub fn take_each(&mut self, batch: &Batch, mut each: impl FnMut(f64)) -> u64 {
        let shared = self.machine.caches.any_shared();
        let key = if shared { 0 } else { batch.stream };
        let machine = &*self.machine;
        let Some(levels) = levels_of(&mut self.caches, key, machine) else {
            return 0;
        };
        let sites = &*self.sites;
        let core = self.cores.entry(batch.stream);
        let core = core.or_insert_with(|| Core::new(sites.count(), sites.type_count));
        let before = core.ended();
        let mut run = CoreRun {
            costs: &machine.costs,
            memory: Costs::memory(&machine.caches),
            cpu: levels.simulator.core_of(batch.stream),
            process: address_space(batch, shared),
            levels,
            sites,
            core,
            spent: &mut self.spent,
            latest_ns: 0.0,
        };
        for (item, is_inside) in batch.all_items_of_slice() {
            match item {
                BatchItem::Accesses(Piece::Accesses(range)) => range.for_each(|index| {
                    let site = batch.site[index].index();
                    run.access(site, batch.address[index], batch.length(index));
                    each(run.latest_ns * machine.costs.ghz);
                }),
                BatchItem::Accesses(Piece::Run(piece)) => run.run(batch.lanes(piece), piece.count),
                BatchItem::Event(Event::Enter(_)) => run.core.call(),
                BatchItem::Event(Event::Exit(_)) => run.core.return_from_call(),
                // Of machine code, the allocator's own accesses are recorded.
                BatchItem::Event(event) if sites.know_work && is_inside => run.call_allocator(event),
                BatchItem::Event(_) => (),
            }
        }
        machine.cycles(core.ended()) - machine.cycles(before)
    }

    /// Streams are in one of both only.
    pub fn merge(&mut self, from: &Timing) {
        self.spent.resize(from.spent.len().max(self.spent.len()), 0.0);
        self.spent
            .iter_mut()
            .zip(&from.spent)
            .for_each(|(sum, more)| *sum += more);
    }

    /// What it found, without what it would need to go on.
    pub fn summed(&self) -> Timing {
        let mut summed = Timing::new(Arc::clone(&self.machine));
        summed.merge(self);
        summed
    }

    /// Cycles of each site.
    pub fn cycles(&self) -> impl Iterator<Item = u64> + '_ {
        self.spent.iter().map(|&ns| self.machine.cycles(ns))
    }
}

fn levels_of<'l>(all: &'l mut BTreeMap<u32, Levels>, key: u32, machine: &Machine) -> Option<&'l mut Levels> {
    match all.entry(key) {
        Entry::Occupied(known) => Some(known.into_mut()),
        Entry::Vacant(place) => Some(place.insert(Levels::new(&machine.caches)?)),
    }
}

/// What the system fills with zeros just before the program goes on.
const ZEROED_BYTES: u64 = 4096;

/// Caches, and what accesses have done in them.
#[derive(Debug)]
struct Levels {
    simulator: Simulator,
    changes: LineChanges,
    seen: Totals,
    seen_changes: u64,
    outcome: Outcome,
    now_ns: f64,
    /// Logarithm of a line's bytes.
    line_shift: u32,
    /// The pages that were accessed.
    known_pages: HashSet<Page>,
    pages: Pages,
    tlbs: usize,
}

impl Levels {
    fn new(caches: &Caches) -> Option<Levels> {
        Some(Levels {
            simulator: Simulator::new(caches)?,
            changes: caches.line_changes()?,
            seen: Totals::default(),
            seen_changes: 0,
            outcome: Outcome::default(),
            now_ns: 0.0,
            line_shift: caches.levels().first()?.geometry.line_bytes.trailing_zeros(),
            known_pages: HashSet::new(),
            pages: caches.pages(),
            tlbs: caches.tlbs().len(),
        })
    }

    /// The pages of an access that are new. Only a page that the TLB lacked can be.
    fn new_pages(&mut self, access: &Access) -> NewPages {
        let mut new = NewPages::default();
        if self.outcome.tlb_misses[0] > 0 {
            let last = access.address.saturating_add(access.length.saturating_sub(1));
            for page in self.pages.between(access.address, last) {
                if self.known_pages.insert(page) {
                    new.note(page);
                }
            }
        }
        new
    }

    /// The system fills new pages with zeros, which leaves their lines in the caches: they don't come from memory. A part of
    /// 4 KiB of a larger page is filled last, the one that is accessed. `site` is that of the system's accesses.
    fn provide(&mut self, access: &Access, served: &mut Served, memory: usize, site: usize) {
        let mut filled = (served.new_pages.count() * ZEROED_BYTES) >> self.line_shift;
        served.level = 0;
        for level in (1..=memory).rev() {
            for lines in [&mut served.lines[level], &mut served.prefetched[level]] {
                let from_zeros = filled.min(*lines);
                *lines -= from_zeros;
                filled -= from_zeros;
            }
            if served.lines[level] > 0 {
                served.level = served.level.max(level);
            }
        }
        if access.length <= ZEROED_BYTES {
            let zeroed = Access {
                site,
                address: access.address / ZEROED_BYTES * ZEROED_BYTES,
                length: ZEROED_BYTES,
                is_write: true,
                ..*access
            };
            self.simulator.access(&zeroed, &mut Outcome::default());
            self.seen = self.simulator.totals();
            self.seen_changes = self.simulator.changes();
            self.changes.displaced();
        }
    }

    /// What the last access did, since [`Levels::seen`].
    fn served(&mut self, costs: &Costs, memory: usize) -> Served {
        let outcome = std::mem::take(&mut self.outcome);
        let totals = self.simulator.totals();
        let traffic = totals.traffic - self.seen.traffic;
        let (mut written_back, mut prefetched) = ([0; SERVING], [0; SERVING]);
        for level in 1..=memory {
            prefetched[level] = totals.levels[level - 1].prefetches - self.seen.levels[level - 1].prefetches;
            written_back[level] =
                totals.levels[level - 1].write_backs - self.seen.levels[level - 1].write_backs;
        }
        self.seen = totals;
        let mut served = Served {
            transfer: traffic.transfers + traffic.interventions + outcome.invalidations > 0,
            written_back,
            ..Served::default()
        };
        for level in 1..=memory {
            let further = if level < memory { outcome.misses[level] } else { 0 };
            served.lines[level] = outcome.misses[level - 1].saturating_sub(further);
            if served.lines[level] > 0 {
                served.level = level;
            }
        }
        served.prefetched = prefetched;
        let from_memory = traffic.bytes_read >> self.line_shift;
        served.prefetched[memory] = from_memory.saturating_sub(served.lines[memory]);
        let last_tlb = self.tlbs.checked_sub(1);
        served.walks = last_tlb.is_some_and(|last| outcome.tlb_misses[last] > 0);
        let missed = outcome.tlb_misses.iter().zip(costs.translation_ns);
        let missed = missed.filter(|(&misses, _)| misses > 0);
        // One level of TLB alone is the last.
        served.translation_ns = match served.walks {
            true => costs.translation_ns[MAX_TLB_LEVELS - 1],
            false => missed.map(|(_, ns)| ns).fold(0.0, f64::max),
        };
        served
    }
}

/// A core while it takes a batch.
struct CoreRun<'r> {
    costs: &'r Costs,
    memory: usize,
    cpu: usize,
    process: u64,
    levels: &'r mut Levels,
    sites: &'r TimedSites,
    core: &'r mut Core,
    spent: &'r mut [f64],
    /// What the last access took.
    latest_ns: f64,
}

impl CoreRun<'_> {
    /// Returns whether the caches changed.
    #[inline(always)]
    fn access(&mut self, site: usize, address: u64, length: u64) -> bool {
        let levels = &mut *self.levels;
        let access = Access {
            core: self.cpu,
            site,
            address: address ^ self.process,
            length,
            is_write: self.sites.is_store(site),
        };
        // Cores that share caches have each their own time; the latest is that of the caches.
        levels.now_ns = levels.now_ns.max(self.core.ended());
        levels.simulator.set_time(levels.now_ns);
        levels.simulator.access(&access, &mut levels.outcome);
        let changes = levels.simulator.changes();
        let changed = changes != levels.seen_changes;
        let line = access.address >> levels.line_shift;
        let word = access.address / 8;
        let served = match changed || levels.outcome.misses[0] > 0 {
            true => {
                levels.seen_changes = changes;
                let new_pages = levels.new_pages(&access);
                let mut served = Served {
                    line,
                    word,
                    new_pages,
                    ..levels.served(self.costs, self.memory)
                };
                if new_pages.count() > 0 {
                    levels.provide(&access, &mut served, self.memory, self.sites.count());
                }
                served
            }
            false => Served {
                line,
                word,
                ..Served::default()
            },
        };
        let work = self.sites.work(site);
        self.latest_ns = self.core.access(self.costs, &work, &served, self.memory);
        self.spent[site] += self.latest_ns;
        changed
    }

    fn call_allocator(&mut self, event: Event) {
        match event {
            event if event.allocation_failed() => (),
            Event::Allocate { address, .. } => self.core.allocate(address, self.costs),
            Event::Free { address, .. } => self.core.give_back(address, self.costs),
            Event::Reallocate {
                old_address,
                new_address,
                ..
            } => {
                self.core.give_back(old_address, self.costs);
                self.core.allocate(new_address, self.costs);
            }
            _ => (),
        }
    }

    fn run(&mut self, lanes: &[Lane], count: u64) {
        self.levels.changes.begin(lanes, count);
        while let Some(iteration) = self.levels.changes.next_iteration() {
            let mut changed = false;
            for lane in lanes {
                changed |= self.access(lane.site.index(), lane.address_in(iteration), lane.size.into());
            }
            self.levels.changes.simulated(lanes, changed);
            let next = self.levels.changes.next_iteration().unwrap_or(count);
            self.run_on(lanes, next - iteration - 1);
        }
    }

    /// Iterations that find all they need in the first level.
    fn run_on(&mut self, lanes: &[Lane], count: u64) {
        for lane in lanes {
            let site = lane.site.index();
            let (instructions, waits) = self.sites.instructions_and_waits(site);
            let count = count as f64;
            self.spent[site] += self.core.run_on(instructions * count, waits * count, self.costs);
        }
    }
}

#[cfg(test)]
mod tests {
    use trackway_trace::{AccessKind, FunctionId, LocationId, Site, SiteWork, StringId, VariableKind};

    use super::*;

    fn program_of_loads(works: impl IntoIterator<Item = SiteWork>) -> Program {
        let mut program = Program::default();
        for work in works {
            program.work.push(Some(work));
            program.sites.push(Site {
                function: FunctionId(0),
                ordinal: 0,
                part: 0,
                kind: AccessKind::Load,
                size: 8,
                location: LocationId(0),
                variable: StringId(0),
                variable_kind: VariableKind::Unknown,
                object_type: StringId(0),
                field: StringId(0),
                value_type: StringId(0),
                waits: false,
            });
        }
        program
    }

    #[test]
    fn what_was_waited_is_beyond_work() {
        let work = |instructions, waits| SiteWork {
            instructions,
            waits,
            ..SiteWork::default()
        };
        let program = program_of_loads([work(10, 2), work(3, 0)]);
        let machine = Machine {
            caches: Caches::default(),
            costs: core::tests::costs(),
        };
        let counters = |accesses, cycles| SiteCounters {
            accesses,
            cycles,
            ..SiteCounters::default()
        };
        // A cycle for each instruction. The second site ran in the shadow of the first.
        let counters = [counters(100, 5000), counters(100, 250)];
        assert_eq!(machine.cycles_of_work(&program, &counters), 1500);
        assert_eq!(machine.cycles_waited(&program, &counters), [3800, 0]);
    }
}
