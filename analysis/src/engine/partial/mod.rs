//! Analyses whose work is divided between processes: on the machines of a cluster, or one after the other.
//!
//! [`plan`] divides the work into [`Task`]s. Each process runs some of them ([`run_task`]) and returns a [`Partial`].
//! The bytes of a partial result ([`Partial::to_bytes`]) may travel, and be merged in any order, in a tree. [`finish`]
//! turns the merged result into what [`crate::run`] would have found. If the order of accesses matters only within
//! cache lines, tasks also *sift*: they deal the accesses out by line to parts ([`Partitioned`]). For each part, one
//! process takes the accesses in their order ([`LinesRun`]).
//!
//! Both ways use the same shards, so that what is found doesn't depend on how the work was divided.

mod block;
mod bytes;
mod error;
mod lines_run;
mod plan;
mod sieve;
mod task;

pub use bytes::{PackedSummary, Partial};
pub use error::PartialError;
pub use lines_run::{LinesRun, Partitioned};
pub use plan::{plan, Plan, Task};
pub use task::{finish, run_task};

use serde::de::DeserializeOwned;
use serde::Serialize;
use trackway_trace::Program;

use crate::{Analysis, WorkPart};

/// How the work of an analysis may be divided. Without either, a task is a whole stream or, where all threads' order
/// matters, the whole trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Division {
    /// What is found in any range of chunks by itself.
    pub ranges: Option<Ranges>,
    /// What needs the order of the accesses to each line only.
    pub lines: Option<LineDivision>,
}

/// Work on ranges of the chunks of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranges {
    /// Accesses of the stream before the range that must be known, at least.
    pub lead_in: u64,
}

/// Work on parts of the address space, which lines of memory are dealt out to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineDivision {
    /// Logarithm of a line's bytes.
    pub shift: u32,
    /// How many parts there may be, a power of two, at least 2. A line's part is its number modulo theirs.
    pub most_parts: u32,
    /// Whether the times of accesses matter.
    pub times: bool,
}

/// An analysis whose shards can be written down.
pub trait Portable: Analysis {
    /// What a shard has found, without what it needs for further batches.
    type Packed: Serialize + DeserializeOwned;

    fn division(&self) -> Division;

    /// A shard for what ranges of chunks find by themselves, if the division has any.
    fn start_range(&self) -> Self::Shard;

    /// Ends the lead-in of a range: forgets what was counted, and keeps what was learned.
    fn end_lead_in(&self, shard: &mut Self::Shard) {
        let _ = shard;
    }

    /// A shard for one of at least two parts of the lines, without what ranges find.
    fn start_lines(&self, part: WorkPart) -> Self::Shard;

    fn pack(&self, shard: Self::Shard) -> Self::Packed;

    /// A shard that can be merged and finished. The packed shard must not be trusted, as it may come from anywhere.
    fn unpack(&self, packed: Self::Packed, program: &Program) -> Result<Self::Shard, PartialError>;
}
