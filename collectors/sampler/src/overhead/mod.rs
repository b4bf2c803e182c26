//! What sampling costs, and how much it may cost.

mod budget;
mod cpu_time;

pub use budget::Budget;
pub use cpu_time::cpu_time;
