//! What a process holds.

use std::collections::{HashMap, VecDeque};

use trackway_trace::allocations::StackId;

/// A block that was allocated and not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub size_bytes: u64,
    pub allocated_ns: u64,
    pub stack: StackId,
    /// The process had it from its parent.
    pub is_inherited: bool,
    /// Its allocation is among those that are counted.
    pub is_counted: bool,
}

/// The blocks of a process by address.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    live: HashMap<u64, Block>,
    /// Being reallocated, by stream: the old address and the block.
    moving: HashMap<u32, (u64, Block)>,
    /// The latest that were freed: a child that is forked meanwhile may still hold them.
    freed: VecDeque<(u64, u64, Block)>,
    /// Some of its events are missing.
    pub has_gaps: bool,
}

/// Number of latest freed blocks that are kept, since a child that is forked meanwhile may still hold them.
const MOST_FREED: usize = 4096;

impl Blocks {
    /// Returns the block that was there, if one was.
    pub fn insert(&mut self, address: u64, block: Block) -> Option<Block> {
        self.live.insert(address, block)
    }

    pub fn remove(&mut self, address: u64, time_ns: u64) -> Option<Block> {
        let block = self.live.remove(&address)?;
        if self.freed.len() == MOST_FREED {
            self.freed.pop_front();
        }
        self.freed.push_back((time_ns, address, block));
        Some(block)
    }

    /// Takes a block out until [`Blocks::arrive`].
    pub fn depart(&mut self, stream: u32, address: u64) -> Option<Block> {
        let block = self.live.remove(&address)?;
        self.moving.insert(stream, (address, block));
        Some(block)
    }

    /// The block that the stream was reallocating, if it came from that address.
    pub fn arrive(&mut self, stream: u32, address: u64) -> Option<Block> {
        let (old, block) = self.moving.remove(&stream)?;
        (old == address).then_some(block)
    }

    /// What a child holds that was forked after `began_ns`: also what was freed since, which it may have missed.
    pub fn inherited(&self, began_ns: u64) -> Blocks {
        let inherit = |block: &Block| Block {
            is_inherited: true,
            ..*block
        };
        let freed = self.freed.iter().filter(|(time_ns, ..)| *time_ns >= began_ns);
        let mut live: HashMap<u64, Block> = freed
            .map(|(_, address, block)| (*address, inherit(block)))
            .collect();
        live.extend(
            self.live
                .iter()
                .map(|(address, block)| (*address, inherit(block))),
        );
        let moving = self.moving.values();
        live.extend(moving.map(|(address, block)| (*address, inherit(block))));
        Blocks {
            live,
            has_gaps: self.has_gaps,
            ..Blocks::default()
        }
    }

    pub fn live(&self) -> impl Iterator<Item = &Block> {
        self.live.values()
    }
}
