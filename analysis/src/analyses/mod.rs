//! One folder for each analysis. `docs/analyses.md` defines what they find.

pub mod activity;
pub mod allocations;
pub mod branches;
pub mod calls;
pub mod coverage;
pub mod drcachesim;
pub mod edits;
pub mod huge_pages;
pub mod last;
pub mod layout;
pub mod map;
pub mod memory;
pub mod misses;
pub mod objects;
pub mod overflow;
pub mod patterns;
pub mod placement;
pub mod regions;
pub mod reuse;
pub mod samples;
pub mod served;
pub mod sharing;
pub mod slices;
pub mod whatif;
