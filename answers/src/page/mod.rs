//! What the page for the browser needs from a trace.

pub mod counts;
mod look;
mod moments;
mod passes;
mod plan;
pub mod samples;

pub use passes::{reports, Reports, Settings, CARDS};
pub use plan::{Extent, MOST_CELLS};
