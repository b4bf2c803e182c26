//! Owners of the memory to which a program's time goes: samples of its accesses, joined with its calls of allocators.
//!
//! [`Objects::of`] replays calls of allocators by their times; each sample belongs to the block that was live at its
//! time in its process, else to a variable, a stack, a file or what else is mapped. `docs/verbs/objects.md` defines
//! the numbers.

mod call_chain;
mod estimate;
mod holdings;
mod intervals;
mod join;
mod owner;
mod picture;
mod places;
mod ranks;
mod spots;
mod tables;
mod totals;

pub use call_chain::ReturnPlace;
pub use estimate::Weight;
pub use owner::Owner;
pub use picture::{Picture, PictureView};
pub use totals::{Confidence, Objects, OwnerTotals, Spot};
