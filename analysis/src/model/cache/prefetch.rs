//! Prefetchers: which lines to bring in, and when.

use super::entry::PREFETCHED;
use super::hierarchy::{Hierarchy, Reference};
use super::store::LineStore;
use super::{Outcome, Prefetcher};

impl<S: LineStore> Hierarchy<S> {
    /// Runs the prefetchers of all levels that missed an accessed line, or found it prefetched.
    #[cold]
    pub(super) fn run_prefetchers(&mut self, reference: &Reference, line: u64, outcome: &mut Outcome) {
        for level in 0..self.rules.levels {
            if reference.triggers & (1 << level) != 0 {
                self.run_prefetcher(reference, level, line, outcome);
            }
        }
        if reference.triggers & 1 != 0 {
            self.run_region_prefetcher(reference, line, outcome);
        }
    }

    fn run_region_prefetcher(&mut self, reference: &Reference, line: u64, outcome: &mut Outcome) {
        let Some(regions) = &mut self.cores[reference.core].first.regions else {
            return;
        };
        let page = line / self.rules.page_lines;
        for distance in regions.train(reference.site, line) {
            let target = line.wrapping_add(distance);
            if target / self.rules.page_lines == page {
                self.prefetch(reference, 0, target, outcome);
            }
        }
    }

    fn run_prefetcher(&mut self, reference: &Reference, level: usize, line: u64, outcome: &mut Outcome) {
        let prefetch = self.rules.level(level).prefetch;
        let distance = match prefetch.kind {
            Prefetcher::None => None,
            Prefetcher::NextLine => Some(1),
            Prefetcher::Stride | Prefetcher::FarStride => {
                let strides = &mut self.cache(reference.core, level).strides;
                strides.train(reference.site, line)
            }
            Prefetcher::Stream => {
                let page = line / self.rules.page_lines;
                self.cache(reference.core, level).streams.train(page, line)
            }
        };
        let Some(distance) = distance else {
            return;
        };
        let is_far = prefetch.kind == Prefetcher::FarStride;
        let page = |line: u64| line / self.rules.page_lines;
        let last_line = u64::MAX >> self.rules.first_shift;
        let ahead = (1..=i128::from(prefetch.degree))
            .map(|step| i128::from(line) + i128::from(distance as i64) * step);
        let on_page = |target: u64| is_far || page(target) == page(line);
        let known = ahead.map_while(|target| u64::try_from(target).ok());
        let targets: Vec<u64> = known
            .take_while(|&target| target <= last_line && on_page(target))
            .collect();
        for target in targets {
            self.prefetch(reference, level, target, outcome);
        }
    }

    /// Brings a line in, unless the level or one before it has it.
    fn prefetch(&mut self, reference: &Reference, level: usize, line: u64, outcome: &mut Outcome) {
        if self.is_within(reference.core, level, line) {
            return;
        }
        let mut request = Reference {
            is_write: false,
            is_demand: false,
            held_by_others: false,
            triggers: 0,
            ..*reference
        };
        self.totals.levels[level].prefetches += 1;
        let flags = self.fetch(&mut request, level + 1, line, outcome);
        self.fill(reference.core, level, line, flags | PREFETCHED);
    }

    fn is_within(&mut self, core: usize, level: usize, line: u64) -> bool {
        let cores = match level < self.rules.private {
            true => core..core + 1,
            false => 0..self.cores.len(),
        };
        (0..=level).any(|inner| match inner < self.rules.private {
            true => cores
                .clone()
                .any(|core| self.cache(core, inner).lines.peek(line).is_some()),
            false => self.cache(core, inner).lines.peek(line).is_some(),
        })
    }
}
