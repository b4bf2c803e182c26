//! Made-up modules and traces for tests, fuzzing and benchmarks.

pub mod choices;
pub mod counts;
pub mod file;
pub mod golden;
pub mod loops;
pub mod tables;
