//! Where the lines of a level are.

use super::entry::Entry;
use super::replacement::{position, Drrip, Lru, Random, Replacement, Srrip, TreePlru};
use super::{CacheGeometry, Policy};

/// The lines of one cache. Line numbers are addresses divided by this cache's line size.
pub(crate) trait LineStore: Clone + Send {
    fn new(geometry: CacheGeometry, policy: Policy) -> Self;

    /// Finds a line and marks it as used.
    fn look_up(&mut self, line: u64) -> Option<&mut Entry>;

    /// Finds a line.
    fn peek(&mut self, line: u64) -> Option<&mut Entry>;

    /// Puts in a line that isn't there. Returns the replaced entry, or an empty one.
    fn insert(&mut self, entry: Entry) -> Entry;

    /// Takes a line out.
    fn remove(&mut self, line: u64) -> Option<Entry>;

    /// Tells the processor that a line's set will be needed.
    fn announce(&self, line: u64);
}

/// A set-associative cache.
#[derive(Debug, Clone)]
pub(crate) struct Sets<R> {
    /// `sets` × `ways`.
    entries: Vec<Entry>,
    ways: usize,
    count: SetCount,
    replacement: R,
}

/// How a line number becomes a set number.
#[derive(Debug, Clone, Copy)]
pub(super) enum SetCount {
    /// Sets are a power of two: the mask.
    Mask(u64),
    Modulus(u64),
}

impl SetCount {
    pub fn new(sets: u64) -> SetCount {
        match sets.is_power_of_two() {
            true => SetCount::Mask(sets - 1),
            false => SetCount::Modulus(sets),
        }
    }

    #[inline(always)]
    pub fn set_of(self, line: u64) -> usize {
        match self {
            SetCount::Mask(mask) => (line & mask) as usize,
            SetCount::Modulus(sets) => (line % sets) as usize,
        }
    }
}

impl<R: Replacement> Sets<R> {
    #[inline(always)]
    fn set(&mut self, line: u64) -> (usize, &mut [Entry], &mut R) {
        let set = self.count.set_of(line);
        let entries = &mut self.entries[set * self.ways..][..self.ways];
        (set, entries, &mut self.replacement)
    }
}

impl<R: Replacement> LineStore for Sets<R> {
    fn new(geometry: CacheGeometry, _: Policy) -> Self {
        let (sets, ways) = (geometry.sets(), geometry.ways as usize);
        Sets {
            entries: vec![Entry::EMPTY; sets as usize * ways],
            ways,
            count: SetCount::new(sets),
            replacement: R::new(sets as usize, ways),
        }
    }

    #[inline(always)]
    fn look_up(&mut self, line: u64) -> Option<&mut Entry> {
        let (set, entries, replacement) = self.set(line);
        let way = replacement.look_up(entries, set, line)?;
        Some(&mut entries[way])
    }

    #[inline(always)]
    fn peek(&mut self, line: u64) -> Option<&mut Entry> {
        let (_, entries, _) = self.set(line);
        let way = position(entries, line)?;
        Some(&mut entries[way])
    }

    #[inline(always)]
    fn insert(&mut self, entry: Entry) -> Entry {
        let (set, entries, replacement) = self.set(entry.line());
        replacement.insert(entries, set, entry)
    }

    fn remove(&mut self, line: u64) -> Option<Entry> {
        let (set, entries, replacement) = self.set(line);
        let way = position(entries, line)?;
        Some(replacement.remove(entries, set, way))
    }

    #[inline(always)]
    fn announce(&self, line: u64) {
        let first = self.count.set_of(line) * self.ways;
        if let Some(entry) = self.entries.get(first) {
            announce(entry);
        }
    }
}

/// Tells the processor that this will be needed.
#[inline(always)]
pub(super) fn announce<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: a prefetch has no effect but on time, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}

/// A cache of any policy.
#[derive(Debug, Clone)]
pub(crate) enum AnySets {
    Lru(Sets<Lru>),
    Plru(Sets<TreePlru>),
    Srrip(Sets<Srrip>),
    Drrip(Sets<Drrip>),
    Random(Sets<Random>),
}

macro_rules! for_policy {
    ($store:expr, $sets:ident => $action:expr) => {
        match $store {
            AnySets::Lru($sets) => $action,
            AnySets::Plru($sets) => $action,
            AnySets::Srrip($sets) => $action,
            AnySets::Drrip($sets) => $action,
            AnySets::Random($sets) => $action,
        }
    };
}

impl LineStore for AnySets {
    fn new(geometry: CacheGeometry, policy: Policy) -> Self {
        match policy {
            Policy::Lru => AnySets::Lru(Sets::new(geometry, policy)),
            Policy::Plru => AnySets::Plru(Sets::new(geometry, policy)),
            Policy::Srrip => AnySets::Srrip(Sets::new(geometry, policy)),
            Policy::Drrip => AnySets::Drrip(Sets::new(geometry, policy)),
            Policy::Random => AnySets::Random(Sets::new(geometry, policy)),
        }
    }

    #[inline(always)]
    fn look_up(&mut self, line: u64) -> Option<&mut Entry> {
        for_policy!(self, sets => sets.look_up(line))
    }

    #[inline]
    fn peek(&mut self, line: u64) -> Option<&mut Entry> {
        for_policy!(self, sets => sets.peek(line))
    }

    #[inline]
    fn insert(&mut self, entry: Entry) -> Entry {
        for_policy!(self, sets => sets.insert(entry))
    }

    fn remove(&mut self, line: u64) -> Option<Entry> {
        for_policy!(self, sets => sets.remove(line))
    }

    #[inline]
    fn announce(&self, line: u64) {
        for_policy!(self, sets => sets.announce(line))
    }
}
