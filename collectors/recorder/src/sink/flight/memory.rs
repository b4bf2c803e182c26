//! The memory of a flight recorder. Chunks come and go in sizes that differ. If each had an allocation of its own, what the
//! allocator can't use again would come on top of the limit. So chunks lie in blocks of one size, which are used again.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use trackway_trace::{Chunk, ChunkHeader};

/// With what the allocator adds, a block takes [`BLOCK_COST`].
const BLOCK: usize = 1008;
pub const BLOCK_COST: u64 = 1024;
/// What a chunk takes beside its blocks.
pub const HELD_COST: u64 = 256;

type Block = Box<[u8; BLOCK]>;

/// The blocks of chunks that are held, by the sink and by a snapshot that is being written.
#[derive(Default)]
pub struct Memory {
    blocks: Mutex<Blocks>,
    released: Condvar,
}

#[derive(Default)]
struct Blocks {
    held_bytes: u64,
    free: Vec<Block>,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn wait_until_at_most(&self, limit: u64) {
        let waited = self
            .released
            .wait_while(self.lock(), |blocks| blocks.held_bytes > limit);
        drop(waited);
    }

    #[cfg(test)]
    pub fn held_bytes(&self) -> u64 {
        self.lock().held_bytes
    }

    /// Bytes of all blocks that were ever needed at a time.
    #[cfg(test)]
    pub fn allocated_bytes(&self) -> u64 {
        let blocks = self.lock();
        blocks.held_bytes + blocks.free.len() as u64 * BLOCK_COST
    }

    fn take(&self, bytes: &[u8], cost: u64) -> Vec<Block> {
        let mut blocks = self.lock();
        blocks.held_bytes += cost;
        let parts = bytes.chunks(BLOCK);
        let filled = parts.map(|part| {
            let mut block = blocks.free.pop().unwrap_or_else(|| Box::new([0; BLOCK]));
            block[..part.len()].copy_from_slice(part);
            block
        });
        filled.collect()
    }

    fn give_back(&self, returned: &mut Vec<Block>, cost: u64) {
        let mut blocks = self.lock();
        blocks.held_bytes -= cost;
        blocks.free.append(returned);
        drop(blocks);
        self.released.notify_all();
    }
}

/// A chunk that is held for a while.
pub struct Held {
    pub header: ChunkHeader,
    /// When its records end; of a chunk without a time, when the one before it does.
    pub end_ns: u64,
    length: usize,
    blocks: Vec<Block>,
    memory: Arc<Memory>,
}

impl Held {
    pub fn new(chunk: &Chunk, end_ns: u64, memory: &Arc<Memory>) -> Arc<Self> {
        Arc::new(Self {
            header: chunk.header,
            end_ns,
            length: chunk.stored.len(),
            blocks: memory.take(chunk.stored, cost_of(chunk.stored.len())),
            memory: Arc::clone(memory),
        })
    }

    /// Bytes of memory.
    pub fn cost(&self) -> u64 {
        cost_of(self.length)
    }

    /// The stored payload.
    pub fn copy_to(&self, stored: &mut Vec<u8>) {
        stored.clear();
        for block in &self.blocks {
            stored.extend_from_slice(&block[..]);
        }
        stored.truncate(self.length);
    }
}

pub fn cost_of(stored_length: usize) -> u64 {
    HELD_COST + stored_length.div_ceil(BLOCK) as u64 * BLOCK_COST
}

impl Drop for Held {
    fn drop(&mut self) {
        let cost = self.cost();
        self.memory.give_back(&mut self.blocks, cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use trackway_trace::{plain_chunk, ChunkFields, ChunkKind};

    fn held(length: usize, memory: &Arc<Memory>) -> Arc<Held> {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 7 + length) as u8).collect();
        let chunk = plain_chunk(&ChunkFields::new(ChunkKind::Records), &bytes).unwrap();
        Held::new(&chunk, 0, memory)
    }

    #[test]
    fn a_chunk_comes_back_as_it_was() {
        let memory = Arc::default();
        let mut stored = vec![9; 5];
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 3] {
            let held = held(length, &memory);
            held.copy_to(&mut stored);
            let expected: Vec<u8> = (0..length).map(|at| (at * 7 + length) as u8).collect();
            assert_eq!(stored, expected);
            assert_eq!(memory.held_bytes(), cost_of(length));
        }
    }

    #[test]
    fn memory_is_used_again_whatever_the_sizes() {
        let memory = Arc::default();
        let (mut newest, mut most) = (VecDeque::new(), 0);
        for round in 0..10_000_usize {
            newest.push_back(held(round * 7919 % 60_000, &memory));
            most = most.max(memory.held_bytes());
            if newest.len() > 30 {
                newest.pop_front();
            }
        }
        assert!(memory.allocated_bytes() <= most, "{most}");
        drop(newest);
        assert_eq!(memory.held_bytes(), 0);
    }
}
