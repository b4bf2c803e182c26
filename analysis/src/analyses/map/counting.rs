//! Counts into the grid.

use std::ops::Range;

use trackway_trace::{AllocationSiteId, Batch, BatchItem, Event, Piece, SiteId};

use super::grid::Grid;
use super::owners::{Owner, OwnerKind, Owners};
use super::simulation::Simulation;
use super::site_owners::SiteOwners;
use super::Map;
use crate::model::blocks::{
    Block, End, Inherit, Known, MemoryPlace, OriginCursor, Places, Stretch, Thread, Witness,
};
use crate::model::moments::Position;

/// Stands for an owner or a row that is not shown.
pub(super) const HIDDEN: u32 = u32::MAX;

/// What the map rests on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// All of the trace.
    pub accesses: u64,
    /// Blocks that ended where others began.
    pub overlapped: u64,
    pub unknown_releases: u64,
}

/// What the simulation adds to the batch's accesses.
pub(super) enum Simulated<'s> {
    Nothing,
    Misses(&'s mut Simulation),
    /// The cycles of each access.
    Cycles(&'s [u64]),
}

/// A batch on its way into the grid.
pub(super) struct Counting<'c, 't> {
    pub map: &'c Map<'t>,
    pub batch: &'c Batch,
    /// Where the present piece begins.
    pub position: Position,
    pub places: &'c mut Places<u32>,
    pub thread: &'c mut Thread,
    pub grid: &'c mut Grid,
    pub owners: &'c mut Owners,
    pub cursor: &'c mut OriginCursor,
    pub counts: &'c mut Counts,
    pub site_owners: Option<&'c mut SiteOwners>,
}

impl Counting<'_, '_> {
    pub fn take(mut self, mut simulated: Simulated) {
        for item in self.batch.items() {
            match item {
                BatchItem::Accesses(piece) => {
                    self.take_piece(&piece, &mut simulated);
                    self.position.pass(piece.access_count());
                }
                BatchItem::Event(event) => self.take_event(event),
            }
        }
    }

    fn take_event(&mut self, event: Event) {
        let event = self.cursor.divide(&self.map.origins, self.batch, event);
        let mut births = Births {
            process: self.batch.process,
            map: self.map,
            owners: self.owners,
            counts: self.counts,
        };
        self.places.heap.apply(&event, self.batch.stream, &mut births);
    }

    /// First finds the thread's stack, whether it is shown or not.
    fn take_piece(&mut self, piece: &Piece, simulated: &mut Simulated) {
        let local = &self.map.local;
        let on_stack = self.thread.first_on_stack(self.places, local, self.batch, piece);
        let count = piece.access_count();
        self.sections(count, on_stack, |counting, part, bin| {
            match (piece, &mut *simulated, bin) {
                (Piece::Accesses(range), Simulated::Misses(simulation), bin) => {
                    counting.simulate(part_of(range, &part), bin, simulation);
                }
                (Piece::Accesses(range), Simulated::Cycles(cycles), Some(bin)) => {
                    counting.count_cycles(part_of(range, &part), bin, cycles);
                }
                (piece, _, Some(bin)) => counting.count(piece, part, bin),
                (_, _, None) => {}
            }
        });
    }

    /// A piece in parts of which all is known: each is before or after the first access to the stack, if that is now,
    /// and in one part of time, or in none.
    fn sections(
        &mut self,
        count: u64,
        on_stack: Option<(u64, u64)>,
        mut take: impl FnMut(&mut Self, Range<u64>, Option<usize>),
    ) {
        let Some((first, address)) = on_stack else {
            return self.parts(0..count, take);
        };
        self.parts(0..first, &mut take);
        self.thread.take_stack(self.places, address, self.batch.stream);
        self.parts(first..count, take);
    }

    fn parts(&mut self, accesses: Range<u64>, mut take: impl FnMut(&mut Self, Range<u64>, Option<usize>)) {
        let mut next = accesses.start;
        while next < accesses.end {
            let (bin, until) = self.bin_of(next);
            let has_later = until > next;
            let part = next..if has_later {
                until.min(accesses.end)
            } else {
                accesses.end
            };
            next = part.end;
            take(self, part, bin);
        }
    }

    /// The part of time in which an access of the piece is, if any, and the first later access that isn't in it, if
    /// any.
    fn bin_of(&self, access: u64) -> (Option<usize>, u64) {
        let (bins, position) = (&self.map.bins, &self.position);
        let time_ns = position.time_of(access);
        let bin = bins.of(time_ns);
        let until = match bin {
            Some(bin) if bins.end_ns(bin) <= bins.last_ns => position.first_at(bins.end_ns(bin)),
            None if time_ns < bins.first_ns => position.first_at(bins.first_ns),
            Some(_) => match bins.last_ns.checked_add(1) {
                Some(behind) => position.first_at(behind),
                None => u64::MAX,
            },
            None => u64::MAX,
        };
        (bin, until)
    }

    #[inline(always)]
    pub(super) fn row_of(&mut self, site: SiteId, address: u64) -> u32 {
        match self.owner_at(site, address).what {
            HIDDEN => HIDDEN,
            owner => self.grid.row_at(owner, self.batch.stream, address),
        }
    }

    /// The owner of an address, and the addresses around it that have the same owner.
    #[inline(always)]
    pub(super) fn owner_at(&mut self, site: SiteId, address: u64) -> Known {
        let known = self.thread.spots.find(&self.places.heap, site, address);
        known.unwrap_or_else(|| self.find_owner(site, address))
    }

    #[inline(never)]
    fn find_owner(&mut self, site: SiteId, address: u64) -> Known {
        let mut stretch = self.places.find(address);
        let owner = self.owner_of(stretch.place);
        let is_shown = self.owners.is_shown(owner) && clip(&mut stretch, address, self.map.view.addresses);
        let owner = if is_shown { owner } else { HIDDEN };
        self.thread
            .spots
            .remember(&self.places.heap, site, &stretch, owner)
    }

    fn owner_of(&mut self, place: MemoryPlace) -> u32 {
        let kind = match place {
            MemoryPlace::Block(slot) => return *self.places.heap.data(slot),
            MemoryPlace::Static(symbol) => OwnerKind::Static(symbol),
            MemoryPlace::Stack(stream) => OwnerKind::Stack(stream),
            MemoryPlace::Other => OwnerKind::Other,
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

/// Indices of a part of a piece.
pub(super) fn part_of(piece: &Range<usize>, part: &Range<u64>) -> Range<usize> {
    piece.start + part.start as usize..piece.start + part.end as usize
}

/// Cuts a stretch to the addresses that are shown or, if its own address isn't shown, to those that are not.
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
