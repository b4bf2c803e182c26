//! Partial aggregates of chunks that come one by one, wherever they are decoded: what a cluster adds up while a program
//! runs.
//!
//! A [`LiveTrace`] takes the definitions of a trace in their order, and chunks of records in any order. What it makes of
//! chunks are Arrow batches that may be added up with those of other chunks: [`LiveTrace::counts`],
//! [`LiveTrace::touches`], [`LiveTrace::details`]; or be joined, those of a stream in their order:
//! [`LiveTrace::layouts`]. Or they are single accesses: [`LiveTrace::rows`].

mod columns;
mod counts;
mod error;
mod layouts;
mod live_trace;
mod naming;
mod rows;
mod touches;

pub use counts::counts_schema;
pub use error::LiveError;
pub use layouts::{layouts_schema, AffinityWindow};
pub use live_trace::{LiveTrace, PlacedChunk};
pub use naming::By;
pub use rows::rows_schema;
pub use touches::{details_schema, touches_schema, Granule, SharedGranules};
