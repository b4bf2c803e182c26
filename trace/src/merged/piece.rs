//! What stands between two neighbouring points of a chunk.

use super::points::Point;

/// The part of a chunk between two neighbouring points. Its accesses and marks keep the stream's order, and took place
/// between two times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: Point,
    pub(super) to: Point,
}

impl Piece {
    pub(super) fn new(from: Point, to: Point) -> Piece {
        Piece { from, to }
    }

    pub(super) fn accesses(&self) -> u64 {
        self.to.access - self.from.access
    }

    pub(super) fn duration_ns(&self) -> u64 {
        self.to.time_ns - self.from.time_ns
    }

    /// The time of the access if the piece's accesses are evenly spread; at most the piece's end.
    pub(super) fn time_of(&self, access: u64) -> u64 {
        let done = access - self.from.access;
        let passed = match self.accesses() {
            0 => 0,
            all => u128::from(self.duration_ns()) * u128::from(done) / u128::from(all),
        };
        self.from.time_ns + passed as u64
    }

    /// The first access whose time is later; the piece's end if there is none.
    pub(super) fn first_after(&self, time_ns: u64) -> u64 {
        if time_ns >= self.to.time_ns {
            return self.to.access;
        }
        let passed = u128::from(time_ns.saturating_sub(self.from.time_ns)) + 1;
        let accesses = passed * u128::from(self.accesses());
        self.from.access + accesses.div_ceil(u128::from(self.duration_ns())) as u64
    }
}
