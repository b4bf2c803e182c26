//! The records of threads, in chunks.

use trackway_trace::{ChunkFields, ChunkKind, TraceError, TraceWriter};

/// A chunk with at least so many bytes of records ends at the next time that is known.
const SHORT_CHUNK: usize = 1 << 16;
/// A chunk with at least so many bytes of records ends in any case.
const LONG_CHUNK: usize = 1 << 20;

/// What one thread's stream holds so far.
#[derive(Debug)]
pub struct StreamRecords {
    number: u32,
    process: u32,
    sequence: u64,
    payload: Vec<u8>,
    first_ns: u64,
    latest_ns: u64,
    /// Bytes of records, before compression.
    pub bytes: u64,
}

impl StreamRecords {
    pub fn new(number: u32, process: u32) -> Self {
        StreamRecords {
            number,
            process,
            sequence: 0,
            payload: Vec::new(),
            first_ns: 0,
            latest_ns: 0,
            bytes: 0,
        }
    }

    /// Notes that what follows happened at this time, or later.
    pub fn time(&mut self, ns: u64, writer: &mut TraceWriter) -> Result<(), TraceError> {
        self.latest_ns = self.latest_ns.max(ns);
        match self.payload.len() < SHORT_CHUNK {
            true => Ok(()),
            false => self.flush(writer),
        }
    }

    /// A segment and its roots.
    pub fn record(
        &mut self,
        segment: u32,
        roots: &[u64],
        writer: &mut TraceWriter,
    ) -> Result<(), TraceError> {
        if self.payload.is_empty() {
            self.first_ns = self.latest_ns;
        }
        self.payload.extend_from_slice(&(segment << 8).to_le_bytes());
        for root in roots {
            self.payload.extend_from_slice(&root.to_le_bytes());
        }
        match self.payload.len() < LONG_CHUNK {
            true => Ok(()),
            false => self.flush(writer),
        }
    }

    pub fn flush(&mut self, writer: &mut TraceWriter) -> Result<(), TraceError> {
        if self.payload.is_empty() {
            return Ok(());
        }
        let fields = ChunkFields {
            process: self.process,
            stream: self.number,
            sequence: self.sequence,
            first_ns: self.first_ns,
            last_ns: self.latest_ns,
            ..ChunkFields::new(ChunkKind::Records)
        };
        writer.write_chunk(&fields, &self.payload)?;
        self.sequence += 1;
        self.bytes += self.payload.len() as u64;
        self.payload.clear();
        Ok(())
    }
}
