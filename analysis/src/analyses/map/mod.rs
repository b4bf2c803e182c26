//! Addresses by time: what was accessed, or missed, or took time, when and by which thread.

mod count;
mod counting;
mod cycles;
mod grid;
mod measure;
mod misses;
mod owner_moments;
mod owners;
mod pyramid;
mod shard;
mod simulation;
mod site_owners;
mod tables;

use std::sync::Arc;

use trackway_trace::{Batch, Program, Trace};

use crate::model::blocks::{local_sites, Origins};
use crate::model::cache::Caches;
use crate::model::moments::{ChunkTimes, TimeBins};
use crate::model::site_counts::Measure;
use crate::model::time::Machine;
use crate::{Analysis, Findings, Order};
pub use measure::MapMeasure;
use owners::OwnerNames;
pub use owners::{Owner, OwnerKind};
pub use pyramid::{Cell, Level};
use shard::MapShard;

/// Rows of addresses that are told apart. There are more if each owner and thread needs one.
pub const DEFAULT_ROWS: usize = 4096;
/// Parts into which time is divided.
pub const DEFAULT_BINS: usize = 512;

/// Cells of all levels are more than anybody can look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finest {
    Level(u32),
    /// The finest level with at most this many cells.
    Cells(usize),
}

/// What is to be seen of a trace, and how finely.
#[derive(Debug, Clone)]
pub struct View {
    pub measure: Measure,
    /// Simulated if the measure is of misses.
    pub caches: Caches,
    /// The machine for which cycles are estimated, if they are the measure.
    pub machine: Option<Arc<Machine>>,
    /// The first and the last time, CLOCK_MONOTONIC nanoseconds.
    pub from_ns: u64,
    pub to_ns: u64,
    /// The first and the last address.
    pub addresses: (u64, u64),
    /// Shows only owners with this name, or at this place, if given.
    pub owner: Option<String>,
    pub rows: usize,
    pub bins: usize,
    /// The finest level whose cells are listed.
    pub finest: Finest,
    /// Rows of the table of owners.
    pub top: usize,
}

/// Counts accesses, bytes, misses or cycles by address and time.
pub struct Map<'t> {
    trace: &'t Trace,
    times: &'t ChunkTimes,
    view: View,
    measure: Measure,
    bins: TimeBins,
    names: OwnerNames<'t>,
    origins: Arc<Origins>,
    /// Whether each site writes, and whether it goes by way of a local variable.
    writes: Vec<bool>,
    local: Vec<bool>,
    with_sites: bool,
    /// Owners are also counted by thread and these bins of time, which are as wide as one of the map's or wider.
    moments: Option<TimeBins>,
}

impl<'t> Map<'t> {
    pub fn new(trace: &'t Trace, times: &'t ChunkTimes, origins: Arc<Origins>, view: View) -> Self {
        let sites = &trace.program().sites;
        Map {
            trace,
            times,
            measure: view.measure,
            bins: TimeBins::new(view.from_ns, view.to_ns, view.bins),
            view,
            names: OwnerNames::new(trace, Arc::clone(&origins)),
            origins,
            writes: sites.iter().map(|site| site.kind.writes()).collect(),
            local: local_sites(trace.program()),
            with_sites: false,
            moments: None,
        }
    }

    /// Also says whose memory each site accesses, if accesses are counted.
    #[must_use]
    pub fn with_sites(self) -> Self {
        Map {
            with_sites: self.measure == Measure::Accesses,
            ..self
        }
    }

    /// Also counts what is accessed of owners, and by which site, by thread and these bins of time.
    #[must_use]
    pub fn with_moments(self, moments: Option<TimeBins>) -> Self {
        Map { moments, ..self }
    }

    /// The bin of a moment for a bin of the map; 0 if moments aren't told apart.
    fn moment_bin(&self, bin: usize) -> u32 {
        let start_ns = self.bins.start_ns(bin, 0);
        self.moments.map_or(0, |moments| moments.nearest(start_ns) as u32)
    }

    fn shows(&self, kind: OwnerKind) -> bool {
        let word = self.view.owner.as_ref();
        word.is_none_or(|word| self.names.answers_to(kind, word))
    }
}

impl Analysis for Map<'_> {
    type Shard = MapShard;

    /// One stream is in order by itself.
    fn order(&self) -> Order {
        match self.trace.streams().len() {
            0 | 1 => Order::PerStream,
            _ => Order::AcrossThreads,
        }
    }

    /// Each access must be simulated in its turn.
    fn takes_runs(&self) -> bool {
        !matches!(self.measure, Measure::Misses(_) | Measure::Cycles)
    }

    fn take_program(&self, shard: &mut MapShard, program: &Program) {
        shard.take_program(program);
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn start_shard(&self) -> MapShard {
        MapShard::new(self)
    }

    fn take_batch(&self, shard: &mut MapShard, batch: &Batch) {
        shard.take(self, batch);
    }

    /// All accesses are in one shard; the other has none.
    fn merge(&self, into: &mut MapShard, from: MapShard) {
        if into.is_empty() {
            *into = from;
        }
    }

    fn finish(&self, shard: MapShard, _: &Trace) -> Findings {
        tables::findings(self, &shard)
    }
}
