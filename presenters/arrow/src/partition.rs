//! How the work on a table is divided.

use serde::{Deserialize, Serialize};
use trackway_trace::ChunkRef;

use crate::{Relation, Selection, TraceTables};

/// Neighbouring chunks of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkRange {
    /// Number of the stream.
    pub stream: u32,
    /// Index of the first chunk in the stream.
    pub first: usize,
    pub count: usize,
}

/// A part of the work on a table. Those of accesses are sets of chunks; other tables are one part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    pub chunks: Vec<ChunkRange>,
}

impl Partition {
    fn add(&mut self, stream: u32, index: usize) {
        match self.chunks.last_mut() {
            Some(range) if range.stream == stream && range.first + range.count == index => range.count += 1,
            _ => self.chunks.push(ChunkRange {
                stream,
                first: index,
                count: 1,
            }),
        }
    }

    /// Number of the chunks that are read for it.
    pub fn chunk_count(&self) -> usize {
        self.chunks.iter().map(|range| range.count).sum()
    }
}

/// Divides a table into parts of about the same work, at least one and at most `count`. Chunks that can hold no wanted
/// row by their thread and time are in no part.
pub fn partitions(
    tables: &TraceTables,
    relation: Relation,
    selection: &Selection,
    count: usize,
) -> Vec<Partition> {
    if !relation.is_of_accesses() {
        return vec![Partition::default()];
    }
    let wanted = wanted_chunks(tables, selection);
    let total: u64 = wanted.iter().map(|(_, _, chunk)| work(chunk)).sum();
    let count = count.clamp(1, wanted.len().max(1)) as u64;
    let mut partitions = vec![Partition::default()];
    let mut done = 0;
    for (stream, index, chunk) in wanted {
        let is_full = done * count >= total * partitions.len() as u64;
        if is_full && done > 0 {
            partitions.push(Partition::default());
        }
        let last = partitions.len() - 1;
        partitions[last].add(stream, index);
        done += work(chunk);
    }
    partitions
}

/// Work of a chunk: decoding costs about as much as the records are long.
fn work(chunk: &ChunkRef) -> u64 {
    u64::from(chunk.header.raw_length).max(1)
}

/// Stream, index and chunk, stream by stream.
fn wanted_chunks<'t>(tables: &'t TraceTables, selection: &Selection) -> Vec<(u32, usize, &'t ChunkRef)> {
    let streams = tables.trace().streams().iter();
    let streams = streams.filter(|stream| selection.keeps_thread(Some(stream.id)));
    let chunks = streams.flat_map(|stream| {
        let chunks = stream.chunks.iter().enumerate();
        chunks.map(|(index, chunk)| (stream.id, index, chunk))
    });
    chunks
        .filter(|(stream, _, chunk)| may_have_time(tables, selection, *stream, chunk))
        .collect()
}

fn may_have_time(tables: &TraceTables, selection: &Selection, stream: u32, chunk: &ChunkRef) -> bool {
    if selection.has_every_time() {
        return true;
    }
    let span = tables.span(stream, chunk.header.sequence);
    *selection.times_ns.start() <= span.last_ns && span.first_ns <= *selection.times_ns.end()
}
