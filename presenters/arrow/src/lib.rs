//! A trace's tables as Arrow record batches.
//!
//! [`TraceTables`] is a trace with what its tables share; a [`Relation`] is one of the tables. A [`Scan`] reads the
//! rows of a [`Partition`] that a [`Selection`] asks for, batch by batch. Columns that aren't asked for are not built,
//! and chunks that can't hold a wanted row are not decoded. `docs/python.md` describes tables and columns.

mod accesses;
mod allocations;
mod cells;
mod functions;
mod partition;
mod regions;
mod relation;
mod samples;
mod scan;
mod selection;
mod sites;
mod tables;
mod threads;
mod types;

pub use cells::{described, MEANING, UNIT};
pub use partition::{partitions, ChunkRange, Partition};
pub use relation::Relation;
pub use scan::{Scan, BATCH_ROWS};
pub use selection::Selection;
pub use tables::TraceTables;
