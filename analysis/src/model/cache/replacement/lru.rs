//! Replaces the least recently used line.

use super::{position, Replacement};
use crate::model::cache::entry::Entry;

/// The ways of a set stand in the order of use, the most recently used one first; empty ways are after the others.
#[derive(Debug, Clone)]
pub(crate) struct Lru;

impl Replacement for Lru {
    fn new(_: usize, _: usize) -> Lru {
        Lru
    }

    #[inline(always)]
    fn hit(&mut self, entries: &mut [Entry], _: usize, way: usize) -> usize {
        let used = entries[way];
        let mut carried = used;
        for entry in entries {
            std::mem::swap(entry, &mut carried);
            if carried == used {
                break;
            }
        }
        0
    }

    #[inline(always)]
    fn insert(&mut self, entries: &mut [Entry], _: usize, entry: Entry) -> Entry {
        match entries.len() {
            4 => shift_in::<4>(entries, entry),
            8 => shift_in::<8>(entries, entry),
            12 => shift_in::<12>(entries, entry),
            16 => shift_in::<16>(entries, entry),
            _ => shift_in_any(entries, entry),
        }
    }

    fn remove(&mut self, entries: &mut [Entry], _: usize, way: usize) -> Entry {
        let removed = entries[way];
        entries[way..].rotate_left(1);
        if let Some(last) = entries.last_mut() {
            *last = Entry::EMPTY;
        }
        removed
    }

    #[inline(always)]
    fn look_up(&mut self, entries: &mut [Entry], set: usize, line: u64) -> Option<usize> {
        if entries[0].is(line) {
            return Some(0);
        }
        let way = position(entries, line)?;
        Some(self.hit(entries, set, way))
    }
}

#[inline(always)]
fn shift_in<const WAYS: usize>(entries: &mut [Entry], entry: Entry) -> Entry {
    let Some(entries) = entries.first_chunk_mut::<WAYS>() else {
        return Entry::EMPTY;
    };
    let old = *entries;
    entries[1..].copy_from_slice(&old[..WAYS - 1]);
    entries[0] = entry;
    old[WAYS - 1]
}

fn shift_in_any(entries: &mut [Entry], entry: Entry) -> Entry {
    entries.rotate_right(1);
    std::mem::replace(&mut entries[0], entry)
}
