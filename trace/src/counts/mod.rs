//! Traces of programs that count (`docs/format.md`, section 6): code in blocks, and what each thread counted.

mod callees;
mod head;
mod modules;
mod nodes;
mod steps;

pub use callees::{Callee, CalleeCounters};
pub use head::{
    NodeCounts, COUNTED_ENTRY, HARDWARE_EVENTS, INHERITED, NANOSECONDS, NODE_HEAD_LENGTH, WHOLE_PROGRAM,
};
pub use nodes::{CountingThread, Node, NodePlace, Origin};
pub use steps::{StepCosts, StepKind};

use crate::table::{Amount, Count, InstructionMix};
use crate::{FunctionId, LocationId, SiteId, StringId};

/// A stretch of code, in a module that counts, that is executed as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    pub function: FunctionId,
    /// Location of its first instruction that has one.
    pub location: LocationId,
    /// How often it was executed, as a sum of the module's counters.
    pub executions: Count,
    /// What each execution consists of.
    pub mix: InstructionMix,
    pub accesses: Vec<BlockAccess>,
    /// Linkage names of the functions that it calls and that its module doesn't define; empty: an indirect call.
    pub calls: Vec<StringId>,
}

/// What a block accesses at a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockAccess {
    pub site: SiteId,
    pub amount: Amount,
}
