//! Traces of other tools: [`import`] makes a Trackway trace of what DynamoRIO's drmemtrace recorded, [`export`] writes
//! what other tools read. [`perf_data`] makes a trace of samples of what `perf record` left.
//!
//! The code of such a trace is machine code (`docs/format.md`, lists 13 and 14): [`blocks`] makes basic blocks of the
//! sequence of instructions and references, [`drmemtrace`] reads that sequence.

pub mod blocks;
pub mod drmemtrace;
mod error;
pub mod export;
mod import;
pub mod perf_data;
mod places;
mod streams;

pub use error::ImportError;
pub use import::{import, ImportOptions, ImportSummary, ThreadSummary};
pub use perf_data::{import_perf_data, is_perf_data, PerfSummary};
