//! Reading untrusted bytes in order.

use super::TableError;

/// A position in bytes that never leaves them. Every failure says where it stands.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

type Result<T> = std::result::Result<T, TableError>;

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, position: 0 }
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    pub(crate) fn error<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(TableError {
            position: self.position as u64,
            what: what.into(),
        })
    }

    pub(crate) fn take(&mut self, length: u64, what: &str) -> Result<&'a [u8]> {
        if length > self.remaining() as u64 {
            return self.error(format!(
                "{what} of {length} bytes, where {} are left",
                self.remaining()
            ));
        }
        let start = self.position;
        self.position += length as usize;
        Ok(&self.bytes[start..self.position])
    }

    #[inline]
    pub(crate) fn u8(&mut self, what: &str) -> Result<u8> {
        match self.bytes.get(self.position) {
            Some(byte) => {
                self.position += 1;
                Ok(*byte)
            }
            None => Ok(self.take(1, what)?[0]),
        }
    }

    pub(crate) fn u16(&mut self, what: &str) -> Result<u16> {
        Ok(crate::bytes::u16_at(self.take(2, what)?, 0))
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32> {
        Ok(crate::bytes::u32_at(self.take(4, what)?, 0))
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64> {
        Ok(crate::bytes::u64_at(self.take(8, what)?, 0))
    }

    /// Unsigned LEB128 of at most 10 bytes and 64 bits.
    #[inline]
    pub(crate) fn varint(&mut self, what: &str) -> Result<u64> {
        // Most numbers of a table have one byte.
        match self.bytes.get(self.position) {
            Some(byte) if byte & 0x80 == 0 => {
                self.position += 1;
                Ok(u64::from(*byte))
            }
            _ => self.longer_varint(what),
        }
    }

    #[inline(never)]
    fn longer_varint(&mut self, what: &str) -> Result<u64> {
        let start = self.position;
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(what)?;
            value |= u64::from(byte & 0x7f) << shift;
            let overflows = shift == 63 && byte > 1;
            if overflows {
                break;
            }
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        self.position = start;
        self.error(format!("{what} exceeds 64 bits"))
    }

    pub(crate) fn svarint(&mut self, what: &str) -> Result<i64> {
        let zigzag = self.varint(what)?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// A varint that a `u32` holds.
    #[inline]
    pub(crate) fn number(&mut self, what: &str) -> Result<u32> {
        let start = self.position;
        let value = self.varint(what)?;
        self.in_u32(value, start, what)
    }

    /// A varint below `count`.
    #[inline]
    pub(crate) fn below(&mut self, count: usize, what: &str) -> Result<u32> {
        let start = self.position;
        let value = self.varint(what)?;
        if value >= count as u64 {
            self.position = start;
            return self.error(format!("{what} {value}, where there are {count}"));
        }
        self.in_u32(value, start, what)
    }

    /// The length of a list whose entries have at least `entry_length` bytes: never more than the bytes can hold.
    pub(crate) fn count(&mut self, entry_length: usize, what: &str) -> Result<usize> {
        let start = self.position;
        let count = self.varint(what)?;
        if count > (self.remaining() / entry_length) as u64 || count > u64::from(u32::MAX) {
            self.position = start;
            return self.error(format!("{count} {what}, more than the table has room for"));
        }
        Ok(count as usize)
    }

    fn in_u32(&mut self, value: u64, start: usize, what: &str) -> Result<u32> {
        u32::try_from(value).or_else(|_| {
            self.position = start;
            self.error(format!("{what} {value} exceeds 32 bits"))
        })
    }
}
