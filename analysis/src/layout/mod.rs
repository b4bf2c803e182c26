//! How structures are laid out, which of their fields are hot, and what would be a better layout.

mod affinity;
mod finder;
mod fragment;
mod packed;
mod proposals;
mod tables;
mod together;
mod weights;
mod with_misses;

use trackway_trace::{Batch, Program, Trace};

use crate::cache::Caches;
use crate::misses::count::stores;
use crate::misses::shard::MissesShard;
use crate::misses::{Measure, SiteCounters};
use crate::structures::Structures;
use crate::{Analysis, Findings, Order, Part};
use affinity::Pairs;
pub use finder::Finder;
pub use fragment::Fragment;
use together::{Together, Watch};
pub use with_misses::LayoutAndMisses;

/// Simulates caches, and follows which fields of an object are accessed together.
pub struct Layout {
    caches: Caches,
    structures: Structures,
    watch: Watch,
    window: u64,
    shown: Shown,
}

/// What to print.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Only this structure.
    pub only: Option<usize>,
    /// Structures, and pairs of fields of each, at most.
    pub top: usize,
    pub rank_by: Measure,
}

/// A part of the work on one thread, or of all.
pub struct LayoutShard {
    misses: MissesShard,
    /// Only in the first part: fields of an object may be on lines of several.
    together: Option<Together>,
}

impl Layout {
    /// Fields are accessed together if so many accesses of the thread lie between them at most: `window`.
    pub fn new(structures: Structures, caches: Caches, window: u64, shown: Shown) -> Layout {
        Layout {
            caches,
            watch: Watch::new(&structures, window),
            window,
            structures,
            shown,
        }
    }
}

impl Analysis for Layout {
    type Shard = LayoutShard;

    fn order(&self) -> Order {
        match self.caches.any_shared() {
            true => Order::AcrossThreads,
            false => Order::PerStream,
        }
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> LayoutShard {
        self.start_part(Part::WHOLE)
    }

    fn most_parts(&self) -> u32 {
        self.caches.most_parts()
    }

    fn start_part(&self, part: Part) -> LayoutShard {
        LayoutShard {
            misses: MissesShard::new(&self.caches, part),
            together: part.is_first().then(|| self.watch.start()),
        }
    }

    fn take_program(&self, shard: &mut LayoutShard, program: &Program) {
        shard
            .misses
            .take_sites(program.sites.iter().map(|site| stores(site.kind)));
    }

    fn take_batch(&self, shard: &mut LayoutShard, batch: &Batch) {
        shard.misses.take(batch);
        if let Some(together) = &mut shard.together {
            self.watch.take(together, batch);
        }
    }

    fn merge(&self, into: &mut LayoutShard, from: LayoutShard) {
        into.misses.merge(&from.misses);
        match (&mut into.together, from.together) {
            (Some(into), Some(from)) => into.add(&from),
            (into @ None, from) => *into = from,
            (Some(_), None) => (),
        }
    }

    fn finish(&self, shard: LayoutShard, trace: &Trace) -> Findings {
        self.findings(&shard, trace)
    }
}

impl Layout {
    fn findings(&self, shard: &LayoutShard, trace: &Trace) -> Findings {
        let nothing = self.watch.start();
        let together = shard.together.as_ref().unwrap_or(&nothing);
        self.findings_of(trace, &shard.misses.counters(), &together.pairs)
    }

    /// `counters` by site, `pairs` by structure.
    fn findings_of(&self, trace: &Trace, counters: &[SiteCounters], pairs: &[Pairs]) -> Findings {
        let weights = weights::weigh(trace.program(), &self.structures, counters);
        tables::Presentation {
            structures: &self.structures,
            weights: &weights,
            pairs,
            caches: &self.caches,
            window: self.window,
            shown: &self.shown,
        }
        .findings(trace.program(), counters)
    }
}
