//! MESI between the private levels of cores.
//!
//! A core's copy is modified if it is dirty, exclusive if it is owned, and otherwise shared. If a copy is owned, no
//! other core has one. Without the flag, the other cores are asked.

use super::entry::{DIRTY, OWNED};
use super::hierarchy::{Hierarchy, Reference};
use super::store::LineStore;
use super::Outcome;

impl<S: LineStore> Hierarchy<S> {
    /// Prepares a read that looks beyond the private levels. Other cores keep the line, but share it, and write back
    /// what they have changed.
    pub(super) fn share(&mut self, reference: &mut Reference, line: u64) {
        if !self.rules.coherent || reference.is_write {
            return;
        }
        for other in 0..self.cores.len() {
            if other != reference.core {
                reference.held_by_others |= self.make_shared(other, line);
            }
        }
    }

    fn make_shared(&mut self, core: usize, line: u64) -> bool {
        let (mut held, mut dirty) = (false, false);
        for level in 0..self.rules.private {
            if let Some(entry) = self.cache(core, level).lines.peek(line) {
                held = true;
                dirty |= entry.has(DIRTY);
                entry.clear(DIRTY | OWNED);
            }
        }
        if held {
            self.cores[core].forget(line);
        }
        if dirty {
            self.intervene(core, line);
        }
        held
    }

    /// Prepares a write: the other cores lose the line.
    #[inline(always)]
    pub(super) fn acquire(&mut self, reference: &mut Reference, line: u64, outcome: &mut Outcome) {
        if self.rules.coherent && !self.owns(reference.core, line) {
            self.invalidate_others(reference, line, outcome);
        }
    }

    fn owns(&mut self, core: usize, line: u64) -> bool {
        (0..self.rules.private).any(|level| {
            let entry = self.cache(core, level).lines.peek(line);
            entry.is_some_and(|entry| entry.has(OWNED))
        })
    }

    fn invalidate_others(&mut self, reference: &mut Reference, line: u64, outcome: &mut Outcome) {
        self.changes += 1;
        for other in 0..self.cores.len() {
            if other != reference.core && self.invalidate(other, line) {
                reference.held_by_others = true;
                outcome.invalidations += 1;
                self.totals.traffic.invalidations += 1;
            }
        }
        for level in 0..self.rules.private {
            if let Some(entry) = self.cache(reference.core, level).lines.peek(line) {
                entry.set(OWNED);
            }
        }
    }

    fn invalidate(&mut self, core: usize, line: u64) -> bool {
        let (mut held, mut dirty) = (false, false);
        for level in 0..self.rules.private {
            let cache = self.cache(core, level);
            if let Some(entry) = cache.lines.remove(line) {
                if let Some(classes) = &mut cache.classes {
                    classes.lose(line);
                }
                self.has_left(core, level, line, entry);
                held = true;
                dirty |= entry.has(DIRTY);
            }
        }
        if dirty {
            self.intervene(core, line);
        }
        held
    }

    fn intervene(&mut self, core: usize, line: u64) {
        self.totals.traffic.interventions += 1;
        let line_bytes = self.rules.level(0).line_bytes;
        self.write_back(core, self.rules.private, line, line_bytes);
    }
}
