//! Looking lines up, level after level, and bringing them in.

use super::entry::{Entry, DIRTY, OWNED, PREFETCHED};
use super::hierarchy::{Hierarchy, Reference};
use super::store::LineStore;
use super::Outcome;

impl<S: LineStore> Hierarchy<S> {
    /// Looks a line up in a level for an access, sets flags of it if it is there, and says whether it is.
    #[inline(always)]
    pub(super) fn look_up(
        &mut self,
        reference: &mut Reference,
        level: usize,
        line: u64,
        flags: u64,
        outcome: &mut Outcome,
    ) -> bool {
        let cache = self.cache(reference.core, level);
        let found = cache.lines.look_up(line >> cache.shift);
        let is_hit = found.is_some();
        let mut first_use = false;
        if let Some(entry) = found {
            if reference.is_demand {
                first_use = entry.has(PREFETCHED);
                entry.clear(PREFETCHED);
            }
            entry.set(flags);
        }
        if reference.is_demand {
            self.count_look_up(reference, level, line, is_hit, outcome);
        }
        if first_use || !is_hit {
            self.trigger(reference, level, first_use);
        }
        is_hit
    }

    #[inline(always)]
    fn count_look_up(
        &mut self,
        reference: &Reference,
        level: usize,
        line: u64,
        is_hit: bool,
        outcome: &mut Outcome,
    ) {
        if level > 0 {
            self.totals.levels[level].lookups += 1;
            self.changes += 1;
        }
        if !is_hit {
            self.totals.levels[level].misses += 1;
            outcome.misses[level] += 1;
            self.changes += 1;
        }
        let cache = self.cache(reference.core, level);
        let number = line >> cache.shift;
        let class = cache.classes.as_mut().map(|classes| classes.see(number, is_hit));
        if let Some(Some(class)) = class {
            outcome.classes[level][class as usize] += 1;
        }
    }

    #[inline(always)]
    fn trigger(&mut self, reference: &mut Reference, level: usize, first_use: bool) {
        if first_use {
            self.totals.levels[level].useful_prefetches += 1;
            self.changes += 1;
        }
        if reference.is_demand && self.rules.level(level).prefetch.is_on() {
            reference.triggers |= 1 << level;
        }
    }

    /// Brings in a line that the levels before `from` don't have. It comes from the first place that has it into all
    /// levels on the way, from the outside in, except exclusive ones. Returns the flags with which it enters the level
    /// before `from`.
    #[inline(always)]
    pub(super) fn fetch(
        &mut self,
        reference: &mut Reference,
        from: usize,
        line: u64,
        outcome: &mut Outcome,
    ) -> u64 {
        let levels = self.rules.levels;
        if from + 1 < levels {
            let cache = self.cache(reference.core, levels - 1);
            cache.lines.announce(line >> cache.shift);
        }
        let mut found = from;
        while found < levels {
            if found == self.rules.private {
                self.share(reference, line);
            }
            if found + 1 == levels {
                self.take_what_others_replaced(reference.core, line);
            }
            if self.look_up(reference, found, line, 0, outcome) {
                break;
            }
            found += 1;
        }
        let mut flags = self.take_from(reference, found, line);
        for level in (from..found).rev() {
            if !self.rules.is_exclusive(level) {
                self.fill(reference.core, level, line, flags);
                flags &= !DIRTY;
            }
        }
        flags
    }

    /// To be called before a line is looked up in the last level.
    #[inline(always)]
    fn take_what_others_replaced(&mut self, core: usize, line: u64) {
        let level = self.rules.levels - 1;
        let number = line >> self.rules.level(level).shift;
        if self.stays.as_mut().is_some_and(|stays| stays.use_line(number)) {
            if let Some(entry) = self.cache(core, level).lines.remove(number) {
                self.evict(core, level, entry);
            }
        }
    }

    /// What is known of a line where it was found; an exclusive level gives it away.
    #[inline(always)]
    fn take_from(&mut self, reference: &Reference, found: usize, line: u64) -> u64 {
        if found == self.rules.levels {
            return self.take_from_outside(reference);
        }
        let is_exclusive = self.rules.is_exclusive(found);
        let is_private = found < self.rules.private;
        let cache = self.cache(reference.core, found);
        let number = line >> cache.shift;
        let entry = match is_exclusive {
            true => cache.lines.remove(number),
            false => cache.lines.peek(number).copied(),
        };
        let entry = entry.unwrap_or(Entry::EMPTY);
        let mut flags = 0;
        if is_exclusive && entry.has(DIRTY) {
            flags |= DIRTY;
        }
        let was_owned = is_private && entry.has(OWNED);
        let is_alone = !is_private && !reference.held_by_others;
        if self.rules.coherent && (reference.is_write || was_owned || is_alone) {
            flags |= OWNED;
        }
        flags
    }

    #[inline(always)]
    fn take_from_outside(&mut self, reference: &Reference) -> u64 {
        if reference.held_by_others {
            self.totals.traffic.transfers += 1;
        } else {
            let last = self.rules.level(self.rules.levels - 1);
            self.totals.traffic.bytes_read += last.line_bytes;
        }
        let is_owned = reference.is_write || !reference.held_by_others;
        match self.rules.coherent && is_owned {
            true => OWNED,
            false => 0,
        }
    }

    /// Puts a line into a level that doesn't have it.
    #[inline(always)]
    pub(super) fn fill(&mut self, core: usize, level: usize, line: u64, flags: u64) {
        let is_private = level < self.rules.private;
        let flags = if is_private { flags } else { flags & !OWNED };
        let cache = self.cache(core, level);
        let evicted = cache.lines.insert(Entry::new(line >> cache.shift, flags));
        if !evicted.is_empty() {
            if level + 1 == self.rules.levels {
                self.stays
                    .iter_mut()
                    .for_each(|stays| stays.forget(evicted.line()));
            }
            self.evict(core, level, evicted);
        }
    }
}
