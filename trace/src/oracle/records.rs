//! The oracle's dump: its accesses one by one.

use super::OracleAccess;
use crate::bytes::{u16_at, u32_at, u64_at};
use crate::{ChunkRef, Stream, Trace, TraceError};

const RECORD_LENGTH: usize = 32;

impl OracleAccess {
    pub fn to_bytes(&self) -> [u8; RECORD_LENGTH] {
        let mut bytes = [0; RECORD_LENGTH];
        bytes[0..8].copy_from_slice(&self.function.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.ordinal.to_le_bytes());
        bytes[12] = self.part;
        bytes[13] = self.kind;
        bytes[16..24].copy_from_slice(&self.address.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.size.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        OracleAccess {
            function: u64_at(bytes, 0),
            ordinal: u32_at(bytes, 8),
            part: bytes[12],
            kind: bytes[13],
            address: u64_at(bytes, 16),
            size: u64_at(bytes, 24),
        }
    }
}

/// The oracle's accesses of one stream, in order.
pub struct OracleRecords<'t> {
    trace: &'t Trace,
    chunks: std::slice::Iter<'t, ChunkRef>,
    payload: Vec<u8>,
    position: usize,
    /// Value of the last access.
    value: Vec<u64>,
    /// Whether the payload ends at the first entry that is all zero.
    tail: bool,
}

impl<'t> OracleRecords<'t> {
    pub fn new(trace: &'t Trace, stream: &'t Stream) -> Self {
        OracleRecords {
            trace,
            chunks: stream.oracle_chunks.iter(),
            payload: Vec::new(),
            position: 0,
            value: Vec::new(),
            tail: false,
        }
    }

    /// What the access that came last loaded or stored, from the lowest word on; empty if that was not recorded.
    pub fn value(&self) -> &[u64] {
        &self.value
    }

    /// The next access; none after the last.
    pub fn next_access(&mut self) -> Result<Option<OracleAccess>, TraceError> {
        self.value.clear();
        loop {
            let Some(entry) = self.next_entry()? else {
                return Ok(None);
            };
            if self.tail && entry == [0; RECORD_LENGTH] {
                self.position = self.payload.len();
                continue;
            }
            self.read_value(usize::from(u16_at(&entry, 14)))?;
            return Ok(Some(OracleAccess::from_bytes(&entry)));
        }
    }

    /// The entries after the access's own; what a swept payload has lost of them is 0.
    fn read_value(&mut self, words: usize) -> Result<(), TraceError> {
        while self.value.len() < words {
            let entry = self.next_entry()?.unwrap_or([0; RECORD_LENGTH]);
            self.value
                .extend(entry.chunks_exact(8).map(|word| u64_at(word, 0)));
        }
        self.value.truncate(words);
        Ok(())
    }

    fn next_entry(&mut self) -> Result<Option<[u8; RECORD_LENGTH]>, TraceError> {
        loop {
            let rest = self.payload.get(self.position..).unwrap_or(&[]);
            if let Some(entry) = rest.first_chunk() {
                self.position += RECORD_LENGTH;
                return Ok(Some(*entry));
            }
            let Some(chunk) = self.chunks.next() else {
                self.payload.clear();
                return Ok(None);
            };
            self.position = 0;
            self.tail = chunk.header.is_tail();
            self.trace.read_payload(chunk, &mut self.payload)?;
            self.complete_last_entry();
        }
    }

    /// A swept payload may have lost the zero bytes at its end.
    fn complete_last_entry(&mut self) {
        let length = self.payload.len();
        match self.tail {
            true => self.payload.resize(length.next_multiple_of(RECORD_LENGTH), 0),
            false => self.payload.truncate(length / RECORD_LENGTH * RECORD_LENGTH),
        }
    }
}
