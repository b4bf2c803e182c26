//! The simulation of some of the cache lines, while other shards simulate the others.

use trackway_trace::{Batch, Lane, Piece};

use super::shard::CountedSite;
use crate::cache::{Caches, Hierarchy, LineChanges, LineStore};
use crate::Part;

/// The lines of one part: those whose addresses have certain bits. No set of any level has lines of two parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinePart {
    shift: u32,
    mask: u64,
    number: u64,
}

impl LinePart {
    pub fn new(caches: &Caches, part: Part) -> LinePart {
        debug_assert!(part.count <= caches.most_parts());
        LinePart {
            shift: caches.part_shift(),
            mask: u64::from(part.count - 1),
            number: part.number.into(),
        }
    }

    /// Whether what must be counted once is counted here.
    pub fn is_first(self) -> bool {
        self.number == 0
    }

    /// Runs through the caches what the batch does with the part's lines.
    #[inline(always)]
    pub fn simulate<S: LineStore>(
        self,
        hierarchy: &mut Hierarchy<S, true>,
        changes: &mut LineChanges,
        sites: &mut [CountedSite],
        batch: &Batch,
    ) {
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => {
                    for index in range {
                        let address = batch.address[index];
                        let site = &mut sites[batch.site[index].index()];
                        self.access(hierarchy, site, address, batch.length(index));
                    }
                }
                Piece::Run(run) => {
                    changes.begin(batch.lanes(run), run.count);
                    self.simulate_run(hierarchy, changes, sites, batch.lanes(run));
                }
            }
        }
    }

    fn simulate_run<S: LineStore>(
        self,
        hierarchy: &mut Hierarchy<S, true>,
        changes: &mut LineChanges,
        sites: &mut [CountedSite],
        lanes: &[Lane],
    ) {
        while let Some(iteration) = changes.next_iteration() {
            let before = hierarchy.changes();
            for lane in lanes {
                let address = lane.address.wrapping_add(lane.stride.wrapping_mul(iteration));
                self.access(
                    hierarchy,
                    &mut sites[lane.site.index()],
                    address,
                    lane.size.into(),
                );
            }
            changes.simulated(lanes, hierarchy.changes() != before);
        }
    }

    #[inline(always)]
    fn access<S: LineStore>(
        self,
        hierarchy: &mut Hierarchy<S, true>,
        site: &mut CountedSite,
        address: u64,
        length: u64,
    ) {
        let end = address.saturating_add(length.wrapping_sub(1));
        let (first, last) = (address >> self.shift, end >> self.shift);
        if first == last {
            if first & self.mask == self.number {
                hierarchy.access(0, 0, address, length, site.stores, &mut site.counters.outcome);
            }
            return;
        }
        if length > 0 {
            self.long_access(hierarchy, site, address, end);
        }
    }

    /// Of an access of several lines, the part's own.
    fn long_access<S: LineStore>(
        self,
        hierarchy: &mut Hierarchy<S, true>,
        site: &mut CountedSite,
        address: u64,
        end: u64,
    ) {
        for line in address >> self.shift..=end >> self.shift {
            if line & self.mask != self.number {
                continue;
            }
            let first = address.max(line << self.shift);
            let last = end.min(line << self.shift | ((1 << self.shift) - 1));
            let length = last - first + 1;
            hierarchy.access(0, 0, first, length, site.stores, &mut site.counters.outcome);
        }
    }
}
