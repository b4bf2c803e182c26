//! Reuse distances of cache lines, and the miss ratios of LRU caches of all sizes.

mod curve;
mod group_moments;
mod groups;
mod histogram;
mod moments;
mod octaves;
mod owners;
mod packed;
mod references;
mod sampling;
mod shard;
mod stack;
mod tables;
mod timeline;

pub use shard::ReuseShard;

use std::sync::Arc;

use trackway_trace::{Batch, Program, Trace};

use crate::model::blocks::Origins;
use crate::model::moments::MomentBins;
use crate::{Analysis, Findings, Order};

/// Which lines' distances are measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sampling {
    /// This share of the lines, more than 0 and at most 1.
    Rate(f64),
    /// As many lines as keep the sample below this number.
    Lines(usize),
}

/// What tables have rows for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReuseGrouping {
    Field,
    Variable,
    /// Allocation site of the memory that is accessed.
    Allocation,
}

/// Measures how many different lines are referenced between two references to the same line.
#[derive(Debug, Clone)]
pub struct Reuse {
    /// A power of two.
    pub line_bytes: u32,
    /// Whether all threads are taken in one order, as if they shared a cache, instead of each by itself.
    pub merged: bool,
    /// None: all lines.
    pub sampling: Option<Sampling>,
    pub groupings: Vec<ReuseGrouping>,
    /// What divides allocation sites.
    pub origins: Arc<Origins>,
    /// Rows of the tables of groups.
    pub top: usize,
    /// Whether curves have all bins, and there is one for each group. Otherwise they have a row for each power of two.
    pub fine: bool,
    /// Distances, also those of fields, are counted by thread and these bins of time, too, each thread by itself.
    pub moments: Option<MomentBins>,
}

/// A reference whose distance is known.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reference {
    /// None: cold.
    distance: Option<u64>,
    /// References for which it stands.
    weight: f64,
    /// Which part of the sample it belongs to.
    part: usize,
}

impl Analysis for Reuse {
    type Shard = ReuseShard;

    fn order(&self) -> Order {
        Order::across_threads_if(self.merged)
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn follows_blocks(&self) -> bool {
        self.groupings.contains(&ReuseGrouping::Allocation)
    }

    fn start_shard(&self) -> ReuseShard {
        ReuseShard::new(self)
    }

    fn take_program(&self, shard: &mut ReuseShard, program: &Program) {
        shard.take_program(program);
        if self.groupings.contains(&ReuseGrouping::Field) {
            shard.follow_fields(program);
        }
    }

    fn take_batch(&self, shard: &mut ReuseShard, batch: &Batch) {
        shard.take(batch);
    }

    fn merge(&self, into: &mut ReuseShard, from: ReuseShard) {
        into.merge(from);
    }

    fn finish(&self, shard: ReuseShard, trace: &Trace) -> Findings {
        tables::findings(self, &shard, trace)
    }
}
