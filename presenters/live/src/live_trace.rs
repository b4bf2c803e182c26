//! What is known of a trace, and the decoding of its chunks.

use std::path::Path;

use trackway_trace::chunk::HEADER_LENGTH;
use trackway_trace::{Batch, ChunkHeader, ChunkKind, ChunkRef, Decoder, GrowingTrace, Trace};
use xxhash_rust::xxh3::xxh3_64;

use crate::LiveError;

/// A chunk and where it stands in the trace's file.
#[derive(Debug, Clone, Copy)]
pub struct PlacedChunk<'c> {
    /// Offset of its header, bytes.
    pub position: u64,
    /// Header and stored payload.
    pub bytes: &'c [u8],
}

/// The definitions of a trace whose chunks come one by one.
pub struct LiveTrace {
    name: String,
    growing: GrowingTrace,
}

impl LiveTrace {
    /// `name` stands for the trace in messages.
    pub fn new(name: &str) -> LiveTrace {
        LiveTrace {
            name: name.to_owned(),
            growing: GrowingTrace::new(Path::new(name)),
        }
    }

    /// Offset past the last chunk that was taken or passed over: all definitions before it are known.
    pub fn position(&self) -> u64 {
        self.growing.position()
    }

    /// Takes the next definition: any chunk that holds no records or similar data. One that was taken before changes
    /// nothing.
    pub fn define(&mut self, chunk: PlacedChunk) -> Result<(), LiveError> {
        if chunk.position < self.position() {
            return Ok(());
        }
        let header = self.check(chunk)?;
        self.growing.go_to(chunk.position);
        let damaged = self.growing.trace().damage().len();
        self.growing.push(&header, chunk.bytes);
        match self.growing.trace().damage().get(damaged) {
            Some(damage) => Err(LiveError::Trace(damage.error.to_string())),
            None => Ok(()),
        }
    }

    /// Declares that up to `position` there are no definitions but those that were taken.
    pub fn pass_over(&mut self, position: u64) {
        self.growing.go_to(position);
    }

    /// What is known so far.
    pub fn trace(&self) -> &Trace {
        self.growing.trace()
    }

    /// Decodes the records among the chunks, with runs, batch by batch.
    pub(crate) fn decode(
        &self,
        chunks: &[PlacedChunk],
        mut take: impl FnMut(&Batch),
    ) -> Result<(), LiveError> {
        let mut decoder = Decoder::new(self.trace()).with_runs();
        for chunk in chunks {
            if chunk.position > self.position() {
                return Err(LiveError::Undefined {
                    trace: self.name.clone(),
                    position: chunk.position,
                    known: self.position(),
                });
            }
            let header = self.check(*chunk)?;
            if header.kind != ChunkKind::Records {
                continue;
            }
            let place = ChunkRef {
                header,
                offset: chunk.position,
            };
            let mut batches = decoder.decode_stored(&place, &chunk.bytes[HEADER_LENGTH..])?;
            while let Some(batch) = batches.next_batch()? {
                take(batch);
            }
        }
        Ok(())
    }

    /// The header of a chunk, whose payload isn't looked at.
    pub(crate) fn header(&self, chunk: PlacedChunk) -> Result<ChunkHeader, LiveError> {
        let header = chunk
            .bytes
            .first_chunk::<HEADER_LENGTH>()
            .ok_or_else(|| self.damaged(chunk, "it is shorter than a header"))?;
        ChunkHeader::from_bytes(header).map_err(|_| self.damaged(chunk, "its header is wrong"))
    }

    fn damaged(&self, chunk: PlacedChunk, what: &'static str) -> LiveError {
        LiveError::Damaged {
            trace: self.name.clone(),
            position: chunk.position,
            what,
        }
    }

    fn check(&self, chunk: PlacedChunk) -> Result<ChunkHeader, LiveError> {
        let damaged = |what| self.damaged(chunk, what);
        let header = self.header(chunk)?;
        let stored = &chunk.bytes[HEADER_LENGTH..];
        if stored.len() != header.stored_length as usize {
            return Err(damaged("it has another length than it says"));
        }
        match xxh3_64(stored) == header.payload_checksum {
            true => Ok(header),
            false => Err(damaged("its checksum is wrong")),
        }
    }
}
