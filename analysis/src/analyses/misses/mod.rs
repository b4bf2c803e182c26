//! Which variables, fields, types, lines and functions access memory and miss the caches.

mod answer;
mod bursts;
mod count;
mod details;
mod levels;
mod packed;
mod tables;
mod time;

pub use count::Misses;
pub use time::cycles_of_sites;
