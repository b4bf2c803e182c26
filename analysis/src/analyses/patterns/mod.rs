//! How accesses move through memory: patterns of sites, working sets, entropy.

mod entropy;
mod shard;
mod strides;
mod tables;
mod working_set;

pub use shard::PatternsShard;
pub use strides::Pattern;

use trackway_trace::{Batch, Program, Trace};

use crate::model::site_types::site_types;
use crate::{Analysis, Findings, Order};

/// Says of each site how its addresses move, and of the program how much memory it works on.
#[derive(Debug, Clone)]
pub struct Patterns {
    /// A power of two, at least 16.
    pub line_bytes: u32,
    /// Whether there is one working set of all threads in one order, instead of one for each thread.
    pub merged: bool,
    /// Rows of the table of sites.
    pub top: usize,
    /// Whether all windows of all threads are shown, instead of a few of the thread with the most accesses.
    pub fine: bool,
}

impl Analysis for Patterns {
    type Shard = PatternsShard;

    fn order(&self) -> Order {
        Order::across_threads_if(self.merged)
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> PatternsShard {
        PatternsShard::new(self)
    }

    fn take_program(&self, shard: &mut PatternsShard, program: &Program) {
        shard.take_program(site_types(program));
    }

    fn take_batch(&self, shard: &mut PatternsShard, batch: &Batch) {
        shard.take(batch);
    }

    fn merge(&self, into: &mut PatternsShard, from: PatternsShard) {
        into.merge(from);
    }

    fn finish(&self, shard: PatternsShard, trace: &Trace) -> Findings {
        tables::findings(self, &shard, trace)
    }
}
