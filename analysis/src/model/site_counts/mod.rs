//! Counts of each site's accesses, bytes and misses, and what sites have in common.

mod audit;
mod bursts;
mod cold_starts;
mod columns;
mod counters;
pub(crate) mod group;
mod measure;
pub(crate) mod packed;
mod part;
mod plain;
mod shard;
mod site_names;

pub(crate) use audit::attribution_table;
pub use bursts::{Bursts, Estimates, Interval};
pub(crate) use counters::stores;
pub use counters::SiteCounters;
pub use group::Grouping;
pub use measure::Measure;
pub(crate) use packed::PackedMisses;
pub(crate) use shard::address_space;
pub use shard::MissesShard;
pub use site_names::SiteNames;
