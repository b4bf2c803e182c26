//! Totals of samples and calls of allocators, for each owner of memory.

use std::collections::{BTreeSet, HashMap};
use trackway_trace::named_enum;

use indexmap::IndexMap;
use trackway_trace::{AddressClass, SamplingInfo, TraceError};

use super::call_chain::ReturnPlace;
use super::estimate::{AllClusters, Clusters, Weight};
use super::owner::Owner;
use crate::analyses::samples::window_weights::WindowWeights;
use crate::model::moments::TimeBins;

/// What belongs to one owner.
#[derive(Clone, Debug, Default)]
pub struct OwnerTotals {
    pub allocations: u64,
    pub allocated_bytes: u64,
    pub live_bytes: u64,
    /// Most bytes that were live at a time.
    pub peak_bytes: u64,
    /// Samples whose own access goes there.
    pub weight: Weight,
    /// Weight of the samples that caches are known not to have answered, or of which that is unknown.
    pub weight_beyond_caches: u64,
    pub loads: u64,
    pub stores: u64,
    /// Accesses of windows that go there.
    pub clusters: Clusters,
    pub window_loads: u64,
    pub window_stores: u64,
    /// Window accesses whose addresses depend on nothing that was read later.
    pub window_sure: u64,
    /// Pairs of accesses that one instruction makes there in one window. The near ones lie within a cache line's length
    /// of each other.
    pub window_pairs: u64,
    pub window_near_pairs: u64,
    pub first_ns: Option<u64>,
    pub last_ns: u64,
    /// Weight by part of time.
    pub series: Vec<u64>,
    /// Weight by tenth of the time from the first sample to the last, which allows runs of unlike length to be
    /// compared.
    pub tenths: [u64; 10],
    /// Samples by the type of what they access.
    types: HashMap<String, u64>,
    /// Ways from the allocator's caller to the call site.
    pub chains: BTreeSet<Vec<ReturnPlace>>,
}

/// A sample, for a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Index of the owner.
    pub owner: u32,
    pub pid: u32,
    pub tid: u32,
    /// Address of the sample's own access; none if it has no access or the address isn't known.
    pub address: Option<u64>,
    pub time_ns: u64,
    pub stores: bool,
    /// What the sample stands for, in [`Objects::unit`].
    pub weight: u64,
}

/// What the samples of a trace say of its memory.
#[derive(Debug)]
pub struct Objects {
    pub owners: IndexMap<Owner, OwnerTotals>,
    /// Weight of all samples.
    pub weight: Weight,
    /// Accesses with known addresses in all windows.
    pub windows: AllClusters,
    /// How much windows count.
    pub window_weights: WindowWeights,
    pub unknown_window_accesses: u64,
    /// Weights of the samples by how their address is known.
    pub classes: HashMap<AddressClass, Weight>,
    pub lost: u64,
    /// Samples of events whose weights have another unit.
    pub left_out: u64,
    pub sampling: SamplingInfo,
    /// Unit of weights: `ns` where samples stand for time.
    pub unit: String,
    pub bins: TimeBins,
    pub spots: Vec<Spot>,
    /// Whether calls of allocators were recorded.
    pub knows_allocations: bool,
    pub damage: Vec<TraceError>,
    /// Beginning of the recording, in nanoseconds of the trace's clock.
    pub start_ns: u64,
}

impl OwnerTotals {
    pub fn obtained(&mut self, bytes: u64) {
        self.allocations += 1;
        self.allocated_bytes = self.allocated_bytes.saturating_add(bytes);
        self.live_bytes = self.live_bytes.saturating_add(bytes);
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
    }

    pub fn released(&mut self, bytes: u64) {
        self.live_bytes = self.live_bytes.saturating_sub(bytes);
    }

    pub fn seen_at(&mut self, time_ns: u64) {
        self.first_ns = Some(self.first_ns.map_or(time_ns, |first| first.min(time_ns)));
        self.last_ns = self.last_ns.max(time_ns);
    }

    pub fn count_type(&mut self, data_type: &str) {
        if !data_type.is_empty() {
            *self.types.entry(data_type.to_owned()).or_default() += 1;
        }
    }

    /// The type that most samples access; empty if none is known.
    pub fn data_type(&self) -> &str {
        let most = self
            .types
            .iter()
            .max_by_key(|(name, samples)| (**samples, std::cmp::Reverse(*name)));
        most.map_or("", |(name, _)| name)
    }

    /// The share of stores in the accesses of windows, or else of samples; none if neither is known.
    pub fn store_share(&self) -> Option<f64> {
        let share =
            |stores: u64, loads: u64| (stores + loads > 0).then(|| stores as f64 / (stores + loads) as f64);
        share(self.window_stores, self.window_loads).or_else(|| share(self.stores, self.loads))
    }

    /// The share of accesses that follow one of the same instruction at most 64 bytes away; none if no window shows it.
    pub fn streaming_share(&self) -> Option<f64> {
        (self.window_pairs > 0).then(|| self.window_near_pairs as f64 / self.window_pairs as f64)
    }
}

named_enum! {
    /// How far a share of accesses can be relied on.
    Confidence {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

/// A share from fewer windows means little.
const FEW_WINDOWS: u64 = 30;
const MANY_WINDOWS: u64 = 300;
/// Share of the accesses of all windows.
const MOST_UNKNOWN: f64 = 0.25;
const FEW_UNKNOWN: f64 = 0.05;
/// Share of the owner's own accesses.
const MOST_SURE: f64 = 0.9;

impl Objects {
    /// Confidence in the share of accesses. It is high if the owner is in at least 300 windows, 90 % of its addresses
    /// depend on registers alone, and at most 5 % of all are unknown. It is low if the owner is in fewer than 30
    /// windows, or over 25 % of all addresses are unknown.
    pub fn confidence(&self, totals: &OwnerTotals) -> Confidence {
        let all = self.windows.seen + self.unknown_window_accesses;
        let unknown = self.unknown_window_accesses as f64 / all.max(1) as f64;
        let sure = totals.window_sure as f64 / totals.clusters.seen.max(1) as f64;
        let windows = totals.clusters.windows;
        if windows < FEW_WINDOWS || unknown > MOST_UNKNOWN {
            Confidence::Low
        } else if windows >= MANY_WINDOWS && unknown <= FEW_UNKNOWN && sure >= MOST_SURE {
            Confidence::High
        } else {
            Confidence::Medium
        }
    }

    /// Whether weights are time.
    pub fn weighs_time(&self) -> bool {
        self.unit == "ns"
    }
}
