//! The model of caches and TLBs. `docs/analyses.md` defines what it counts.

mod associative;
mod check;
mod classes;
mod coherence;
mod description;
mod entry;
mod evict;
mod fetch;
mod geometry;
mod hierarchy;
mod line_changes;
mod line_hash;
mod prefetch;
mod replacement;
mod short_form;
mod simulator;
mod store;
mod tlb;
mod toml_form;
mod totals;

pub use check::CachesError;
pub use description::{
    CacheLevel, Caches, Inclusion, Policy, Prefetch, Prefetcher, TlbLevel, WritePolicy, DEFAULT_CORES,
    DEFAULT_PAGE_BYTES, MAX_LEVELS, MAX_TLB_LEVELS,
};
pub use geometry::{parse_size, CacheGeometry};
pub(crate) use hierarchy::Hierarchy;
pub use line_changes::LineChanges;
pub(crate) use line_hash::LineHash;
pub(crate) use simulator::{with_form, Form};
pub use simulator::{Access, Simulator};
pub(crate) use store::LineStore;
pub use totals::{LevelTotals, MissClass, Outcome, TlbTotals, Totals, Traffic, MISS_CLASSES};
