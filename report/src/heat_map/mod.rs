//! A picture of addresses by time, from a table of cells.

mod picture;
mod svg;
mod text;

pub use picture::{HeatMap, HeatRow};
