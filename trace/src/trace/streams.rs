//! Sorts the chunks of a trace into the streams of its threads.

use super::{Gap, Trace};
use crate::allocations::AllocationStream;
use crate::bytes::u64_at;
use crate::{ChunkKind, ChunkRef, CountingThread, TraceError};

/// Everything that one thread of a process wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Number of the stream in the trace.
    pub id: u32,
    /// Number of the process in the trace.
    pub process: u32,
    /// Its records, in order.
    pub chunks: Vec<ChunkRef>,
    /// The oracle's records, in order.
    pub oracle_chunks: Vec<ChunkRef>,
    /// In a slice, the chunks up to its end; none if they are the same.
    pub(crate) from_start: Option<Vec<ChunkRef>>,
}

impl Stream {
    /// The chunks of records from the trace's start to the end of what is looked at. From those that lie outside of a
    /// slice, decoders give allocations and releases only. What follows blocks of memory needs them.
    pub fn chunks_from_start(&self) -> &[ChunkRef] {
        self.from_start.as_deref().unwrap_or(&self.chunks)
    }
}

impl Trace {
    /// Sorts the chunks into streams, and finds the gaps.
    pub(super) fn read_streams(&mut self) {
        let mut gaps = Vec::new();
        for index in 0..self.chunks.len() {
            let chunk = self.chunks[index];
            if let Some(before_sequence) = self.add_to_stream(&chunk) {
                gaps.push((chunk, before_sequence));
            }
        }
        for stream in &mut self.streams {
            stream.chunks.sort_by_key(|chunk| chunk.header.sequence);
            stream.oracle_chunks.sort_by_key(|chunk| chunk.header.sequence);
        }
        for thread in &mut self.counting_threads {
            thread.chunks.sort_by_key(|chunk| chunk.header.sequence);
        }
        for stream in &mut self.allocation_streams {
            stream.chunks.sort_by_key(|chunk| chunk.header.sequence);
        }
        for (chunk, before_sequence) in gaps {
            match self.read_gap(&chunk, before_sequence) {
                Ok(gap) => self.gaps.push(gap),
                Err(error) => self.report(error),
            }
        }
    }

    /// Adds a chunk to its stream, if it belongs to one. For a gap, returns the sequence of the chunk that follows it.
    pub(super) fn add_to_stream(&mut self, chunk: &ChunkRef) -> Option<u64> {
        let header = &chunk.header;
        if header.kind == ChunkKind::Counts {
            self.add_to_counting_thread(chunk);
            return None;
        }
        if header.kind == ChunkKind::Allocations {
            self.add_to_allocation_stream(chunk);
            return None;
        }
        if !matches!(
            header.kind,
            ChunkKind::Records | ChunkKind::OracleRecords | ChunkKind::Gap
        ) {
            return None;
        }
        let stream = self.stream_mut(header.stream, header.process);
        match header.kind {
            ChunkKind::Records => stream.chunks.push(*chunk),
            ChunkKind::OracleRecords => stream.oracle_chunks.push(*chunk),
            _ => {
                let last = self.last_chunk(header.stream);
                return Some(last.map_or(0, |last| last.header.sequence.saturating_add(1)));
            }
        }
        None
    }

    fn add_to_counting_thread(&mut self, chunk: &ChunkRef) {
        let threads = &mut self.counting_threads;
        let (stream, process) = (chunk.header.stream, chunk.header.process);
        let position = threads.binary_search_by_key(&stream, |thread| thread.stream);
        let position = position.unwrap_or_else(|position| {
            threads.insert(position, CountingThread::new(stream, process));
            position
        });
        threads[position].chunks.push(*chunk);
    }

    fn add_to_allocation_stream(&mut self, chunk: &ChunkRef) {
        let streams = &mut self.allocation_streams;
        let (stream, process) = (chunk.header.stream, chunk.header.process);
        let position = streams.binary_search_by_key(&stream, |known| known.stream);
        let position = position.unwrap_or_else(|position| {
            let chunks = Vec::new();
            streams.insert(
                position,
                AllocationStream {
                    stream,
                    process,
                    chunks,
                },
            );
            position
        });
        streams[position].chunks.push(*chunk);
    }

    /// The last chunk so far of a stream's records, or of its calls of allocators.
    fn last_chunk(&self, id: u32) -> Option<&ChunkRef> {
        let streams = &self.allocation_streams;
        let calls = streams.binary_search_by_key(&id, |stream| stream.stream);
        let calls = calls.ok().and_then(|position| streams[position].chunks.last());
        calls.or_else(|| self.stream(id)?.chunks.last())
    }

    fn stream_mut(&mut self, id: u32, process: u32) -> &mut Stream {
        let streams = &mut self.streams;
        let position = streams.binary_search_by_key(&id, |stream| stream.id);
        let position = position.unwrap_or_else(|position| {
            let stream = Stream {
                id,
                process,
                ..Stream::default()
            };
            streams.insert(position, stream);
            position
        });
        &mut streams[position]
    }

    pub(super) fn read_gap(&self, chunk: &ChunkRef, before_sequence: u64) -> Result<Gap, TraceError> {
        let mut payload = Vec::new();
        self.read_units(chunk, 16, &mut payload)?;
        if payload.is_empty() {
            return Err(self.bad_length(chunk, 0, 16));
        }
        Ok(Gap {
            stream: chunk.header.stream,
            process: chunk.header.process,
            before_sequence,
            dropped_buffers: u64_at(&payload, 0),
            reason: u64_at(&payload, 8).into(),
            first_ns: chunk.header.first_ns,
            last_ns: chunk.header.last_ns,
        })
    }
}
