//! A picture of addresses by time, from a table of cells.

mod colours;
mod picture;
mod png;
mod svg;
mod text;

pub use picture::{HeatMap, HeatRow};
