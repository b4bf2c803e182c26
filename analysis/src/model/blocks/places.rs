//! The memory of one process.

use std::sync::Arc;

use trackway_trace::SymbolId;

use super::stacks::Stacks;
use super::{Block, Heap, Inherit, Statics, PAGE_SHIFT};

/// What an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryPlace {
    /// The live block in this slot of the heap.
    Block(u32),
    Static(SymbolId),
    /// The stack of a thread.
    Stack(u32),
    /// None of them.
    Other,
}

/// Addresses that belong to the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub place: MemoryPlace,
    pub from: u64,
    /// First address past the stretch; 0: the end of the address space.
    pub to: u64,
}

/// Live blocks, static variables and stacks.
#[derive(Debug, Clone)]
pub struct Places<D> {
    pub heap: Heap<D>,
    statics: Arc<Statics>,
    stacks: Stacks,
}

impl<D: Inherit> Places<D> {
    pub fn new(statics: Arc<Statics>) -> Self {
        Places {
            heap: Heap::new(),
            statics,
            stacks: Stacks::default(),
        }
    }

    /// The places of a process that was forked from this one, at its beginning.
    pub fn forked(&self) -> Self {
        Places {
            heap: self.heap.forked(),
            statics: self.statics.clone(),
            stacks: self.stacks.clone(),
        }
    }

    /// What an address belongs to, and which addresses around it belong to the same.
    pub fn find(&self, address: u64) -> Stretch {
        let (from, to) = match self.heap.find(address) {
            Ok(slot) => return block_stretch(slot, self.heap.block(slot)),
            Err(page) => page,
        };
        let (variable, static_from, static_to) = self.statics.find(address);
        let (from, to) = (from.max(static_from), earlier(to, static_to));
        let stack = || self.stacks.find(page_of(address)).map(MemoryPlace::Stack);
        let place = variable.map(MemoryPlace::Static).or_else(stack);
        Stretch {
            place: place.unwrap_or(MemoryPlace::Other),
            from,
            to,
        }
    }

    /// Says that an address, which belongs to nothing, is in the thread's stack.
    pub(super) fn add_stack(&mut self, address: u64, thread: u32) {
        self.stacks.add(page_of(address), thread);
        self.heap.outside_generation = self.heap.outside_generation.wrapping_add(1);
    }
}

fn page_of(address: u64) -> u64 {
    address >> PAGE_SHIFT << PAGE_SHIFT
}

fn block_stretch(slot: u32, block: Option<&Block>) -> Stretch {
    Stretch {
        place: MemoryPlace::Block(slot),
        from: block.map_or(0, |block| block.start),
        to: block.map_or(0, Block::end),
    }
}

/// The earlier one of two ends of addresses; 0 is the end of the address space.
fn earlier(one: u64, other: u64) -> u64 {
    match (one, other) {
        (0, end) | (end, 0) => end,
        (one, other) => one.min(other),
    }
}
