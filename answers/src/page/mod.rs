//! What the page for the browser needs from a trace.

pub mod counts;
mod look;
mod moments;
mod passes;
pub mod samples;

pub use passes::{reports, Extent, Reports, Settings, CARDS, MOST_CELLS};
