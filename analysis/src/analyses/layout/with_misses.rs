//! Layouts and misses, of one simulation.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use trackway_trace::{Batch, Program, Trace};

use super::{Layout, LayoutShard, Shown};
use crate::analyses::misses::Misses;
use crate::engine::Observer;
use crate::model::cache::Caches;
use crate::model::site_counts::Grouping;
use crate::model::structures::Structures;
use crate::{Analysis, Findings, Order, WorkPart};

/// Finds what [`Layout`] and [`Misses`] find. The findings of the pass are those of [`Misses`].
pub struct LayoutAndMisses {
    layout: Layout,
    misses: Misses,
    of_layout: Mutex<Findings>,
}

impl LayoutAndMisses {
    /// Misses have a table for each of `groupings`, with the `top` rows by the measure of `shown`.
    pub fn new(
        structures: Structures,
        caches: Caches,
        window: u64,
        shown: Shown,
        (groupings, top): (Vec<Grouping>, usize),
    ) -> LayoutAndMisses {
        LayoutAndMisses {
            misses: Misses::new(caches.clone(), groupings, shown.rank_by, top),
            layout: Layout::new(structures, caches, window, shown),
            of_layout: Mutex::default(),
        }
    }

    /// Looks for source files below this folder, too.
    pub fn with_sources_below(self, root: Option<&Path>) -> LayoutAndMisses {
        LayoutAndMisses {
            misses: self.misses.with_sources_below(root),
            ..self
        }
    }

    /// Returns what the pass itself found about layouts: it simulates no proposal.
    pub fn into_untried_layout_findings(self) -> Findings {
        let findings = self.of_layout.into_inner();
        findings.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the findings about layouts after the pass. Simulates the proposals, if there are any.
    pub fn into_layout_findings(
        self,
        trace: &Trace,
        threads: NonZeroUsize,
        observer: &dyn Observer,
    ) -> Findings {
        match self.layout.has_proposals(trace) {
            true => self.layout.advise(trace, threads, observer),
            false => self.into_untried_layout_findings(),
        }
    }
}

impl Analysis for LayoutAndMisses {
    type Shard = LayoutShard;

    fn order(&self) -> Order {
        self.layout.order()
    }

    fn takes_runs(&self) -> bool {
        self.layout.takes_runs()
    }

    fn start_shard(&self) -> LayoutShard {
        self.layout.start_shard()
    }

    fn most_parts(&self) -> u32 {
        self.layout.most_parts()
    }

    fn start_part(&self, part: WorkPart) -> LayoutShard {
        self.layout.start_part(part)
    }

    fn take_program(&self, shard: &mut LayoutShard, program: &Program) {
        self.layout.take_program(shard, program);
    }

    fn take_batch(&self, shard: &mut LayoutShard, batch: &Batch) {
        self.layout.take_batch(shard, batch);
    }

    fn merge(&self, into: &mut LayoutShard, from: LayoutShard) {
        self.layout.merge(into, from);
    }

    fn finish(&self, shard: LayoutShard, trace: &Trace) -> Findings {
        let counters = shard.misses.counters();
        let found = self.layout.findings(counters, shard.together, trace);
        *self.of_layout.lock().unwrap_or_else(PoisonError::into_inner) = found;
        self.misses.finish(shard.misses, trace)
    }
}
