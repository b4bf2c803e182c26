//! Writes runs as single accesses, sixteen at a time.

use crate::Lane;

use super::block::Block;
use super::machine::Machine;

/// A run that is written to batches access by access.
#[derive(Default)]
pub(super) struct Expansion {
    lanes: Vec<Lane>,
    /// The next iteration.
    next: u64,
    /// Number of iterations.
    count: u64,
    blocks: Vec<Block>,
}

impl Expansion {
    /// Gets ready for another run: takes no iterations before [`Expansion::begin`].
    pub(super) fn lanes_mut(&mut self) -> &mut Vec<Lane> {
        self.next = self.count;
        &mut self.lanes
    }

    pub(super) fn begin(&mut self, count: u64) {
        self.next = 0;
        self.count = if self.lanes.is_empty() { 0 } else { count };
    }

    pub(super) fn is_done(&self) -> bool {
        self.next >= self.count
    }

    /// Writes as many iterations as the batch takes.
    pub(super) fn write(&mut self, machine: &mut Machine<'_>) {
        if self.is_done() {
            return;
        }
        let lanes = self.lanes.len();
        let room = machine.room().div_ceil(lanes) as u64;
        let iterations = room.min(self.count - self.next);
        let per_round = (Block::LENGTH / lanes).max(1);
        self.fill_blocks(per_round);
        machine.push_blocks(&mut self.blocks, per_round * lanes, iterations as usize * lanes);
        self.next += iterations;
    }

    /// Makes the blocks of the next `per_round` iterations.
    fn fill_blocks(&mut self, per_round: usize) {
        let accesses = per_round * self.lanes.len();
        self.blocks.clear();
        self.blocks.resize(accesses.div_ceil(Block::LENGTH), Block::EMPTY);
        for index in 0..accesses {
            let lane = &self.lanes[index % self.lanes.len()];
            let iteration = self.next + (index / self.lanes.len()) as u64;
            let block = &mut self.blocks[index / Block::LENGTH];
            let place = index % Block::LENGTH;
            block.addresses[place] = lane.address_in(iteration);
            block.steps[place] = lane.stride.wrapping_mul(per_round as u64);
            block.sites[place] = lane.site;
            block.sizes[place] = lane.size;
        }
    }
}
