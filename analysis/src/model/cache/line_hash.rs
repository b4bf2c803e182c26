//! Hashing of line numbers.

use std::hash::{BuildHasherDefault, Hasher};

/// For maps whose keys are line numbers. A multiplication replaces the default hash, which resists attacks that
/// addresses of a trace don't make.
pub(crate) type LineHash = BuildHasherDefault<LineHasher>;

/// 2^64 divided by the golden ratio, odd.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    #[inline(always)]
    fn write_u64(&mut self, number: u64) {
        // The upper bits of the product depend on all of the number; maps look at the lower ones, too.
        let product = (self.0 ^ number).wrapping_mul(MULTIPLIER);
        self.0 = product ^ (product >> 32);
    }

    #[inline(always)]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }
}
