//! The cache model: levels of set-associative LRU caches. `docs/analyses.md` defines what it counts.

mod geometry;
mod hierarchy;
mod level;
mod line_changes;

pub use geometry::{parse_size, CacheGeometry, Caches, CachesError, MAX_LEVELS};
pub use hierarchy::Hierarchy;
pub use line_changes::LineChanges;
