//! Decisions drawn from bytes, so that a property test or a fuzzer that shrinks the bytes shrinks what they made.

/// A source of decisions; when its bytes are used up, every decision is the first choice.
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    /// A number below `limit`, which is at most 256.
    pub fn below(&mut self, limit: u32) -> u32 {
        u32::from(self.byte()) % limit.max(1)
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Mostly small numbers, sometimes any.
    pub fn number(&mut self) -> i64 {
        match self.below(4) {
            0..=1 => i64::from(self.byte() as i8),
            2 => i64::from(i32::from_le_bytes(self.bytes4())),
            _ => i64::from_le_bytes(self.bytes8()),
        }
    }

    fn bytes4(&mut self) -> [u8; 4] {
        std::array::from_fn(|_| self.byte())
    }

    fn bytes8(&mut self) -> [u8; 8] {
        std::array::from_fn(|_| self.byte())
    }
}
