//! Perf events: which ones to open on a machine, opening them, and the buffers of their records.

pub mod attributes;
pub mod opening;
mod processors;
pub mod ring;

pub use opening::{Events, Rate, Target};
