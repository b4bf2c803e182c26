//! Reading the fields of a record in order.

/// Little-endian fields of bytes that may be too short.
pub struct Fields<'b> {
    bytes: &'b [u8],
}

impl<'b> Fields<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Fields { bytes }
    }

    pub fn bytes(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    pub fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes(2)?.try_into().ok()?))
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    /// Skips so many numbers of 64 bits.
    pub fn skip(&mut self, count: u64) -> Option<()> {
        let length = usize::try_from(count).ok()?.checked_mul(8)?;
        self.bytes(length).map(drop)
    }

    /// The remaining bytes up to the first zero.
    pub fn text(&mut self) -> String {
        let end = self.bytes.iter().position(|byte| *byte == 0);
        let text = &self.bytes[..end.unwrap_or(self.bytes.len())];
        String::from_utf8_lossy(text).into_owned()
    }
}
