//! Which allocation an address belongs to.

use std::collections::BTreeMap;

use trackway_trace::{AllocationSiteId, Event};

use crate::model::page_index::{PageIndex, GROUP_LINES};

/// Allocators return multiples of this.
const GRANULE_BITS: u32 = 4;
/// Allocations of more bytes stand in a list; the granules of smaller ones are marked one by one.
const MOST_SMALL: u64 = 32 << 10;

/// No allocation that was seen.
pub(super) const NOBODY: u32 = 0;

/// The allocations of a part of a trace. For each granule the latest allocation counts, even after it was freed: what a
/// program accesses is allocated, perhaps by code that is not recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct Owners {
    index: PageIndex,
    /// Owners by cell of the granule.
    small: Vec<[u32; GROUP_LINES]>,
    /// End and owner of large blocks, by start.
    large: BTreeMap<u64, (u64, u32)>,
    /// The block of `large`, or the room between two, in which the latest address lay.
    latest: Option<(u64, u64, u32)>,
    /// The latest granule that was asked for, and its owner.
    latest_granule: Option<(u64, u32)>,
}

/// The number under which an allocation site's memory counts.
pub(super) fn owner_of(site: AllocationSiteId) -> u32 {
    site.0 + 1
}

impl Owners {
    /// Takes an allocation into account; `process` keeps the addresses of processes apart.
    pub fn take(&mut self, event: &Event, process: u64) {
        if event.allocation_failed() {
            return;
        }
        match *event {
            Event::Allocate {
                site,
                address,
                element_size,
                count,
            } => self.allocate(site, address ^ process, element_size.saturating_mul(count)),
            Event::Reallocate {
                site,
                old_address,
                new_address,
                element_size,
                count,
            } => {
                self.free(old_address ^ process);
                self.allocate(site, new_address ^ process, element_size.saturating_mul(count));
            }
            Event::Free { address, .. } => self.free(address ^ process),
            _ => {}
        }
    }

    /// The owner of an address.
    #[inline(always)]
    pub fn of(&mut self, address: u64) -> u32 {
        let granule = address >> GRANULE_BITS;
        match self.latest_granule {
            Some((latest, owner)) if latest == granule => owner,
            _ => {
                let owner = self.look_up(address);
                self.latest_granule = Some((granule, owner));
                owner
            }
        }
    }

    #[inline(always)]
    fn look_up(&mut self, address: u64) -> u32 {
        if let Some(cell) = self.index.find(address >> GRANULE_BITS) {
            let owner = self.small[cell / GROUP_LINES][cell % GROUP_LINES];
            if owner != NOBODY {
                return owner;
            }
        }
        match self.latest {
            Some((start, end, owner)) if start <= address && address < end => owner,
            _ => self.of_large(address),
        }
    }

    fn of_large(&mut self, address: u64) -> u32 {
        let below = self.large.range(..=address).next_back();
        let room = match below {
            Some((&start, &(end, owner))) if address < end => (start, end, owner),
            below => {
                let start = below.map_or(0, |(_, &(end, _))| end);
                let above = self.large.range(address..).next();
                (start, above.map_or(u64::MAX, |(&start, _)| start), NOBODY)
            }
        };
        self.latest = Some(room);
        room.2
    }

    fn allocate(&mut self, site: AllocationSiteId, address: u64, bytes: u64) {
        let Some(last) = bytes.checked_sub(1).map(|bytes| address.saturating_add(bytes)) else {
            return;
        };
        self.latest_granule = None;
        let (first, last_granule) = (address >> GRANULE_BITS, last >> GRANULE_BITS);
        if bytes <= MOST_SMALL {
            for granule in first..=last_granule {
                self.mark(granule, owner_of(site));
            }
            return;
        }
        self.clear(first, last_granule);
        self.make_room(address, last);
        self.large
            .insert(address, (last.saturating_add(1), owner_of(site)));
        self.latest = None;
    }

    fn free(&mut self, address: u64) {
        if self.large.remove(&address).is_some() {
            self.latest = None;
            self.latest_granule = None;
        }
    }

    fn mark(&mut self, granule: u64, owner: u32) {
        let cell = self.index.cell(granule);
        if self.small.len() < self.index.len() {
            self.small.push([NOBODY; GROUP_LINES]);
        }
        self.small[cell / GROUP_LINES][cell % GROUP_LINES] = owner;
    }

    /// Forgets small allocations.
    fn clear(&mut self, first: u64, last: u64) {
        let group = GROUP_LINES as u64;
        let groups = last / group - first / group + 1;
        let small = &mut self.small;
        let mut clear_group = |start: u64, number: usize| {
            let granules = (start..).zip(&mut small[number]);
            let inside = granules.filter(|(granule, _)| (first..=last).contains(granule));
            inside.for_each(|(_, owner)| *owner = NOBODY);
        };
        if groups > self.index.len() as u64 {
            for (start, number) in self.index.groups() {
                clear_group(start, number);
            }
            return;
        }
        for start in (first / group..=last / group).map(|number| number * group) {
            if let Some(cell) = self.index.find(start) {
                clear_group(start, cell / GROUP_LINES);
            }
        }
    }

    /// Removes large blocks that overlap.
    fn make_room(&mut self, first: u64, last: u64) {
        while let Some((&start, &(end, _))) = self.large.range(..=last).next_back() {
            if end <= first {
                break;
            }
            self.large.remove(&start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[derive(Debug, Clone)]
    enum Step {
        Allocate { address: u64, bytes: u64 },
        Free(usize),
        Ask(u64),
    }

    fn address() -> impl Strategy<Value = u64> {
        (0u64..1 << 14).prop_map(|granule| 0x10_0000 + granule * 16)
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            2 => (address(), prop_oneof![1u64..200, 20_000u64..100_000])
                .prop_map(|(address, bytes)| Step::Allocate { address, bytes }),
            1 => (0usize..50).prop_map(Step::Free),
            4 => address().prop_map(|address| Step::Ask(address + 7)),
        ]
    }

    /// The same with a map of granules and a list of large blocks.
    #[derive(Default)]
    struct Naive {
        small: HashMap<u64, u32>,
        large: Vec<(u64, u64, u32)>,
    }

    impl Naive {
        fn allocate(&mut self, address: u64, bytes: u64, owner: u32) {
            let (end, granules) = (address + bytes, address / 16..=(address + bytes - 1) / 16);
            if bytes <= MOST_SMALL {
                self.small.extend(granules.map(|granule| (granule, owner)));
                return;
            }
            self.small.retain(|granule, _| !granules.contains(granule));
            self.large.retain(|block| block.1 <= address || end <= block.0);
            self.large.push((address, end, owner));
        }

        fn owner(&self, address: u64) -> u32 {
            let holds = |block: &&(u64, u64, u32)| (block.0..block.1).contains(&address);
            let large = || self.large.iter().find(holds).map(|block| block.2);
            let small = self.small.get(&(address / 16)).copied();
            small.or_else(large).unwrap_or(NOBODY)
        }
    }

    proptest! {
        #[test]
        fn owners_are_those_of_a_list(steps in proptest::collection::vec(step(), 1..200)) {
            let (mut owners, mut naive) = (Owners::default(), Naive::default());
            let mut starts = Vec::new();
            for (number, step) in (0u32..).zip(steps) {
                let site = AllocationSiteId(number);
                match step {
                    Step::Allocate { address, bytes } => {
                        owners.take(&Event::Allocate { site, address, element_size: 1, count: bytes }, 0);
                        naive.allocate(address, bytes, owner_of(site));
                        starts.push(address);
                    }
                    Step::Free(which) => {
                        if let Some(&address) = starts.get(which) {
                            owners.take(&Event::Free { site, address }, 0);
                            naive.large.retain(|block| block.0 != address);
                        }
                    }
                    Step::Ask(address) => prop_assert_eq!(owners.of(address), naive.owner(address)),
                }
            }
        }
    }

    #[test]
    fn hostile_sizes_and_failures_do_no_harm() {
        let mut owners = Owners::default();
        let site = AllocationSiteId(3);
        let mut allocate = |address, element_size, count| {
            let event = Event::Allocate {
                site,
                address,
                element_size,
                count,
            };
            owners.take(&event, 0);
        };
        allocate(0, 8, 8);
        allocate(0x1000, 0, 5);
        allocate(u64::MAX - 10, 100, 1);
        allocate(0x2000, u64::MAX, u64::MAX);
        assert_eq!([0x1000, 8].map(|address| owners.of(address)), [NOBODY; 2]);
        assert_eq!(owners.of(0x9999_9999), owner_of(site));
    }
}
