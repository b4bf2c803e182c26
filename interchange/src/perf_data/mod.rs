//! Files of `perf record`: samples with their addresses, weights and sources of data, and what processes had mapped.
//!
//! `tools/perf/Documentation/perf.data-file-format.txt` of the Linux sources describes the file; the records in it are
//! the kernel's ([`trackway_perf_records`]). What a processor wrote by itself (AUXTRACE) stands between them, and is left out.

mod convert;
mod events;
mod file;

pub use convert::{import_perf_data, PerfSummary};
pub use file::is_perf_data;

#[cfg(test)]
mod tests;
