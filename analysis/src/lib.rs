//! Analyses of decoded traces.
//!
//! An [`Analysis`] takes batches of accesses and finishes into tables; [`run`] feeds one, or several at once, from a
//! trace, on all cores. `docs/analyses.md` defines every number, and says how to write an analysis.

pub mod activity;
pub mod allocations;
mod analysis;
mod apart;
pub mod blocks;
pub mod branches;
pub mod cache;
pub mod calls;
pub mod drcachesim;
mod engine;
pub mod layout;
mod live;
pub mod map;
pub mod memory;
pub mod misses;
pub mod moments;
mod names;
pub mod objects;
pub mod offenders;
mod order_audit;
pub mod overflow;
pub mod partial;
pub mod patterns;
pub mod placement;
pub mod regions;
pub mod reuse;
pub mod samples;
mod share_out;
pub mod sharing;
pub mod slices;
pub mod sources;
pub mod structures;
mod team;
pub mod whatif;

pub use analysis::{Analysis, Findings, Order, Part};
pub use apart::Apart;
pub use engine::{run, Progress, RunSummary, Watch};
pub use live::{run_live, LiveChunk, LiveRun};
pub use names::{written_in, Names, UNKNOWN};
pub use share_out::share_out;
