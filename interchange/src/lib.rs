//! Traces of other tools: [`import`] makes a Trackway trace of what DynamoRIO's drmemtrace recorded, [`export`] writes
//! what other tools read. [`perf_data`] and [`perf_script`] make traces of samples of
//! what `perf record` left, and of what `perf script` prints of it.
//!
//! The code of such a trace is machine code (`docs/format.md`, lists 13 and 14): [`blocks`] makes basic blocks of the
//! sequence of instructions and references, [`drmemtrace`] reads that sequence.

pub mod blocks;
pub mod drmemtrace;
mod error;
pub mod export;
mod import;
pub mod perf_data;
pub mod perf_script;
mod places;
mod streams;

pub use error::ImportError;
pub use import::{import, ImportOptions, ImportSummary, ThreadSummary};
pub use perf_data::{import_perf_data, is_perf_data, PerfSummary};
pub use perf_script::{import_perf_script, is_perf_script};
