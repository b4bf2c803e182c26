//! Which variables, fields, types, lines and functions access memory and miss the caches.

mod answer;
mod audit;
mod count;
pub(crate) mod group;
mod levels;
mod measure;
mod shard;
mod source;
mod tables;

pub use count::{Misses, SiteCounters};
pub use group::Grouping;
pub use measure::Measure;
pub use source::SourceFiles;
