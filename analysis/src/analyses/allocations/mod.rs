//! Totals of the memory that allocators were asked for. Follows blocks from call to call, by the places of the calls.
//!
//! [`Replay`] follows what each process holds, [`CallSites`] names the frames of stacks, [`Allocations`] sums up.

mod blocks;
mod call_sites;
mod replay;
mod tables;
mod totals;

pub use blocks::Block;
pub use call_sites::{CallSites, Frame};
pub use replay::{Contradiction, Fate, Replay, ReplayStep};
pub use tables::Ranking;
pub use totals::{Allocations, SiteTotals};
