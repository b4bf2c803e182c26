//! Analyses of decoded traces.
//!
//! An [`Analysis`] takes batches of accesses and finishes into tables; [`run`] feeds one, or several at once, from a
//! trace, on all cores. `docs/analyses.md` defines every number, and says how to write an analysis.

mod analysis;
pub mod cache;
mod engine;
pub mod layout;
mod live;
pub mod misses;
mod names;
mod order_audit;
mod share_out;
pub mod sharing;
pub mod structures;
pub mod whatif;

pub use analysis::{Analysis, Findings, Order};
pub use engine::{run, Progress, RunSummary};
pub use live::{run_live, LiveChunk, LiveRun};
pub use names::{written_in, Names, UNKNOWN};
pub use share_out::share_out;
