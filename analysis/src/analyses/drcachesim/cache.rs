//! One cache: sets of lines in the order of their use.

use std::collections::HashSet;

use super::settings::Size;

/// What was asked of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub hits: u64,
    pub misses: u64,
    /// Misses of lines that never missed before, including misses of prefetches.
    pub compulsory_misses: u64,
    /// Prefetches that found the line.
    pub prefetch_hits: u64,
    pub prefetch_misses: u64,
    /// Hits of the caches before this one, including hits of prefetches.
    pub child_hits: u64,
}

/// No line has this number, since a line has more than one byte.
const NO_LINE: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub struct Cache {
    /// Set after set, in each the line that was used last first.
    lines: Vec<u64>,
    ways: usize,
    set_mask: u64,
    missed: HashSet<u64>,
    pub counts: Counts,
}

impl Cache {
    pub fn new(size: Size, line_bytes: u64) -> Self {
        let sets = size.sets(line_bytes);
        Cache {
            lines: vec![NO_LINE; (sets * u64::from(size.ways)) as usize],
            ways: size.ways as usize,
            set_mask: sets - 1,
            missed: HashSet::new(),
            counts: Counts::default(),
        }
    }

    /// Whether the line is there. It is, afterwards.
    pub fn take(&mut self, line: u64, prefetches: bool) -> bool {
        let start = (line & self.set_mask) as usize * self.ways;
        let set = &mut self.lines[start..start + self.ways];
        let found = set.iter().position(|known| *known == line);
        set[..=found.unwrap_or(self.ways - 1)].rotate_right(1);
        set[0] = line;
        let counts = &mut self.counts;
        *match (found.is_some(), prefetches) {
            (true, false) => &mut counts.hits,
            (true, true) => &mut counts.prefetch_hits,
            (false, false) => &mut counts.misses,
            (false, true) => &mut counts.prefetch_misses,
        } += 1;
        if found.is_none() {
            counts.compulsory_misses += u64::from(self.missed.insert(line));
        }
        found.is_some()
    }
}
