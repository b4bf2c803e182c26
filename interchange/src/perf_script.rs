//! What `perf script` prints of samples, with whatever fields it was asked for that say which access a sample is of.
//!
//! A sample begins with a line such as `prog 40/41 [001] 12.345678: 1000 mem-loads: 7f00 68100142 |OP LOAD|... 45`, and
//! goes on with the instruction, its symbol and its object, on that line or with those of its callers on the next ones.

mod convert;
mod line;

pub use convert::{import_perf_script, is_perf_script};

#[cfg(test)]
mod tests;
