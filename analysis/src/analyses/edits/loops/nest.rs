//! A nest of loops whose addresses all move by constants.

use trackway_trace::SiteId;

use super::LINE_BYTES;

/// Loops of a nest, at most.
pub(super) const DEPTH: usize = 3;

/// Loops within each other. Number 0 is the innermost.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Nest {
    /// Iterations of each loop; 1 for one that isn't there.
    pub counts: [u64; DEPTH],
    /// In their order: those of outer loops come before the loop inside.
    pub accesses: Vec<NestAccess>,
}

/// An access of a nest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NestAccess {
    pub site: SiteId,
    pub length: u64,
    /// Where the first iteration accesses memory.
    pub address: u64,
    /// By how much the address moves from iteration to iteration of each loop.
    pub strides: [i64; DEPTH],
    /// The innermost loop that it stands in.
    pub level: usize,
}

impl NestAccess {
    /// The address in those iterations of the loops.
    #[inline]
    pub fn address_in(&self, iterations: &[u64; DEPTH]) -> u64 {
        let moved = self.strides.iter().zip(iterations);
        moved.fold(self.address, |address, (stride, iteration)| {
            address.wrapping_add((*stride as u64).wrapping_mul(*iteration))
        })
    }

    /// Bytes that an iteration of the loop needs beyond those of the iteration before.
    pub fn step(&self, number: usize) -> u64 {
        self.strides[number].unsigned_abs().min(LINE_BYTES)
    }
}

impl Nest {
    /// All iterations of the innermost loop together.
    pub fn iterations(&self) -> u64 {
        self.counts
            .iter()
            .fold(1, |all, count| all.saturating_mul(*count))
    }

    /// Whether there are loops to interchange.
    pub fn is_deep(&self) -> bool {
        self.counts[1] > 1
    }

    /// Accesses of the innermost loop to another line each time.
    pub fn far(&self) -> impl Iterator<Item = &NestAccess> {
        let far = |access: &&NestAccess| access.strides[0].unsigned_abs() >= LINE_BYTES;
        self.accesses.iter().filter(far)
    }

    /// Bytes that an iteration of the loop needs beyond those of the iteration before.
    pub fn step(&self, number: usize) -> u64 {
        self.accesses.iter().map(|access| access.step(number)).sum()
    }

    /// The most bytes by which an access moves from iteration to iteration of the loop.
    pub fn longest_step(&self, number: usize) -> u64 {
        let steps = self
            .accesses
            .iter()
            .map(|access| access.strides[number].unsigned_abs());
        steps.max().unwrap_or_default()
    }
}
