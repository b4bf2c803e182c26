//! Numbers without a pattern, the same in each run.

/// xorshift64 (G. Marsaglia, Xorshift RNGs, 2003).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub fn new() -> Chance {
        Chance::with_seed(0x9E37_79B9_7F4A_7C15)
    }

    /// `seed`: any number but 0.
    pub fn with_seed(seed: u64) -> Chance {
        debug_assert_ne!(seed, 0);
        Chance(seed)
    }

    #[inline(always)]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From 0 up to the number before `count`.
    #[inline(always)]
    pub fn below(&mut self, count: usize) -> usize {
        (((self.next() >> 32) * count as u64) >> 32) as usize
    }

    /// From 0 up to 1, which it never is.
    pub fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
