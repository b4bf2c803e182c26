//! Pseudo-LRU: a binary tree over the ways, each of whose nodes points to the half that was not used last.

use super::{empty_way, Replacement};
use crate::model::cache::entry::Entry;

/// A word of bits for each set. Node 1 is the root, 2n and 2n + 1 are below node n; a set bit points to the upper half.
#[derive(Debug, Clone)]
pub(crate) struct TreePlru {
    trees: Vec<u64>,
}

impl TreePlru {
    /// Lets all nodes above a way point away from it.
    #[inline(always)]
    fn turn_away(&mut self, set: usize, way: usize, ways: usize) {
        let tree = &mut self.trees[set];
        let mut node = way + ways;
        while node > 1 {
            let is_upper = node & 1;
            node >>= 1;
            *tree = *tree & !(1 << node) | ((is_upper as u64) ^ 1) << node;
        }
    }

    #[inline(always)]
    fn pointed_to(&self, set: usize, ways: usize) -> usize {
        let tree = self.trees[set];
        let mut node = 1;
        while node < ways {
            node = node << 1 | (tree >> node & 1) as usize;
        }
        node - ways
    }
}

impl Replacement for TreePlru {
    fn new(sets: usize, _: usize) -> TreePlru {
        TreePlru { trees: vec![0; sets] }
    }

    #[inline(always)]
    fn hit(&mut self, entries: &mut [Entry], set: usize, way: usize) -> usize {
        self.turn_away(set, way, entries.len());
        way
    }

    #[inline(always)]
    fn insert(&mut self, entries: &mut [Entry], set: usize, entry: Entry) -> Entry {
        let way = empty_way(entries).unwrap_or_else(|| self.pointed_to(set, entries.len()));
        self.turn_away(set, way, entries.len());
        std::mem::replace(&mut entries[way], entry)
    }
}
