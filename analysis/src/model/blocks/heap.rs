//! The live blocks of one process.

use trackway_trace::{AllocationSiteId, Event};

use super::index::BlockIndex;

/// Memory that was allocated and not yet given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub start: u64,
    /// Where the program has it from: after the header of an allocator of its own, or `start`.
    handed_out: u64,
    /// Size as asked for.
    pub bytes: u64,
    pub site: AllocationSiteId,
    /// The stream that allocated it.
    pub thread: u32,
    /// Whether it was the parent's when the process was forked.
    pub inherited: bool,
    /// Blocks at the same address that this one replaced, and whose release has not come yet.
    late_releases: u32,
}

impl Block {
    /// The first address after it; a block of no bytes takes one.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes.max(1))
    }
}

/// Why a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Freed,
    Reallocated,
    /// A later block lies where it lay: it was given back unseen.
    Overlapped,
}

/// Learns what becomes of blocks. `D` is its data about each block while it lives.
pub trait Witness<D> {
    fn begins(&mut self, block: &Block) -> D;
    fn ends(&mut self, block: &Block, data: &D, end: End);
    /// The block is the one that `before` was: an allocation that it was made for has another site.
    fn passes_on(&mut self, before: &Block, block: &Block, data: &mut D) {
        let _ = (before, block, data);
    }
    fn fails(&mut self, site: AllocationSiteId);
    /// No block begins where this release says.
    fn frees_nothing(&mut self, site: AllocationSiteId);
}

/// What is wanted to be known of a block while it lives.
pub trait Inherit: Clone {
    /// The value for the same block in a process that was just forked.
    fn inherited(&self) -> Self;
}

#[derive(Debug, Clone)]
struct Slot<D> {
    /// None if free for a new one.
    block: Option<Block>,
    data: D,
    /// Grows when the block ends.
    generation: u32,
}

/// Live blocks; none overlaps another.
#[derive(Debug, Clone)]
pub struct Heap<D> {
    slots: Vec<Slot<D>>,
    free: Vec<u32>,
    index: BlockIndex,
    /// Grows when what was in no block may be in one.
    pub(super) outside_generation: u32,
}

impl<D: Inherit> Heap<D> {
    pub fn new() -> Self {
        Heap {
            slots: Vec::new(),
            free: Vec::new(),
            index: BlockIndex::default(),
            outside_generation: 0,
        }
    }

    /// What a forked process has at first.
    pub fn forked(&self) -> Self {
        let mut heap = self.clone();
        for slot in &mut heap.slots {
            slot.data = slot.data.inherited();
            slot.block.iter_mut().for_each(|block| block.inherited = true);
        }
        heap
    }

    /// Follows an event of a thread.
    pub fn apply(&mut self, event: &Event, thread: u32, witness: &mut impl Witness<D>) {
        match *event {
            Event::Allocate {
                site,
                address,
                element_size,
                count,
            } => match event.allocation_failed() {
                true => witness.fails(site),
                false => self.allocate(address, element_size.saturating_mul(count), site, thread, witness),
            },
            Event::Free { site, address } => self.release(address, site, thread, End::Freed, witness),
            Event::Reallocate {
                site,
                old_address,
                new_address,
                element_size,
                count,
            } => {
                let bytes = element_size.saturating_mul(count);
                match (event.allocation_failed(), bytes) {
                    (true, 0) => self.release(old_address, site, thread, End::Freed, witness),
                    (true, _) => witness.fails(site),
                    (false, _) => {
                        self.release(old_address, site, thread, End::Reallocated, witness);
                        self.allocate(new_address, bytes, site, thread, witness);
                    }
                }
            }
            _ => {}
        }
    }

    /// Follows an allocation that hands on the memory of one within it, but for a header: that one's block becomes its
    /// block.
    pub fn take_over(&mut self, event: &Event, thread: u32, witness: &mut impl Witness<D>) {
        let (site, address) = match *event {
            Event::Allocate { site, address, .. } => (site, address),
            Event::Reallocate {
                site, new_address, ..
            } => (site, new_address),
            _ => return,
        };
        let slot = self.find(address).ok();
        let slot = slot.and_then(|slot| self.slots.get_mut(slot as usize));
        let Some((block, data)) = slot.and_then(|slot| Some((slot.block.as_mut()?, &mut slot.data))) else {
            return self.apply(event, thread, witness);
        };
        let before = *block;
        block.site = site;
        block.handed_out = address;
        witness.passes_on(&before, block, data);
    }

    fn allocate(
        &mut self,
        start: u64,
        bytes: u64,
        site: AllocationSiteId,
        thread: u32,
        witness: &mut impl Witness<D>,
    ) {
        let mut block = Block {
            start,
            handed_out: start,
            bytes,
            site,
            thread,
            inherited: false,
            late_releases: 0,
        };
        for slot in self.overlapping(start, block.end()) {
            if let Some(old) = self.end(slot, End::Overlapped, witness) {
                if old.start == start {
                    block.late_releases = old.late_releases.saturating_add(1);
                }
            }
        }
        let data = witness.begins(&block);
        let slot = self.take_slot(block, data);
        self.index.insert(start, block.end(), slot);
        self.outside_generation = self.outside_generation.wrapping_add(1);
    }

    fn overlapping(&self, start: u64, end: u64) -> Vec<u32> {
        self.index.overlapping(start, end, |slot| self.end_of(slot))
    }

    fn take_slot(&mut self, block: Block, data: D) -> u32 {
        let block = Some(block);
        if let Some(number) = self.free.pop() {
            let slot = &mut self.slots[number as usize];
            (slot.block, slot.data) = (block, data);
            return number;
        }
        self.slots.push(Slot {
            block,
            data,
            generation: 0,
        });
        self.slots.len() as u32 - 1
    }

    /// A release by a thread that didn't allocate the block may be that of an earlier block, merged too late.
    fn release(
        &mut self,
        address: u64,
        site: AllocationSiteId,
        thread: u32,
        end: End,
        witness: &mut impl Witness<D>,
    ) {
        if address == 0 {
            return;
        }
        let Some(slot) = self.released_by(address) else {
            return witness.frees_nothing(site);
        };
        if let Some(block) = &mut self.slots[slot as usize].block {
            if block.late_releases > 0 && block.thread != thread {
                block.late_releases -= 1;
                return;
            }
        }
        self.end(slot, end, witness);
    }

    /// The block that a release of the address ends.
    fn released_by(&self, address: u64) -> Option<u32> {
        let handed_out = || {
            let slot = self.find(address).ok()?;
            (self.block(slot)?.handed_out == address).then_some(slot)
        };
        self.index.starting_at(address).or_else(handed_out)
    }

    pub fn begins_at(&self, address: u64) -> bool {
        self.index.starting_at(address).is_some()
    }

    fn end(&mut self, number: u32, end: End, witness: &mut impl Witness<D>) -> Option<Block> {
        let slot = &mut self.slots[number as usize];
        let block = slot.block.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        witness.ends(&block, &slot.data, end);
        self.index.remove(block.start, block.end());
        self.free.push(number);
        Some(block)
    }

    /// Where the block in the slot ends; 0 if there is none.
    fn end_of(&self, slot: u32) -> u64 {
        self.slots[slot as usize].block.map_or(0, |block| block.end())
    }

    /// The slot of the block in which the address lies; else the addresses around it, of its page, that are in no block.
    pub(super) fn find(&self, address: u64) -> Result<u32, (u64, u64)> {
        let range_of = |slot: u32| {
            let block = self.slots.get(slot as usize).and_then(|slot| slot.block.as_ref());
            block.map_or(0..0, |block| block.start..block.end())
        };
        self.index.find(address, range_of)
    }

    pub(super) fn block(&self, slot: u32) -> Option<&Block> {
        self.slots[slot as usize].block.as_ref()
    }

    pub(super) fn generation(&self, slot: u32) -> u32 {
        match self.slots.get(slot as usize) {
            Some(slot) => slot.generation,
            None => self.outside_generation,
        }
    }

    /// What is known of the block in the slot.
    #[inline(always)]
    pub fn data(&mut self, slot: u32) -> &mut D {
        &mut self.slots[slot as usize].data
    }

    pub fn live(&self) -> impl Iterator<Item = (&Block, &D)> {
        let slots = self.slots.iter();
        slots.filter_map(|slot| Some((slot.block.as_ref()?, &slot.data)))
    }
}

impl<D: Inherit> Default for Heap<D> {
    fn default() -> Self {
        Heap::new()
    }
}
