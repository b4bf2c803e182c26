//! Blocks of memory that live at the present time of a trace.

use trackway_trace::{Event, Program};

use crate::model::blocks::BlockIndex;

const NO_SLOT: u32 = u32::MAX;

/// What becomes known of blocks, in the order of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analyses) enum Change {
    /// The allocation of that number.
    Begins { number: u64, start: u64, length: u64 },
    /// What begins there.
    Ends { start: u64 },
}

/// Numbers allocations in the order of the trace; static variables come first.
#[derive(Debug, Clone)]
pub(in crate::analyses) struct Numbering {
    next: u64,
}

impl Numbering {
    pub fn new(program: &Program) -> Numbering {
        Numbering {
            next: program.symbols.len() as u64,
        }
    }

    /// What an event changes: at most an end and a beginning.
    pub fn changes(&mut self, event: Event) -> [Option<Change>; 2] {
        let ends = |start| Some(Change::Ends { start });
        if event.allocation_failed() {
            return [None, None];
        }
        match event {
            Event::Free { address, .. } => [ends(address), None],
            Event::Allocate {
                address,
                element_size,
                count,
                ..
            } => [self.begins(address, element_size, count), None],
            Event::Reallocate {
                old_address,
                new_address,
                element_size,
                count,
                ..
            } => [ends(old_address), self.begins(new_address, element_size, count)],
            _ => [None, None],
        }
    }

    fn begins(&mut self, start: u64, element_size: u64, count: u64) -> Option<Change> {
        let number = self.next;
        self.next += 1;
        Some(Change::Begins {
            number,
            start,
            length: element_size.saturating_mul(count),
        })
    }
}

/// Static variables with their numbers, of one process like of all.
pub(in crate::analyses) fn static_blocks(program: &Program) -> impl Iterator<Item = Change> + '_ {
    let symbols = program.symbols.iter().enumerate();
    symbols
        .filter(|(_, symbol)| symbol.size > 0)
        .filter_map(|(number, symbol)| {
            Some(Change::Begins {
                number: number as u64,
                start: symbol.address?,
                length: symbol.size,
            })
        })
}

/// The blocks of one process, with something to know of each.
#[derive(Debug, Clone)]
pub(in crate::analyses) struct Blocks<T> {
    live: BlockIndex,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    /// Grows with every block that begins.
    begun: u64,
    /// The block, or the gap between blocks, that each site touched last.
    latest: Vec<Latest>,
}

#[derive(Debug, Clone)]
struct Slot<T> {
    start: u64,
    /// Exclusive.
    end: u64,
    /// Number of the block in the slot, by `Blocks::begun`; 0 if the block has ended.
    begun: u64,
    content: T,
}

#[derive(Debug, Clone, Copy)]
struct Latest {
    start: u64,
    length: u64,
    slot: u32,
    begun: u64,
}

impl<T> Blocks<T> {
    pub fn new(sites: usize) -> Blocks<T> {
        let nothing = Latest {
            start: 0,
            length: 0,
            slot: NO_SLOT,
            begun: u64::MAX,
        };
        Blocks {
            live: BlockIndex::default(),
            slots: Vec::new(),
            free: Vec::new(),
            begun: 0,
            latest: vec![nothing; sites],
        }
    }

    /// If a block lies at the new block's addresses, it has ended, though no event said so.
    pub fn begin(&mut self, start: u64, length: u64, content: T) {
        let end = start.saturating_add(length);
        if length == 0 {
            return;
        }
        let slots = &self.slots;
        for slot in self.live.overlapping(start, end, |slot| slots[slot as usize].end) {
            self.end_slot(slot);
        }
        self.begun += 1;
        let slot = Slot {
            start,
            end,
            begun: self.begun,
            content,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                index
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        self.live.insert(start, end, index);
    }

    pub fn end(&mut self, start: u64) {
        if let Some(index) = self.live.starting_at(start) {
            self.end_slot(index);
        }
    }

    fn end_slot(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        self.live.remove(slot.start, slot.end);
        slot.begun = 0;
        self.free.push(index);
    }

    /// The block that holds the address, with its start, for an access of that site.
    #[inline]
    pub fn at(&mut self, site: usize, address: u64) -> Option<(u64, &mut T)> {
        let latest = self.latest[site];
        let is_inside = address.wrapping_sub(latest.start) < latest.length;
        let is_valid = match latest.slot {
            NO_SLOT => latest.begun == self.begun,
            slot => latest.begun == self.slots[slot as usize].begun,
        };
        let slot = match is_inside && is_valid {
            true => latest.slot,
            false => self.find(site, address),
        };
        match slot {
            NO_SLOT => None,
            slot => {
                let slot = &mut self.slots[slot as usize];
                Some((slot.start, &mut slot.content))
            }
        }
    }

    #[inline(never)]
    fn find(&mut self, site: usize, address: u64) -> u32 {
        let slots = &self.slots;
        let range_of = |slot: u32| match slots.get(slot as usize) {
            Some(slot) if slot.begun > 0 => slot.start..slot.end,
            _ => 0..0,
        };
        let found = self.live.find(address, range_of);
        let (slot, latest) = match found {
            Ok(index) => {
                let slot = &slots[index as usize];
                let latest = Latest {
                    start: slot.start,
                    length: slot.end - slot.start,
                    slot: index,
                    begun: slot.begun,
                };
                (index, latest)
            }
            Err((start, end)) => {
                let latest = Latest {
                    start,
                    length: end.wrapping_sub(start),
                    slot: NO_SLOT,
                    begun: self.begun,
                };
                (NO_SLOT, latest)
            }
        };
        self.latest[site] = latest;
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn failed_allocations_are_none() {
        let mut numbering = Numbering { next: 0 };
        let allocated = |address| Event::Allocate {
            site: trackway_trace::AllocationSiteId(0),
            address,
            element_size: 8,
            count: 4,
        };
        assert_eq!(numbering.changes(allocated(0)), [None, None]);
        let begins = |number, start| {
            Some(Change::Begins {
                number,
                start,
                length: 32,
            })
        };
        assert_eq!(numbering.changes(allocated(64)), [begins(0, 64), None]);
        let moved = Event::Reallocate {
            site: trackway_trace::AllocationSiteId(0),
            old_address: 64,
            new_address: 128,
            element_size: 1,
            count: 32,
        };
        assert_eq!(
            numbering.changes(moved),
            [Some(Change::Ends { start: 64 }), begins(1, 128)]
        );
    }

    proptest! {
        /// Compares with a list of all blocks in the order in which they began.
        #[test]
        fn blocks_are_found_while_they_live(
            steps in proptest::collection::vec((0u8..4, 0u64..400, 1u64..60, 0usize..3), 1..300),
        ) {
            let mut blocks = Blocks::new(3);
            let mut naive: Vec<(u64, u64, usize)> = Vec::new();
            for (number, (what, address, length, site)) in steps.into_iter().enumerate() {
                match what {
                    0 => {
                        blocks.begin(address, length, number);
                        naive.retain(|(start, end, _)| *end <= address || *start >= address + length);
                        naive.push((address, address + length, number));
                    }
                    1 => {
                        blocks.end(address);
                        naive.retain(|(start, _, _)| *start != address);
                    }
                    _ => {
                        let holds = |block: &&(u64, u64, usize)| (block.0..block.1).contains(&address);
                        let expected = naive.iter().find(holds).map(|block| (block.0, block.2));
                        let found = blocks.at(site, address).map(|(start, number)| (start, *number));
                        prop_assert_eq!(found, expected);
                    }
                }
            }
        }
    }
}
