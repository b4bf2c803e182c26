//! What feeds analyses: from whole traces, from programs that run, and on several machines.

mod analysis;
mod live;
pub(crate) mod order_audit;
pub mod partial;
mod run;
mod separate_findings;
mod share_out;
mod side_by_side;
mod team;

pub use analysis::{Analysis, Findings, Order, WorkPart};
pub use live::{run_live, LiveChunk, LiveRun};
pub(crate) use run::{decoder_for, feed, start_shard, take_merged};
pub use run::{run, run_unfinished, Observer, RunSummary};
pub use separate_findings::SeparateFindings;
pub use share_out::{both, each, share_out};
pub use side_by_side::SideBySide;
