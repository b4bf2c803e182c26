//! The table of accesses, decoded chunk by chunk.

mod columns;
mod reading;
mod rows;
mod wanted;

pub use columns::schema;
pub use reading::AccessScan;
