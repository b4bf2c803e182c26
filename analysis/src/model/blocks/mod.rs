//! The memory to which an access goes: a live block, a static variable, a stack. `docs/verbs/blocks.md` defines each.

mod allocation_names;
mod heap;
mod index;
mod lanes;
mod nesting;
mod origins;
mod places;
mod processes;
mod spots;
mod stacks;
mod statics;
mod thread;
mod user_code;

pub(crate) use allocation_names::AllocationNames;
pub use heap::{Block, End, Heap, Inherit, Witness};
pub(crate) use index::BlockIndex;
pub use lanes::{parts_of_lanes, LaneRest};
pub use nesting::{Nested, Nesting};
pub(crate) use origins::OriginCursor;
pub use origins::Origins;
pub use places::{MemoryPlace, Places, Stretch};
pub use processes::{local_sites, Processes};
pub use spots::{Known, Spots};
pub(crate) use stacks::Stacks;
pub use statics::Statics;
pub use thread::Thread;

/// Pages by which blocks are found; an access that is in no block is known within its page only.
const PAGE_SHIFT: u32 = 12;
