//! Finds blocks by address.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::iter;
use std::ops::Range;

use super::PAGE_SHIFT;
use crate::model::cache::LineHash;

const PAGE_BYTES: u64 = 1 << PAGE_SHIFT;

/// A block's first address, and its slot.
type Entry = (u64, u32);

/// Addresses that share a hint: the smallest blocks of allocators.
const HINT_SHIFT: u32 = 4;
/// A power of two; they stay in a core's cache.
const HINTS: usize = 1 << 15;

/// Where blocks that don't overlap begin. Blocks of up to a page are kept by the page of their beginning, in order of
/// address, so that one lies on two pages at most. Larger blocks are kept in a tree.
#[derive(Debug, Clone)]
pub(crate) struct BlockIndex {
    small: HashMap<u64, Vec<Entry>, LineHash>,
    large: BTreeMap<u64, u32>,
    /// Slots that were found for addresses like this. Each may be wrong, which its block tells.
    hints: Vec<Cell<u32>>,
}

impl Default for BlockIndex {
    fn default() -> Self {
        BlockIndex {
            small: HashMap::default(),
            large: BTreeMap::new(),
            hints: vec![Cell::new(0); HINTS],
        }
    }
}

impl BlockIndex {
    pub fn insert(&mut self, start: u64, end: u64, slot: u32) {
        if end - start > PAGE_BYTES {
            self.large.insert(start, slot);
            return;
        }
        let entries = self.small.entry(start >> PAGE_SHIFT).or_default();
        let position = entries.partition_point(|entry| entry.0 < start);
        entries.insert(position, (start, slot));
    }

    pub fn remove(&mut self, start: u64, end: u64) {
        if end - start > PAGE_BYTES {
            self.large.remove(&start);
            return;
        }
        let page = start >> PAGE_SHIFT;
        let Some(entries) = self.small.get_mut(&page) else {
            return;
        };
        if let Ok(position) = entries.binary_search_by_key(&start, |entry| entry.0) {
            entries.remove(position);
        }
        if entries.is_empty() {
            self.small.remove(&page);
        }
    }

    pub fn starting_at(&self, start: u64) -> Option<u32> {
        let small = || {
            let entries = self.small.get(&(start >> PAGE_SHIFT))?;
            let position = entries.binary_search_by_key(&start, |entry| entry.0).ok()?;
            Some(entries[position].1)
        };
        small().or_else(|| self.large.get(&start).copied())
    }

    /// The slot of the block that holds the address. Otherwise, the addresses of its page around it that are in no
    /// block: the first one, and the first one past them (0: the end of the address space).
    /// `range_of` gives the addresses of the block in a slot, none if there is no such block.
    pub fn find(&self, address: u64, range_of: impl Fn(u32) -> Range<u64>) -> Result<u32, (u64, u64)> {
        let hint = &self.hints[(address >> HINT_SHIFT) as usize % HINTS];
        if range_of(hint.get()).contains(&address) {
            return Ok(hint.get());
        }
        let found = self.search(address, |slot| range_of(slot).end);
        if let Ok(slot) = found {
            hint.set(slot);
        }
        found
    }

    fn search(&self, address: u64, end_of: impl Fn(u32) -> u64) -> Result<u32, (u64, u64)> {
        let page = address >> PAGE_SHIFT;
        let mut from = page << PAGE_SHIFT;
        let mut last = from | (PAGE_BYTES - 1);
        let entries = self.small.get(&page).map_or(&[][..], Vec::as_slice);
        let behind = entries.partition_point(|entry| entry.0 <= address);
        let before = match behind.checked_sub(1) {
            Some(position) => entries.get(position),
            None => page.checked_sub(1).and_then(|page| self.small.get(&page)?.last()),
        };
        // Most accesses go to small blocks, and no other block lies there.
        let large_before = || self.large.range(..=address).next_back().map(|(_, slot)| *slot);
        let small_before = before.map(|(_, slot)| *slot);
        for slot in small_before
            .into_iter()
            .chain(iter::once_with(large_before).flatten())
        {
            let end = end_of(slot);
            if end > address {
                return Ok(slot);
            }
            from = from.max(end);
        }
        let large_behind = self.large.range(address..).next().map(|(start, _)| *start);
        for start in entries
            .get(behind)
            .map(|entry| entry.0)
            .into_iter()
            .chain(large_behind)
        {
            last = last.min(start - 1);
        }
        Err((from, last.wrapping_add(1)))
    }

    /// The slots of all blocks that have an address in `start..end`.
    pub fn overlapping(&self, start: u64, end: u64, end_of: impl Fn(u32) -> u64) -> Vec<u32> {
        let mut slots = Vec::new();
        let mut add = |entry: Entry| {
            if entry.0 < end && end_of(entry.1) > start {
                slots.push(entry.1);
            }
        };
        let before = self.large.range(..start).next_back();
        let within = self.large.range(start..end);
        before
            .into_iter()
            .chain(within)
            .for_each(|(start, slot)| add((*start, *slot)));
        let pages = (start >> PAGE_SHIFT).saturating_sub(1)..=(end - 1) >> PAGE_SHIFT;
        if pages.end() - pages.start() < self.small.len() as u64 {
            let entries = pages.filter_map(|page| self.small.get(&page));
            entries.flatten().copied().for_each(add);
        } else {
            self.small.values().flatten().copied().for_each(add);
        }
        slots.sort_unstable();
        slots
    }
}
