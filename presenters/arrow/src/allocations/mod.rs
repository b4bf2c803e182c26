//! The table of what allocators did: as the program recorded it among its accesses, and as calls were recorded.

mod calls;
mod recorded;
mod rows;
mod scan;

pub use rows::columns;
pub use scan::AllocationScan;
