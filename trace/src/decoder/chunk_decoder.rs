//! A decoder that its owner keeps while a chunk is only partly decoded.

use super::Suspended;
use crate::{Batch, ChunkRef, Decoder, TraceError};

/// Decodes chunks batch by batch, without a borrow that lasts as long as a chunk: for iterators and streams.
pub struct ChunkDecoder<'t> {
    decoder: Decoder<'t>,
    /// What is left of the present chunk.
    rest: Option<Suspended>,
}

impl<'t> ChunkDecoder<'t> {
    /// Decodes as `decoder` does.
    pub fn new(decoder: Decoder<'t>) -> Self {
        ChunkDecoder { decoder, rest: None }
    }

    /// Begins with a chunk of records, and forgets what is left of the one before.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn begin(&mut self, chunk: &ChunkRef) -> Result<(), TraceError> {
        self.rest = None;
        self.rest = Some(self.decoder.decode(chunk)?.suspend());
        Ok(())
    }

    /// The next batch of the present chunk; none at its end.
    ///
    /// # Errors
    /// As [`crate::Batches::next_batch`]; the chunk has ended then.
    pub fn next_batch(&mut self) -> Result<Option<&Batch>, TraceError> {
        let Some(rest) = self.rest.take() else {
            return Ok(None);
        };
        let mut batches = self.decoder.resume(rest);
        if batches.next_batch()?.is_none() {
            return Ok(None);
        }
        self.rest = Some(batches.suspend());
        Ok(Some(self.decoder.last_batch()))
    }
}
