//! Which modules' counters a node holds.

use std::ops::Range;

use crate::table::Variables;
use crate::{Module, ModuleId, ProcessEvent, Trace};

impl Module {
    /// The indices of its counters among those of its image; none if it doesn't count.
    pub fn counter_range(&self) -> Option<Range<u64>> {
        let first = u64::from(self.counters?.first);
        Some(first..first + u64::from(self.counter_count?))
    }

    /// The module's own counters among those of a node, as far as they were stored.
    pub fn counters_of<'n>(&self, node: &'n [u64]) -> &'n [u64] {
        let range = self.counter_range().unwrap_or(0..0);
        let index = |position: u64| usize::try_from(position).map_or(node.len(), |at| at.min(node.len()));
        &node[index(range.start)..index(range.end)]
    }

    /// The variables of its sums, by the counters of a node: its counters, and what is derived from them.
    pub fn variables_of<'n>(&self, node: &'n [u64]) -> Variables<'n> {
        let count = self.counter_count.unwrap_or(0);
        Variables::new(self.counters_of(node), count, &self.derived)
    }
}

impl Trace {
    /// The modules whose counters are in the nodes of a process with that image, in the order of the trace.
    ///
    /// After a fork each process may load modules for the same counters: its own come first, then those of the processes
    /// from which it was forked, then those of others, which it may have loaded before they were forked from it.
    pub fn counting_modules(&self, process: u32, image: u32) -> Vec<ModuleId> {
        let ancestors = self.ancestors(process);
        let distance = |module: &Module| {
            let position = ancestors.iter().position(|ancestor| *ancestor == module.process);
            position.unwrap_or(ancestors.len())
        };
        let of_image = |module: &&Module| module.counters.is_some_and(|counters| counters.image == image);
        let modules = (0u32..).zip(&self.program().modules);
        let mut candidates: Vec<(u32, &Module)> = modules.filter(|(_, module)| of_image(module)).collect();
        candidates.sort_by_key(|(_, module)| distance(module));
        let mut taken: Vec<Range<u64>> = Vec::new();
        candidates.retain(|(_, module)| {
            let range = module.counter_range().unwrap_or(0..0);
            take(&mut taken, range)
        });
        let mut chosen: Vec<ModuleId> = candidates.into_iter().map(|(id, _)| ModuleId(id)).collect();
        chosen.sort_unstable();
        chosen
    }

    /// The process and those from which it was forked, itself first.
    fn ancestors(&self, process: u32) -> Vec<u32> {
        let parent_of = |number: u32| {
            let mut started = self.processes().iter();
            let start = started.find(|(at, info)| *at == number && info.event == ProcessEvent::Start);
            start.and_then(|(_, info)| info.parent)
        };
        // Parents have smaller numbers. The check ends chains that a hostile trace would make endless.
        std::iter::successors(Some(process), |child| {
            parent_of(*child).filter(|parent| parent < child)
        })
        .collect()
    }
}

/// Whether the range overlaps none of those that were taken before, in their order. Then it is taken, too.
fn take(taken: &mut Vec<Range<u64>>, range: Range<u64>) -> bool {
    if range.is_empty() {
        return true;
    }
    let position = taken.partition_point(|other| other.start < range.start);
    let before = position
        .checked_sub(1)
        .is_some_and(|before| taken[before].end > range.start);
    let behind = taken.get(position).is_some_and(|behind| behind.start < range.end);
    if before || behind {
        return false;
    }
    taken.insert(position, range);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_overlap_are_not_taken() {
        let mut taken = Vec::new();
        for (range, expected) in [
            (10..20, true),
            (20..30, true),
            (0..10, true),
            (5..6, false),
            (29..40, false),
            (0..100, false),
            (12..12, true),
            (30..31, true),
            (u64::MAX - 1..u64::MAX, true),
        ] {
            assert_eq!(take(&mut taken, range.clone()), expected, "{range:?}");
        }
        assert_eq!(taken.len(), 5);
    }
}
