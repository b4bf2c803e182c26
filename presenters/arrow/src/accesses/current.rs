//! What is decoded: a queue of chunks, one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use self_cell::self_cell;
use trackway_trace::{ChunkDecoder, ChunkRef, Decoder, Stream, TraceError};

use crate::{Partition, Selection, TraceTables};

self_cell! {
    /// A decoder and what it decodes.
    pub struct Decoding {
        owner: Arc<TraceTables>,
        #[not_covariant]
        dependent: ChunkDecoder,
    }
}

impl Decoding {
    /// Decodes every access on its own.
    pub fn accesses(tables: Arc<TraceTables>) -> Self {
        Decoding::new(tables, |tables| ChunkDecoder::new(Decoder::new(tables.trace())))
    }

    /// Decodes even loops into runs.
    pub fn runs(tables: Arc<TraceTables>) -> Self {
        Decoding::new(tables, |tables| {
            ChunkDecoder::new(Decoder::new(tables.trace()).with_runs())
        })
    }
}

/// Stream and index in it of a part's chunks.
pub fn queue(partition: &Partition, selection: &Selection) -> VecDeque<(u32, usize)> {
    let ranges = partition.chunks.iter();
    let wanted = ranges.filter(|range| selection.keeps_thread(Some(range.stream)));
    let chunks = wanted.flat_map(|range| {
        let indices = range.first..range.first.saturating_add(range.count);
        indices.map(|index| (range.stream, index))
    });
    chunks.collect()
}

/// Begins to decode a chunk; none if the trace has no such chunk, as when the part belongs to another trace.
pub fn begin<'t>(
    decoding: &mut Decoding,
    tables: &'t TraceTables,
    stream: u32,
    index: usize,
) -> Result<Option<(&'t Stream, &'t ChunkRef)>, TraceError> {
    let Some(stream) = tables.trace().stream(stream) else {
        return Ok(None);
    };
    let Some(chunk) = stream.chunks.get(index) else {
        return Ok(None);
    };
    tables.note_decoding(chunk);
    decoding.with_dependent_mut(|_, decoder| decoder.begin(chunk))?;
    Ok(Some((stream, chunk)))
}
