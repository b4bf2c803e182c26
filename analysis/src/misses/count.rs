//! Counts accesses, bytes and misses of every site.

use std::ops::{AddAssign, Range};

use trackway_trace::{Batch, Lane, Piece, Program, SiteId, Trace};

use super::{answer, audit, tables, Grouping, Measure};
use crate::cache::{Caches, Hierarchy, LineChanges, MAX_LEVELS};
use crate::{Analysis, Findings, Order};

/// Simulates the caches of each thread and attributes their misses.
#[derive(Debug, Clone)]
pub struct Misses {
    sites: usize,
    caches: Caches,
    groupings: Vec<Grouping>,
    rank_by: Measure,
    top: usize,
}

/// What the accesses of a site, or of a group of sites, come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteCounters {
    pub accesses: u64,
    pub bytes: u64,
    /// Lines that were missed in each level.
    pub misses: [u64; MAX_LEVELS],
}

impl AddAssign<&SiteCounters> for SiteCounters {
    fn add_assign(&mut self, other: &SiteCounters) {
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.bytes = self.bytes.saturating_add(other.bytes);
        for (misses, more) in self.misses.iter_mut().zip(other.misses) {
            *misses += more;
        }
    }
}

/// One thread's caches, and the counters of what it did.
pub struct MissesShard {
    /// None if only accesses are counted.
    hierarchy: Option<(Hierarchy, LineChanges)>,
    counters: Vec<SiteCounters>,
}

impl Misses {
    /// One table for each of `groupings`, with the `top` rows by `rank_by`.
    pub fn new(
        program: &Program,
        caches: Caches,
        groupings: Vec<Grouping>,
        rank_by: Measure,
        top: usize,
    ) -> Misses {
        Misses {
            sites: program.sites.len(),
            caches,
            groupings,
            rank_by,
            top,
        }
    }
}

impl Analysis for Misses {
    type Shard = MissesShard;

    fn order(&self) -> Order {
        Order::PerStream
    }

    fn start_shard(&self) -> MissesShard {
        MissesShard {
            hierarchy: Hierarchy::new(&self.caches).zip(self.caches.line_changes()),
            counters: vec![SiteCounters::default(); self.sites],
        }
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn take_batch(&self, shard: &mut MissesShard, batch: &Batch) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function needs.
            return unsafe { shard.take_with_avx2(batch) };
        }
        shard.take(batch);
    }

    fn merge(&self, into: &mut MissesShard, from: MissesShard) {
        if into.counters.len() < from.counters.len() {
            into.counters.resize(from.counters.len(), SiteCounters::default());
        }
        for (counters, more) in into.counters.iter_mut().zip(&from.counters) {
            *counters += more;
        }
    }

    fn finish(&self, shard: MissesShard, trace: &Trace) -> Findings {
        let program = trace.program();
        let ranking = tables::Ranking {
            program,
            counters: &shard.counters,
            caches: &self.caches,
            rank_by: self.rank_by,
            top: self.top,
            working_directory: trace.meta().working_directory.as_ref(),
        };
        let mut tables: Vec<_> = self
            .groupings
            .iter()
            .map(|&grouping| ranking.table(grouping))
            .collect();
        if !self.caches.levels().is_empty() {
            tables.push(audit::cache_table(&self.caches, &shard.counters));
        }
        tables.push(audit::attribution_table(program, &shard.counters));
        Findings {
            answer: Some(answer::answer(&ranking)),
            tables,
        }
    }
}

impl MissesShard {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn take_with_avx2(&mut self, batch: &Batch) {
        self.take(batch);
    }

    #[inline(always)]
    fn take(&mut self, batch: &Batch) {
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => self.take_accesses(batch, range),
                Piece::Run(run) => self.take_run(batch.lanes(run), run.count),
            }
        }
    }

    #[inline(always)]
    fn take_accesses(&mut self, batch: &Batch, range: Range<usize>) {
        let MissesShard { hierarchy, counters } = self;
        let first = range.start;
        let columns = batch.site[range.clone()]
            .iter()
            .zip(&batch.address[range.clone()]);
        for (index, ((site, &address), &size)) in columns.zip(&batch.size[range]).enumerate() {
            let length = match size {
                u32::MAX => batch.length(first + index),
                size => size.into(),
            };
            let counters = counters_of(counters, *site);
            counters.accesses += 1;
            counters.bytes = counters.bytes.saturating_add(length);
            if let Some((hierarchy, _)) = hierarchy {
                hierarchy.access(address, length, &mut counters.misses);
            }
        }
    }

    /// Counts a run as a whole; of the caches only those iterations that change something in them.
    #[inline(always)]
    fn take_run(&mut self, lanes: &[Lane], count: u64) {
        for lane in lanes {
            let counters = counters_of(&mut self.counters, lane.site);
            counters.accesses = counters.accesses.saturating_add(count);
            let bytes = count.saturating_mul(lane.size.into());
            counters.bytes = counters.bytes.saturating_add(bytes);
        }
        let Some((hierarchy, changes)) = &mut self.hierarchy else {
            return;
        };
        changes.begin(lanes, count);
        while let Some(iteration) = changes.next(lanes) {
            for lane in lanes {
                let address = lane.address.wrapping_add(lane.stride.wrapping_mul(iteration));
                let misses = &mut self.counters[lane.site.index()].misses;
                hierarchy.access(address, lane.size.into(), misses);
            }
        }
    }
}

#[inline(always)]
fn counters_of(counters: &mut Vec<SiteCounters>, site: SiteId) -> &mut SiteCounters {
    if site.index() >= counters.len() {
        make_room(counters, site.index());
    }
    &mut counters[site.index()]
}

/// In a live run, modules are loaded after the shard has started.
#[cold]
fn make_room(counters: &mut Vec<SiteCounters>, index: usize) {
    counters.resize(index + 1, SiteCounters::default());
}
