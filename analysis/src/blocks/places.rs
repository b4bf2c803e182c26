//! The memory of one process.

use std::sync::Arc;

use trackway_trace::SymbolId;

use super::stacks::Stacks;
use super::{Block, Heap, Statics, PAGE_SHIFT};

/// To what an address belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
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
    pub place: Place,
    pub from: u64,
    /// Behind the last one; 0: the end of the address space.
    pub to: u64,
}

/// Live blocks, static variables and stacks.
#[derive(Debug, Clone)]
pub struct Places<D> {
    pub heap: Heap<D>,
    statics: Arc<Statics>,
    stacks: Stacks,
}

impl<D: Clone> Places<D> {
    pub fn new(statics: Arc<Statics>) -> Self {
        Places {
            heap: Heap::new(),
            statics,
            stacks: Stacks::default(),
        }
    }

    /// Those of a process at its beginning that was forked from this one.
    pub fn forked(&self) -> Self {
        Places {
            heap: self.heap.forked(),
            statics: self.statics.clone(),
            stacks: self.stacks.clone(),
        }
    }

    /// To what an address belongs that a thread accesses, by way of a local variable or not; and which ones around it
    /// belong to the same.
    pub fn find(&mut self, address: u64, thread: u32, by_local: bool) -> Stretch {
        let (from, to) = match self.heap.find(address) {
            Ok(slot) => return block_stretch(slot, self.heap.block(slot)),
            Err(page) => page,
        };
        let (variable, static_from, static_to) = self.statics.find(address);
        let (from, to) = (from.max(static_from), earlier(to, static_to));
        let place = match variable {
            Some(variable) => Place::Static(variable),
            None => self.find_stack(address, thread, by_local),
        };
        Stretch { place, from, to }
    }

    fn find_stack(&mut self, address: u64, thread: u32, by_local: bool) -> Place {
        let page = address >> PAGE_SHIFT << PAGE_SHIFT;
        if let Some(thread) = self.stacks.find(page) {
            return Place::Stack(thread);
        }
        if by_local && self.stacks.add(page, thread) {
            self.heap.outside_generation = self.heap.outside_generation.wrapping_add(1);
            return Place::Stack(thread);
        }
        Place::Other
    }
}

fn block_stretch(slot: u32, block: Option<&Block>) -> Stretch {
    Stretch {
        place: Place::Block(slot),
        from: block.map_or(0, |block| block.start),
        to: block.map_or(0, Block::end),
    }
}

/// Of two ends of addresses, of which 0 is the end of the address space.
fn earlier(one: u64, other: u64) -> u64 {
    match (one, other) {
        (0, end) | (end, 0) => end,
        (one, other) => one.min(other),
    }
}
