//! What several analyses share: models of the machine, of memory, of structures, of time, and of the program's code.

pub mod blocks;
pub mod cache;
pub(crate) mod chance;
pub mod control_flow;
pub(crate) mod fetch_ahead;
pub mod moments;
mod names;
pub(crate) mod page_index;
pub(crate) mod site_cells;
pub mod site_counts;
pub(crate) mod site_types;
pub mod sources;
pub mod structures;
pub mod time;

pub(crate) use names::{demangle, named, path_inside};
pub use names::{written_in, Names, UNKNOWN};
