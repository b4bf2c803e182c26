//! How exact the merged order is.

use serde::{Deserialize, Serialize};

/// Longest times between two neighbouring points of a stream, by which [`Exactness::within`] counts.
pub const INTERVALS_NS: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// What is known of a merged order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exactness {
    /// Accesses that were merged.
    pub accesses: u64,
    /// Places in streams whose time was stamped, without the borders of chunks.
    pub order_points: u64,
    /// Points that bear an earlier time than the one before them in their stream. Then the clock isn't the same
    /// everywhere, or the trace is wrong.
    pub backward_points: u64,
    /// For each of [`INTERVALS_NS`], the accesses between two points of their stream that are at most so far apart.
    /// Their time is known that exactly.
    pub within: [u64; INTERVALS_NS.len()],
}

impl Exactness {
    /// Adds accesses between two points that lie so far apart.
    pub(super) fn add(&mut self, accesses: u64, interval_ns: u64) {
        self.accesses += accesses;
        for (within, limit) in self.within.iter_mut().zip(INTERVALS_NS) {
            if interval_ns <= limit {
                *within += accesses;
            }
        }
    }
}
