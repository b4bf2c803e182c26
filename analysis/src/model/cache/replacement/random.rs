//! A way by chance, the same in each simulation.

use super::{empty_way, Replacement};
use crate::model::cache::entry::Entry;
use crate::model::chance::Chance;

/// A number is drawn for each replaced line.
#[derive(Debug, Clone)]
pub(crate) struct Random(Chance);

impl Replacement for Random {
    fn new(_: usize, _: usize) -> Random {
        Random(Chance::new())
    }

    #[inline(always)]
    fn hit(&mut self, _: &mut [Entry], _: usize, way: usize) -> usize {
        way
    }

    #[inline(always)]
    fn insert(&mut self, entries: &mut [Entry], _: usize, entry: Entry) -> Entry {
        let way = empty_way(entries).unwrap_or_else(|| self.0.below(entries.len()));
        std::mem::replace(&mut entries[way], entry)
    }
}
