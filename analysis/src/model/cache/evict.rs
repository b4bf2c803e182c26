//! Handles lines that are replaced.

use super::entry::{Entry, DIRTY, OWNED, PREFETCHED};
use super::hierarchy::Hierarchy;
use super::store::LineStore;

impl<S: LineStore> Hierarchy<S> {
    /// Handles a line that has left a level. If this level includes the levels before it, they lose the line. The line
    /// then goes to an exclusive level or, if it is dirty, to whatever has a copy.
    pub(super) fn evict(&mut self, core: usize, level: usize, mut evicted: Entry) {
        let shift = self.rules.level(level).shift;
        let line = evicted.line() << shift;
        self.has_left(core, level, line, evicted);
        if self.rules.level(level).inclusion == super::Inclusion::Inclusive
            && self.remove_from_levels_before(core, level, line)
        {
            evicted.set(DIRTY);
        }
        let next = level + 1;
        if next < self.rules.levels && self.rules.is_exclusive(next) {
            self.pass_to_exclusive(core, level, line, evicted);
        } else if evicted.has(DIRTY) {
            self.count_write_back(core, level, evicted.line());
        }
    }

    /// Keeps account of a line that a level no longer has.
    pub(super) fn has_left(&mut self, core: usize, level: usize, line: u64, entry: Entry) {
        if level == 0 {
            self.cores[core].forget(line);
        }
        if entry.has(PREFETCHED) {
            self.totals.levels[level].useless_prefetches += 1;
        }
    }

    /// Returns whether a copy was dirty.
    fn remove_from_levels_before(&mut self, core: usize, level: usize, line: u64) -> bool {
        let is_private = level < self.rules.private;
        let cores = if is_private {
            core..core + 1
        } else {
            0..self.cores.len()
        };
        let mut dirty = false;
        for inner in 0..level {
            let cores = if inner < self.rules.private {
                cores.clone()
            } else {
                0..1
            };
            for core in cores {
                dirty |= self.back_invalidate(core, inner, line);
            }
        }
        dirty
    }

    fn back_invalidate(&mut self, core: usize, level: usize, line: u64) -> bool {
        let Some(entry) = self.cache(core, level).lines.remove(line) else {
            return false;
        };
        self.totals.levels[level].back_invalidations += 1;
        self.has_left(core, level, line, entry);
        entry.has(DIRTY)
    }

    fn pass_to_exclusive(&mut self, core: usize, level: usize, line: u64, mut evicted: Entry) {
        let next = level + 1;
        let rules = *self.rules.level(next);
        let was_dirty = evicted.has(DIRTY);
        if was_dirty {
            self.totals.levels[level].write_backs += 1;
        }
        evicted.clear(PREFETCHED);
        if rules.write_through {
            evicted.clear(DIRTY);
        }
        if next >= self.rules.private {
            evicted.clear(OWNED);
        }
        let lines = &mut self.cache(core, next).lines;
        match lines.peek(line) {
            Some(entry) if evicted.has(DIRTY) => entry.set(DIRTY),
            Some(_) => {}
            None => {
                let displaced = lines.insert(evicted);
                if !displaced.is_empty() {
                    self.evict(core, next, displaced);
                }
            }
        }
        if was_dirty && rules.write_through {
            self.write_back(core, next + 1, line, rules.line_bytes);
        }
    }

    /// A dirty line leaves a level; `number` counts lines of that level.
    #[inline(always)]
    pub(super) fn count_write_back(&mut self, core: usize, level: usize, number: u64) {
        let rules = self.rules.level(level);
        let (line, line_bytes) = (number << rules.shift, rules.line_bytes);
        self.totals.levels[level].write_backs += 1;
        self.write_back(core, level + 1, line, line_bytes);
    }

    /// Dirty data goes to the next level that has a copy and keeps it; if there is none, to memory.
    #[inline(always)]
    pub(super) fn write_back(&mut self, core: usize, from: usize, line: u64, bytes: u64) {
        for level in from..self.rules.levels {
            let cache = self.cache(core, level);
            let is_there = cache.lines.peek(line >> cache.shift).is_some();
            if is_there && self.keep_written(core, level, line) {
                return;
            }
        }
        self.totals.traffic.bytes_written += bytes;
    }

    fn keep_written(&mut self, core: usize, level: usize, line: u64) -> bool {
        if self.rules.level(level).write_through {
            return false;
        }
        let cache = self.cache(core, level);
        if let Some(entry) = cache.lines.peek(line >> cache.shift) {
            entry.set(DIRTY);
        }
        true
    }
}
