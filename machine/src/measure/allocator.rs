//! Calls of the system's allocator.

use std::hint::black_box;
use std::time::Instant;

/// More than glibc keeps in lists by size when many are given back: those are joined, and new blocks are cut off.
const BLOCK_BYTES: usize = 200;
/// Together less than what glibc gives back to the system.
const BLOCKS: usize = 400;

type Block = Vec<u8>;

fn block() -> Block {
    black_box(Vec::with_capacity(BLOCK_BYTES))
}

/// Nanoseconds for each call that takes a block which was given back just before, or gives it back.
pub fn ns_per_block_at_hand() -> f64 {
    drop(block());
    let begin = Instant::now();
    for _ in 0..BLOCKS {
        drop(block());
    }
    begin.elapsed().as_nanos() as f64 / (2 * BLOCKS) as f64
}

/// Nanoseconds for each call that takes one of many blocks.
pub fn ns_per_new_block() -> f64 {
    let mut blocks: Vec<Block> = Vec::with_capacity(BLOCKS);
    let begin = Instant::now();
    blocks.resize_with(BLOCKS, block);
    let ns = begin.elapsed().as_nanos() as f64;
    drop(black_box(blocks));
    ns / BLOCKS as f64
}
