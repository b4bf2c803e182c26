//! Counts accesses, bytes and misses of every site.

use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trackway_trace::{AccessKind, Batch, Program, Trace};

use super::levels::Levels;
use super::shard::MissesShard;
use super::{answer, audit, tables, Grouping, Measure};
use crate::cache::{Caches, Outcome};
use crate::{Analysis, Findings, Order, Part};

/// Simulates the caches of threads and attributes their misses. If a level is shared, all threads' accesses are simulated in
/// one order; else each thread for itself.
#[derive(Debug, Clone)]
pub struct Misses {
    caches: Caches,
    groupings: Vec<Grouping>,
    rank_by: Measure,
    top: usize,
    source_root: Option<PathBuf>,
}

/// What the accesses of a site, or of a group of sites, come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCounters {
    pub accesses: u64,
    pub bytes: u64,
    pub outcome: Outcome,
}

impl AddAssign<&SiteCounters> for SiteCounters {
    fn add_assign(&mut self, other: &SiteCounters) {
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.outcome += &other.outcome;
    }
}

impl SiteCounters {
    /// What all of them come to.
    pub fn sum<'c>(counters: impl IntoIterator<Item = &'c SiteCounters>) -> SiteCounters {
        let mut sum = SiteCounters::default();
        counters.into_iter().for_each(|counters| sum += counters);
        sum
    }
}

impl Misses {
    /// One table for each of `groupings`, with the `top` rows by `rank_by`.
    pub fn new(caches: Caches, groupings: Vec<Grouping>, rank_by: Measure, top: usize) -> Misses {
        Misses {
            caches,
            groupings,
            rank_by,
            top,
            source_root: None,
        }
    }

    /// Looks for source files below this folder, too.
    pub fn with_sources_below(self, root: Option<&Path>) -> Misses {
        Misses {
            source_root: root.map(Path::to_owned),
            ..self
        }
    }

    pub(crate) fn source_root(&self) -> Option<&Path> {
        self.source_root.as_deref()
    }

    pub fn rank_by(&self) -> Measure {
        self.rank_by
    }

    pub(super) fn caches(&self) -> &Caches {
        &self.caches
    }
}

impl Analysis for Misses {
    type Shard = MissesShard;

    fn order(&self) -> Order {
        match self.caches.any_shared() {
            true => Order::AcrossThreads,
            false => Order::PerStream,
        }
    }

    fn start_shard(&self) -> MissesShard {
        MissesShard::new(&self.caches, Part::WHOLE)
    }

    fn most_parts(&self) -> u32 {
        self.caches.most_parts()
    }

    fn start_part(&self, part: Part) -> MissesShard {
        MissesShard::new(&self.caches, part)
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn take_program(&self, shard: &mut MissesShard, program: &Program) {
        shard.take_sites(program.sites.iter().map(|site| stores(site.kind)));
    }

    fn take_batch(&self, shard: &mut MissesShard, batch: &Batch) {
        shard.take(batch);
    }

    fn merge(&self, into: &mut MissesShard, from: MissesShard) {
        into.merge(&from);
    }

    fn finish(&self, shard: MissesShard, trace: &Trace) -> Findings {
        let program = trace.program();
        let counters = shard.counters();
        let ranking = tables::Ranking {
            program,
            counters: &counters,
            threads: shard.threads(),
            caches: &self.caches,
            rank_by: self.rank_by,
            top: self.top,
            working_directory: trace.meta().working_directory.as_ref(),
            source_root: self.source_root(),
        };
        let mut tables: Vec<_> = self
            .groupings
            .iter()
            .map(|&grouping| ranking.table(grouping))
            .collect();
        let levels = Levels {
            caches: &self.caches,
            totals: &shard.totals(),
            counters: &ranking.total(),
        };
        tables.extend(levels.tables());
        tables.push(audit::attribution_table(program, &counters));
        Findings {
            answer: Some(answer::answer(&ranking)),
            tables,
        }
    }
}

/// Whether an access of this kind writes, perhaps besides reading.
pub(crate) fn stores(kind: AccessKind) -> bool {
    match kind {
        AccessKind::Load | AccessKind::AtomicLoad | AccessKind::CopyRead => false,
        AccessKind::Store
        | AccessKind::AtomicStore
        | AccessKind::AtomicReadModifyWrite
        | AccessKind::AtomicCompareExchange
        | AccessKind::CopyWrite
        | AccessKind::Fill => true,
    }
}
