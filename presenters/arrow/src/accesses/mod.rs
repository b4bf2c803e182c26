//! The table of accesses, decoded chunk by chunk.

mod columns;
mod counting;
mod current;
mod reading;
mod rows;
mod tally;
mod wanted;

pub use columns::{counts_schema, is_of_sites, schema, schema_with_served, AccessColumn};
pub use counting::CountScan;
pub use reading::AccessScan;
pub use rows::of_sites;
