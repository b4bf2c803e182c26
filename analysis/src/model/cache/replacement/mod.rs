//! Chooses the line of a full set that is replaced.

mod lru;
mod plru;
mod random;
mod rrip;

pub(crate) use lru::Lru;
pub(crate) use plru::TreePlru;
pub(crate) use random::Random;
pub(crate) use rrip::{Drrip, Srrip};

use super::entry::Entry;

/// A policy with its state for all sets of a level. `entries` are the ways of set number `set`. Empty ways are filled
/// first, from the lowest on.
pub(crate) trait Replacement: Clone + Send {
    fn new(sets: usize, ways: usize) -> Self;

    /// Marks a way as used. Returns the way in which its line is now.
    fn hit(&mut self, entries: &mut [Entry], set: usize, way: usize) -> usize;

    /// Puts a line into a set that doesn't hold it. Returns the replaced entry, or an empty one.
    fn insert(&mut self, entries: &mut [Entry], set: usize, entry: Entry) -> Entry;

    /// Empties a way and returns what was there.
    #[inline]
    fn remove(&mut self, entries: &mut [Entry], set: usize, way: usize) -> Entry {
        let _ = set;
        std::mem::replace(&mut entries[way], Entry::EMPTY)
    }

    /// Finds a line and marks it as used. Returns its way.
    #[inline(always)]
    fn look_up(&mut self, entries: &mut [Entry], set: usize, line: u64) -> Option<usize> {
        let way = position(entries, line)?;
        Some(self.hit(entries, set, way))
    }
}

/// The way that holds a line.
#[inline(always)]
pub(super) fn position(entries: &[Entry], line: u64) -> Option<usize> {
    // The usual associativities get code of their own, in which all ways are compared at once.
    let absent = match entries.len() {
        4 => is_absent::<4>(entries, line),
        8 => is_absent::<8>(entries, line),
        12 => is_absent::<12>(entries, line),
        16 => is_absent::<16>(entries, line),
        _ => false,
    };
    match absent {
        true => None,
        false => entries.iter().position(|entry| entry.is(line)),
    }
}

#[inline(always)]
fn is_absent<const WAYS: usize>(entries: &[Entry], line: u64) -> bool {
    let found = entries
        .first_chunk::<WAYS>()
        .map(|entries| entries.iter().fold(false, |found, entry| found | entry.is(line)));
    found == Some(false)
}

/// The first empty way.
#[inline(always)]
fn empty_way(entries: &[Entry]) -> Option<usize> {
    entries.iter().position(|entry| entry.is_empty())
}
