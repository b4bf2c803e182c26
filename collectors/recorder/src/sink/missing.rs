//! What the trace lacks after its sink failed, and the chunks that say so.

use std::collections::{BTreeMap, HashMap};

use trackway_trace::{Chunk, ChunkEncoder, ChunkFields, ChunkHeader, ChunkKind, GapReason, TraceError};

#[derive(Default)]
pub struct Missing {
    /// Gap chunks of each stream in the trace.
    gaps: HashMap<u32, u64>,
    lost: BTreeMap<u32, LostStream>,
    unencoded: u64,
    /// Chunks without records that came after the failure, and their stored payloads.
    held: Vec<(ChunkHeader, Vec<u8>)>,
}

#[derive(Default)]
struct LostStream {
    process: u32,
    buffers: u64,
    last_ns: u64,
}

impl Missing {
    pub fn note_written(&mut self, header: &ChunkHeader) {
        if header.kind == ChunkKind::Gap {
            *self.gaps.entry(header.stream).or_default() += 1;
        }
    }

    pub fn note_unencoded(&mut self) {
        self.unencoded += 1;
    }

    pub fn note_lost(&mut self, chunk: &Chunk) {
        let header = chunk.header;
        if !matches!(header.kind, ChunkKind::Records | ChunkKind::OracleRecords) {
            self.held.push((header, chunk.stored.to_vec()));
            return;
        }
        let stream = self.lost.entry(header.stream).or_default();
        stream.process = header.process;
        stream.buffers += 1;
        stream.last_ns = header.last_ns;
    }

    /// Buffers whose records are lost.
    pub fn buffers(&self) -> u64 {
        self.unencoded + self.lost.values().map(|stream| stream.buffers).sum::<u64>()
    }

    /// A gap for each stream that lost records, then what came later.
    pub fn chunks(&mut self, encoder: &mut ChunkEncoder) -> Result<Vec<(ChunkHeader, Vec<u8>)>, TraceError> {
        let mut chunks = Vec::new();
        for (&stream, lost) in &self.lost {
            let fields = ChunkFields {
                process: lost.process,
                stream,
                sequence: self.gaps.get(&stream).copied().unwrap_or(0),
                last_ns: lost.last_ns,
                ..ChunkFields::new(ChunkKind::Gap)
            };
            let payload = [
                lost.buffers.to_le_bytes(),
                u64::from(GapReason::WriteFailed).to_le_bytes(),
            ];
            let payload = payload.concat();
            let chunk = encoder.encode(&fields, &payload)?;
            chunks.push((chunk.header, chunk.stored.to_vec()));
        }
        for (mut header, stored) in std::mem::take(&mut self.held) {
            if header.kind == ChunkKind::Gap && self.lost.contains_key(&header.stream) {
                header.sequence += 1; // it follows the gap above
            }
            chunks.push((header, stored));
        }
        Ok(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::{plain_chunk, Codec};

    fn chunk(kind: ChunkKind, stream: u32, sequence: u64) -> Chunk<'static> {
        let fields = ChunkFields {
            stream,
            sequence,
            ..ChunkFields::new(kind)
        };
        plain_chunk(&fields, &[0; 16]).unwrap()
    }

    #[test]
    fn gaps_are_numbered_behind_those_in_the_trace() {
        let mut missing = Missing::default();
        missing.note_written(&chunk(ChunkKind::Gap, 7, 0).header);
        for chunk in [
            chunk(ChunkKind::Records, 7, 4),
            chunk(ChunkKind::Records, 7, 5),
            chunk(ChunkKind::Process, 0, 1),
            chunk(ChunkKind::Gap, 7, 1),
            chunk(ChunkKind::Gap, 8, 0),
        ] {
            missing.note_lost(&chunk);
        }
        assert_eq!(missing.buffers(), 2);
        let mut encoder = ChunkEncoder::new(Codec::None).unwrap();
        let chunks = missing.chunks(&mut encoder).unwrap();
        let summary: Vec<_> = chunks
            .iter()
            .map(|(header, _)| (header.kind, header.stream, header.sequence))
            .collect();
        assert_eq!(
            summary,
            [
                (ChunkKind::Gap, 7, 1),
                (ChunkKind::Process, 0, 1),
                (ChunkKind::Gap, 7, 2),
                (ChunkKind::Gap, 8, 0),
            ]
        );
    }
}
