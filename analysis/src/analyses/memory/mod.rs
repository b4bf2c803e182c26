//! Memory over time: what was allocated, how long it lived, and what was done with it.

mod curve;
mod moments;
mod shard;
mod site_totals;
mod tables;

use std::sync::Arc;

use trackway_trace::{Batch, Trace};

use crate::model::blocks::{local_sites, Origins};
use crate::model::moments::{ChunkTimes, TimeBins};
use crate::{Analysis, Findings, Order};
use shard::MemoryShard;

/// By default, blocks that are released before this many accesses are short-lived.
pub const DEFAULT_SHORT_LIFE: u64 = 1000;
/// Parts into which time is divided.
pub const DEFAULT_BINS: usize = 256;

/// Follows all blocks from allocation to release.
pub struct Memory<'t> {
    trace: &'t Trace,
    times: &'t ChunkTimes,
    bins: TimeBins,
    short_life: u64,
    top: usize,
    /// Allocations are also counted by thread and these bins of time.
    moments: Option<TimeBins>,
    /// Whether each site goes by way of a local variable.
    local: Vec<bool>,
    origins: Arc<Origins>,
}

impl<'t> Memory<'t> {
    /// Tables of sites have the `top` rows. Blocks that live for less than `short_life` accesses are short-lived.
    pub fn new(
        trace: &'t Trace,
        times: &'t ChunkTimes,
        origins: Arc<Origins>,
        short_life: u64,
        top: usize,
    ) -> Self {
        let (first_ns, last_ns) = times.range_ns();
        Memory {
            trace,
            times,
            bins: TimeBins::new(first_ns, last_ns, DEFAULT_BINS),
            short_life,
            top,
            moments: None,
            local: local_sites(trace.program()),
            origins,
        }
    }

    /// Also counts allocations by thread and these bins of time.
    #[must_use]
    pub fn with_moments(self, moments: Option<TimeBins>) -> Self {
        Memory { moments, ..self }
    }
}

impl Analysis for Memory<'_> {
    type Shard = MemoryShard;

    /// One stream is in order by itself.
    fn order(&self) -> Order {
        match self.trace.streams().len() {
            0 | 1 => Order::PerStream,
            _ => Order::AcrossThreads,
        }
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn start_shard(&self) -> MemoryShard {
        let bins = (self.bins, self.moments);
        MemoryShard::new(self.trace, bins, self.short_life, self.origins.count())
    }

    fn take_batch(&self, shard: &mut MemoryShard, batch: &Batch) {
        let slice = self.trace.slice();
        shard.take(self.times, &self.local, &self.origins, slice, batch);
    }

    /// All accesses are in one shard; the other has none.
    fn merge(&self, into: &mut MemoryShard, from: MemoryShard) {
        if into.is_empty() {
            *into = from;
        }
    }

    fn finish(&self, mut shard: MemoryShard, _: &Trace) -> Findings {
        shard.finish();
        tables::findings(self, &shard)
    }
}
