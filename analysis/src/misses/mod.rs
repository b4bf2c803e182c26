//! Which variables, fields, types, lines and functions access memory and miss the caches.

mod answer;
pub(crate) mod audit;
pub(crate) mod count;
pub(crate) mod group;
mod levels;
mod measure;
pub(crate) mod packed;
mod part;
mod plain;
pub(crate) mod shard;
mod site_names;
mod sites;
mod tables;

pub use count::{Misses, SiteCounters};
pub use group::Grouping;
pub use measure::Measure;
pub(crate) use shard::address_space;
pub use site_names::SiteNames;
