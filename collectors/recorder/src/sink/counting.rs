//! How many accesses records make, while they are recorded.

use std::path::Path;

use trackway_trace::{Chunk, ChunkKind, ChunkRef, Decoder, GrowingTrace};

pub struct AccessCounter {
    /// What the records mean.
    growing: GrowingTrace,
}

/// What a chunk of records holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// When its thread took the buffer, and handed it over.
    pub first_ns: u64,
    pub last_ns: u64,
    pub accesses: u64,
}

impl Default for AccessCounter {
    fn default() -> Self {
        Self {
            growing: GrowingTrace::new(Path::new("the recording")),
        }
    }
}

impl AccessCounter {
    /// Takes what later records may need.
    pub fn define(&mut self, chunk: &Chunk) {
        self.growing.push(&chunk.header, &chunk.to_bytes());
    }

    /// What can't be decoded doesn't count.
    pub fn count(&self, chunk: &Chunk) -> u64 {
        let place = ChunkRef {
            header: chunk.header,
            offset: 0,
        };
        let mut decoder = Decoder::new(self.growing.trace()).with_runs();
        let Ok(mut batches) = decoder.decode_stored(&place, chunk.stored) else {
            return 0;
        };
        let mut accesses = 0_u64;
        while let Ok(Some(batch)) = batches.next_batch() {
            accesses = accesses.saturating_add(batch.access_count());
        }
        accesses
    }

    /// Counts the accesses of records, and takes all else as what they may need.
    pub fn take(&mut self, chunk: &Chunk) -> Counted {
        match chunk.header.kind {
            ChunkKind::Records => Counted {
                first_ns: chunk.header.first_ns,
                last_ns: chunk.header.last_ns,
                accesses: self.count(chunk),
            },
            ChunkKind::OracleRecords | ChunkKind::OracleSummary | ChunkKind::Gap => Counted::default(),
            _ => {
                self.define(chunk);
                Counted::default()
            }
        }
    }
}
