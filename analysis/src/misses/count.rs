//! Counts accesses, bytes and misses of every site.

use std::ops::AddAssign;

use trackway_trace::{Batch, Program, Trace};

use super::{answer, audit, tables, Grouping, Measure};
use crate::cache::{Caches, Hierarchy, MAX_LEVELS};
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
        self.accesses += other.accesses;
        self.bytes = self.bytes.saturating_add(other.bytes);
        for (misses, more) in self.misses.iter_mut().zip(other.misses) {
            *misses += more;
        }
    }
}

/// One thread's caches, and the counters of what it did.
pub struct MissesShard {
    hierarchy: Hierarchy,
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
            hierarchy: Hierarchy::new(&self.caches),
            counters: vec![SiteCounters::default(); self.sites],
        }
    }

    fn take_batch(&self, shard: &mut MissesShard, batch: &Batch) {
        let MissesShard { hierarchy, counters } = shard;
        let columns = batch.site.iter().zip(&batch.address).zip(&batch.size);
        for (index, ((site, &address), &size)) in columns.enumerate() {
            let length = if size == u32::MAX {
                batch.length(index)
            } else {
                size.into()
            };
            if site.index() >= counters.len() {
                make_room(counters, site.index());
            }
            let counters = &mut counters[site.index()];
            counters.accesses += 1;
            counters.bytes = counters.bytes.saturating_add(length);
            hierarchy.access(address, length, &mut counters.misses);
        }
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
        tables.push(audit::cache_table(&self.caches, &shard.counters));
        tables.push(audit::attribution_table(program, &shard.counters));
        Findings {
            answer: Some(answer::answer(&ranking)),
            tables,
        }
    }
}

/// In a live run, modules are loaded after the shard has started.
#[cold]
fn make_room(counters: &mut Vec<SiteCounters>, index: usize) {
    counters.resize(index + 1, SiteCounters::default());
}
