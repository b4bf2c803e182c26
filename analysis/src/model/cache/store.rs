//! Where the lines of a level are.

use super::entry::Entry;
use super::replacement::{position, Drrip, Lru, Random, Replacement, Srrip, TreePlru};
use super::{CacheGeometry, Policy};
use crate::model::fetch_ahead::fetch;

/// The lines of one cache. Line numbers are addresses divided by this cache's line size.
pub(crate) trait LineStore: Clone + Send {
    fn new(geometry: CacheGeometry, policy: Policy) -> Self;

    /// Lets the sets of a page be chosen by chance, as where the system puts pages anywhere into physical memory. To be called
    /// before any line comes in.
    fn scatter_pages(&mut self, page_lines: u64);

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
    Scattered(ScatteredPages),
}

/// Sets in groups that each have the lines of one page. Pages that follow each other are in groups that do so, for systems
/// often put them so; where such a stretch begins is chance.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScatteredPages {
    /// Logarithm of the lines of a page.
    shift: u32,
    groups: u64,
    /// Logarithm of the pages of a stretch: as many as there are groups, or fewer.
    stretch_shift: u32,
}

impl ScatteredPages {
    /// None if a page has lines in all sets wherever it is.
    fn new(sets: u64, page_lines: u64) -> Option<ScatteredPages> {
        let groups = sets / page_lines;
        (groups > 1).then(|| ScatteredPages {
            shift: page_lines.trailing_zeros(),
            groups,
            stretch_shift: groups.ilog2(),
        })
    }

    /// A page's group follows from its number alone, so that the same trace gives the same figures.
    #[inline(always)]
    fn set_of(self, line: u64) -> usize {
        let page = line >> self.shift;
        let stretch = page >> self.stretch_shift;
        let chance = (stretch ^ stretch >> 17).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let begin = (chance * self.groups) >> 32;
        let group = begin + (page & ((1 << self.stretch_shift) - 1));
        let group = if group < self.groups {
            group
        } else {
            group - self.groups
        };
        (group << self.shift | line & ((1 << self.shift) - 1)) as usize
    }
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
            SetCount::Scattered(pages) => pages.set_of(line),
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

    fn scatter_pages(&mut self, page_lines: u64) {
        let sets = (self.entries.len() / self.ways) as u64;
        if let Some(pages) = ScatteredPages::new(sets, page_lines) {
            self.count = SetCount::Scattered(pages);
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
            fetch(entry);
        }
    }
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

    fn scatter_pages(&mut self, page_lines: u64) {
        for_policy!(self, sets => sets.scatter_pages(page_lines));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pages: ScatteredPages, sets: usize, numbers: impl Iterator<Item = u64>) -> Vec<u32> {
        let mut counts = vec![0; sets];
        let lines = numbers.flat_map(|page| (0..64).map(move |line| page << 6 | line));
        lines.for_each(|line| counts[pages.set_of(line)] += 1);
        counts
    }

    #[test]
    fn pages_at_powers_of_two_share_no_sets_but_by_chance() {
        let pages = ScatteredPages::new(2048, 64).unwrap();
        // They would share one group of 32.
        let counts = counts(pages, 2048, (0..3200).map(|page| page << 10));
        assert!(
            counts.iter().all(|count| (50..=160).contains(count)),
            "{counts:?}"
        );
        assert_eq!(pages.set_of(5 << 6 | 9), pages.set_of(5 << 6) + 9);
    }

    #[test]
    fn a_stretch_of_pages_fills_a_way_of_all_sets() {
        for sets in [2048, 8704] {
            let pages = ScatteredPages::new(sets, 64).unwrap();
            let stretch = 1 << pages.stretch_shift;
            let counts = counts(pages, sets as usize, 7 * stretch..8 * stretch);
            assert!(counts.iter().all(|count| *count <= 1));
        }
    }

    #[test]
    fn pages_that_have_lines_in_all_sets_are_not_scattered() {
        assert!(ScatteredPages::new(64, 64).is_none());
        assert_eq!(ScatteredPages::new(8704, 64).unwrap().groups, 136);
    }
}
