//! Where the sites of a thread accessed memory last.

use trackway_trace::SiteId;

use super::{Heap, Inherit, MemoryPlace, Stretch};

/// Further sites share entries.
const MAX_SPOTS: usize = 4096;
const NO_SLOT: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Spot {
    from: u64,
    /// 0: holds nothing.
    length: u64,
    site: u32,
    slot: u32,
    generation: u32,
    what: u32,
}

/// What is known of some addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The number that says it.
    pub what: u32,
    pub from: u64,
    /// First address past these; 0: the end of the address space.
    pub to: u64,
}

/// Most accesses of a site go to what its last one went to: a stretch of addresses, and a number that says what it is.
/// This remains true until the block ends or, for addresses in no block, until they are allocated.
#[derive(Debug, Clone)]
pub struct Spots {
    spots: Vec<Spot>,
}

impl Spots {
    pub fn new(sites: usize) -> Self {
        let spot = Spot {
            from: 0,
            length: 0,
            site: 0,
            slot: NO_SLOT,
            generation: 0,
            what: 0,
        };
        let count = sites.next_power_of_two().min(MAX_SPOTS);
        Spots {
            spots: vec![spot; count],
        }
    }

    /// What is at the address and around it, if the site accessed it last.
    #[inline(always)]
    pub fn find<D: Inherit>(&self, heap: &Heap<D>, site: SiteId, address: u64) -> Option<Known> {
        let spot = &self.spots[site.index() & (self.spots.len() - 1)];
        let is_there = address.wrapping_sub(spot.from) < spot.length;
        (is_there && spot.site == site.0 && spot.generation == heap.generation(spot.slot)).then_some(Known {
            what: spot.what,
            from: spot.from,
            to: spot.from.wrapping_add(spot.length),
        })
    }

    /// Says what is there, and gives it back.
    #[inline]
    pub fn remember<D: Inherit>(
        &mut self,
        heap: &Heap<D>,
        site: SiteId,
        stretch: &Stretch,
        what: u32,
    ) -> Known {
        let slot = match stretch.place {
            MemoryPlace::Block(slot) => slot,
            _ => NO_SLOT,
        };
        let index = site.index() & (self.spots.len() - 1);
        self.spots[index] = Spot {
            from: stretch.from,
            length: stretch.to.wrapping_sub(stretch.from),
            site: site.0,
            slot,
            generation: heap.generation(slot),
            what,
        };
        Known {
            what,
            from: stretch.from,
            to: stretch.to,
        }
    }
}
