//! The branches that a program executed, as far as its trace records them, and the calls that led to an allocation.

mod event;
mod machine;
mod recorded;
mod unresolved;

pub use event::{BranchEvent, BranchKind, BranchSource};
pub use machine::{MachineBranches, MachineFlow};
pub use recorded::{Caller, RecordedBranches, RecordedFlow};
pub use unresolved::Unresolved;
