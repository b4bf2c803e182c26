//! What feeds analyses: from whole traces, from programs that run, and on several machines.

mod analysis;
mod apart;
mod live;
pub(crate) mod order_audit;
pub mod partial;
mod run;
mod share_out;
mod team;

pub use analysis::{Analysis, Findings, Order, Part};
pub use apart::Apart;
pub use live::{run_live, LiveChunk, LiveRun};
pub(crate) use run::{decoder_for, feed, start_shard, take_merged};
pub use run::{run, Progress, RunSummary, Watch};
pub use share_out::share_out;
