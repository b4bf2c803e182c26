//! A way by chance, the same in each simulation.

use super::{empty_way, Replacement};
use crate::model::cache::entry::Entry;

/// State of the generator at the beginning.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// xorshift64 by Marsaglia, stepped once for each replaced line.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    #[inline(always)]
    fn below(&mut self, count: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (((self.state >> 32) * count as u64) >> 32) as usize
    }
}

impl Replacement for Random {
    fn new(_: usize, _: usize) -> Random {
        Random { state: SEED }
    }

    #[inline(always)]
    fn hit(&mut self, _: &mut [Entry], _: usize, way: usize) -> usize {
        way
    }

    #[inline(always)]
    fn insert(&mut self, entries: &mut [Entry], _: usize, entry: Entry) -> Entry {
        let way = empty_way(entries).unwrap_or_else(|| self.below(entries.len()));
        std::mem::replace(&mut entries[way], entry)
    }
}
