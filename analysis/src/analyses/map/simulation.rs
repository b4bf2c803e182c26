//! The caches whose misses are counted.

use crate::model::cache::{Access, Accounts, Caches, Missed};

/// Caches, and of which level the misses count.
pub(super) struct Simulation {
    pub accounts: Accounts,
    pub line_bytes: u64,
    pub level: usize,
    /// Accesses to be simulated together. Empty in between.
    pub accesses: Vec<Access>,
    /// What these missed. Empty in between.
    pub missed: Vec<Missed>,
}

impl Simulation {
    /// None if there is nothing to simulate.
    pub fn new(caches: &Caches, level: usize) -> Option<Simulation> {
        Some(Simulation {
            accounts: Accounts::new(caches)?,
            line_bytes: caches.levels().first()?.geometry.line_bytes.into(),
            level,
            accesses: Vec::new(),
            missed: Vec::new(),
        })
    }
}
