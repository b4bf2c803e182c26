//! Counts into the grid.

use std::collections::HashMap;
use std::ops::Range;

use trackway_trace::{AllocationSiteId, Batch, Event};

use super::grid::Grid;
use super::owners::{Owner, OwnerKind, Owners};
use super::Map;
use crate::blocks::{Block, End, Inherit, Place, Places, Processes, Stretch, Thread, Witness};
use crate::cache::{Access, Outcome, Simulator};
use crate::misses::{address_space, Measure};
use crate::moments::{Clock, Position};

/// Bytes are counted where they lie in pieces of this length.
const PIECE_BYTES: u64 = 64;
/// In place of the owner's number or the row's: it is not shown.
const HIDDEN: u32 = u32::MAX;
/// Simulations other than that of threads that share a cache have one core, of number 0.
const SHARED: u32 = u32::MAX;

/// What was counted until now.
pub struct MapShard {
    pub(super) grid: Grid,
    pub(super) owners: Owners,
    processes: Processes<u32>,
    clock: Clock,
    pub(super) counts: Counts,
    simulators: HashMap<u32, Simulator>,
}

/// What the map rests on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// All of the trace.
    pub accesses: u64,
    /// Blocks that ended where others began.
    pub overlapped: u64,
    pub unknown_releases: u64,
}

impl MapShard {
    pub fn new(map: &Map) -> Self {
        let threads = map.trace.streams().len();
        MapShard {
            grid: Grid::new(map.bins.count(), map.view.rows.max(2 * threads)),
            owners: Owners::default(),
            processes: Processes::new(map.trace),
            clock: Clock::default(),
            counts: Counts::default(),
            simulators: HashMap::new(),
        }
    }

    pub fn take(&mut self, map: &Map, batch: &Batch) {
        let position = self.clock.advance(map.times, batch);
        self.counts.accesses += batch.len() as u64;
        let (places, thread) = self.processes.of(batch);
        let mut counting = Counting {
            map,
            batch,
            position,
            places,
            thread,
            grid: &mut self.grid,
            owners: &mut self.owners,
            counts: &mut self.counts,
        };
        let shared = map.view.caches.any_shared();
        let key = if shared { SHARED } else { batch.stream };
        let mut simulator = match map.measure {
            Measure::Misses(_) => self
                .simulators
                .remove(&key)
                .or_else(|| Simulator::new(&map.view.caches)),
            _ => None,
        };
        counting.take(simulator.as_mut());
        self.simulators
            .extend(simulator.map(|simulator| (key, simulator)));
    }

    pub fn is_empty(&self) -> bool {
        self.counts == Counts::default() && self.owners.list.is_empty()
    }
}

/// A batch on its way into the grid.
struct Counting<'c, 't> {
    map: &'c Map<'t>,
    batch: &'c Batch,
    position: Position,
    places: &'c mut Places<u32>,
    thread: &'c mut Thread,
    grid: &'c mut Grid,
    owners: &'c mut Owners,
    counts: &'c mut Counts,
}

impl Counting<'_, '_> {
    fn take(&mut self, mut simulator: Option<&mut Simulator>) {
        let mut next = 0;
        for mark in &self.batch.marks {
            let event = self.batch.event(*mark);
            if let Event::Enter(_) | Event::Exit(_) | Event::Order { .. } = event {
                continue;
            }
            let end = mark.before as usize;
            self.accesses(next..end, simulator.as_deref_mut());
            next = next.max(end);
            let mut births = Births {
                process: self.batch.process,
                map: self.map,
                owners: self.owners,
                counts: self.counts,
            };
            self.places.heap.apply(&event, self.batch.stream, &mut births);
        }
        self.accesses(next..self.batch.len(), simulator);
    }

    /// First finds the thread's stack, whether it is shown or not.
    fn accesses(&mut self, range: Range<usize>, mut simulator: Option<&mut Simulator>) {
        let local = &self.map.local;
        let on_stack = self
            .thread
            .first_on_stack(self.places, local, self.batch, range.clone());
        if let Some(index) = on_stack {
            self.parts(range.start..index, simulator.as_deref_mut());
            self.thread.take_stack(self.places, self.batch, index);
            return self.parts(index..range.end, simulator);
        }
        self.parts(range, simulator);
    }

    /// In parts that lie in one part of time each.
    fn parts(&mut self, range: Range<usize>, mut simulator: Option<&mut Simulator>) {
        let bins = self.map.bins;
        let mut next = range.start;
        while next < range.end {
            let time_ns = self.position.time_of(next);
            let bin = bins.of(time_ns);
            let until = match bin {
                Some(bin) if bins.end_ns(bin) <= bins.last_ns => self.position.first_at(bins.end_ns(bin)),
                None if time_ns < bins.first_ns => self.position.first_at(bins.first_ns),
                Some(_) => self.behind_the_last(),
                None => usize::MAX,
            };
            let part = next..until.clamp(next + 1, range.end);
            next = part.end;
            match (self.map.measure, simulator.as_deref_mut()) {
                (Measure::Misses(level), Some(simulator)) => self.count_misses(part, bin, level, simulator),
                (Measure::Bytes, _) => bin
                    .into_iter()
                    .for_each(|bin| self.count_bytes(part.clone(), bin)),
                _ => bin
                    .into_iter()
                    .for_each(|bin| self.count_accesses(part.clone(), bin)),
            }
        }
    }

    /// The first access behind the last part of time.
    fn behind_the_last(&self) -> usize {
        match self.map.bins.last_ns.checked_add(1) {
            Some(time_ns) => self.position.first_at(time_ns),
            None => usize::MAX,
        }
    }

    fn count_accesses(&mut self, part: Range<usize>, bin: usize) {
        for index in part {
            let site = self.batch.site[index];
            let row = self.row_of(index, self.batch.address[index]);
            if row != HIDDEN {
                self.grid.add(row, bin, self.map.writes[site.index()], 1);
            }
        }
    }

    fn count_bytes(&mut self, part: Range<usize>, bin: usize) {
        for index in part {
            let is_write = self.map.writes[self.batch.site[index].index()];
            for (address, length) in pieces(self.batch, index, PIECE_BYTES) {
                let row = self.row_of(index, address);
                if row != HIDDEN {
                    self.grid.add(row, bin, is_write, length);
                }
            }
        }
    }

    fn count_misses(
        &mut self,
        part: Range<usize>,
        bin: Option<usize>,
        level: usize,
        simulator: &mut Simulator,
    ) {
        let caches = &self.map.view.caches;
        let line_bytes = caches
            .levels()
            .first()
            .map_or(PIECE_BYTES, |first| first.geometry.line_bytes.into());
        let space = address_space(self.batch, caches.any_shared());
        let core = simulator.core_of(self.batch.stream);
        let mut outcome = Outcome::default();
        for index in part {
            let site = self.batch.site[index].index();
            let is_write = self.map.writes[site];
            for (address, length) in pieces(self.batch, index, line_bytes) {
                let access = Access {
                    core,
                    site,
                    address: address ^ space,
                    length,
                    is_write,
                };
                let before = outcome.misses[level];
                simulator.access(&access, &mut outcome);
                let (Some(bin), misses @ 1..) = (bin, outcome.misses[level] - before) else {
                    continue;
                };
                let row = self.row_of(index, address);
                if row != HIDDEN {
                    self.grid.add(row, bin, is_write, misses);
                }
            }
        }
    }

    #[inline(always)]
    fn row_of(&mut self, index: usize, address: u64) -> u32 {
        let site = self.batch.site[index];
        let owner = match self.thread.spots.find(&self.places.heap, site, address) {
            Some(owner) => owner,
            None => self.find_owner(index, address),
        };
        match owner {
            HIDDEN => HIDDEN,
            owner => self.grid.row_at(owner, self.batch.stream, address),
        }
    }

    #[inline(never)]
    fn find_owner(&mut self, index: usize, address: u64) -> u32 {
        let mut stretch = self.places.find(address);
        let owner = self.owner_of(stretch.place);
        let is_shown = self.owners.is_shown(owner) && clip(&mut stretch, address, self.map.view.addresses);
        let owner = if is_shown { owner } else { HIDDEN };
        let site = self.batch.site[index];
        self.thread
            .spots
            .remember(&self.places.heap, site, &stretch, owner);
        owner
    }

    fn owner_of(&mut self, place: Place) -> u32 {
        let kind = match place {
            Place::Block(slot) => return *self.places.heap.data(slot),
            Place::Static(symbol) => OwnerKind::Static(symbol),
            Place::Stack(stream) => OwnerKind::Stack(stream),
            Place::Other => OwnerKind::Other,
        };
        let owner = Owner {
            process: self.batch.process,
            kind,
        };
        let map = self.map;
        self.owners.number(owner, |owner| map.shows(owner.kind))
    }
}

impl Inherit for u32 {
    /// Blocks of a forked process are still their owner's.
    fn inherited(&self) -> u32 {
        *self
    }
}

/// Says of new blocks whose they are.
struct Births<'b, 't> {
    process: u32,
    map: &'b Map<'t>,
    owners: &'b mut Owners,
    counts: &'b mut Counts,
}

impl Witness<u32> for Births<'_, '_> {
    fn begins(&mut self, block: &Block) -> u32 {
        let owner = Owner {
            process: self.process,
            kind: OwnerKind::Allocation(block.site),
        };
        let map = self.map;
        self.owners.number(owner, |owner| map.shows(owner.kind))
    }

    fn ends(&mut self, _: &Block, _: &u32, end: End) {
        self.counts.overlapped += u64::from(end == End::Overlapped);
    }

    fn fails(&mut self, _: AllocationSiteId) {}

    fn frees_nothing(&mut self, _: AllocationSiteId) {
        self.counts.unknown_releases += 1;
    }
}

/// The parts of an access that lie in different lines, as address and length. What is beyond the end of the address
/// space is left out.
fn pieces(batch: &Batch, index: usize, line_bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut address = batch.address[index];
    let mut rest = batch.length(index);
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let length = rest.min(line_bytes - address % line_bytes);
        let piece = (address, length);
        (address, rest) = match address.checked_add(length) {
            Some(next) => (next, rest - length),
            None => (address, 0),
        };
        Some(piece)
    })
}

/// Cuts a stretch to the addresses that are shown or, if the one that it is about is not, to those that are not.
fn clip(stretch: &mut Stretch, address: u64, (first, last): (u64, u64)) -> bool {
    let end = last.wrapping_add(1); // 0: the end of the address space
    if address < first {
        if stretch.to.wrapping_sub(1) >= first {
            stretch.to = first;
        }
        return false;
    }
    if address > last {
        stretch.from = stretch.from.max(end);
        return false;
    }
    stretch.from = stretch.from.max(first);
    if end != 0 && stretch.to.wrapping_sub(1) > last {
        stretch.to = end;
    }
    true
}
