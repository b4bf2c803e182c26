//! The model of caches and TLBs. `docs/verbs/cache-model.md` defines what it counts.

mod accounts;
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
mod pages;
mod plain;
mod plain_sets;
mod prefetch;
mod regions;
mod replacement;
mod short_form;
mod simulator;
mod stays;
mod store;
mod streams;
mod strides;
mod tlb;
mod toml_form;
mod totals;

pub(crate) use accounts::{Accounts, Missed};
pub use check::CachesError;
pub use description::{
    CacheLevel, Caches, Inclusion, Policy, Prefetch, Prefetcher, TlbLevel, WritePolicy, DEFAULT_CORES,
    DEFAULT_PAGE_BYTES, MAX_LEVELS, MAX_TLB_LEVELS,
};
pub use geometry::{parse_size, CacheGeometry};
pub use line_changes::LineChanges;
pub(crate) use line_hash::LineHash;
pub use pages::{HugeRegions, HUGE_PAGE_BYTES};
pub(crate) use pages::{Page, Pages};
pub(crate) use plain::PlainLevels;
pub(crate) use simulator::{with_form, Form, Simulation};
pub use simulator::{Access, Simulator};
pub use totals::{LevelTotals, MissClass, Outcome, TlbTotals, Totals, Traffic, MISS_CLASSES};
