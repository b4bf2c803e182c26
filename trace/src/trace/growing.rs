//! A trace that grows chunk by chunk while its program runs.

use std::collections::HashMap;
use std::mem::take;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::{Bytes, Trace};
use crate::index::FILE_HEADER_LENGTH;
use crate::merge::Merger;
use crate::{ChunkHeader, ChunkKind, ChunkRef, NodeCounts, TraceError};

/// Takes the chunks of a trace in the order of its file and keeps what they define, but no records.
/// [`crate::Decoder::decode_stored`] decodes these as they come.
pub struct GrowingTrace {
    trace: Trace,
    known_tables: HashMap<Vec<u8>, usize>,
    /// Where the next chunk would stand in the file.
    position: u64,
    payload: Vec<u8>,
}

impl GrowingTrace {
    /// `name` stands for the file in messages.
    pub fn new(name: &Path) -> Self {
        let mut trace = Trace::without_content(name, [0; 16]);
        trace.program = Merger::new().program;
        GrowingTrace {
            trace,
            known_tables: HashMap::new(),
            position: FILE_HEADER_LENGTH as u64,
            payload: Vec::new(),
        }
    }

    /// Where the next chunk would stand in a file, bytes.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Skips the chunks before this offset, which define nothing.
    pub fn go_to(&mut self, position: u64) {
        self.position = self.position.max(position);
    }

    /// Takes the next chunk: its header and all of its bytes. It reads only the header of records. What can't be read
    /// goes to [`Trace::damage`].
    pub fn push(&mut self, header: &ChunkHeader, chunk: &[u8]) {
        let in_file = ChunkRef {
            header: *header,
            offset: self.position,
        };
        self.position += header.chunk_length();
        self.trace.chunks.push(in_file);
        let gap_before = self.trace.add_to_stream(&in_file);
        if matches!(
            header.kind,
            ChunkKind::Records | ChunkKind::OracleRecords | ChunkKind::Counts | ChunkKind::Allocations
        ) {
            return;
        }
        self.trace.bytes = Arc::new(Bytes::Owned(chunk.to_vec()));
        let in_memory = ChunkRef {
            header: *header,
            offset: 0,
        };
        let read = match gap_before {
            Some(before_sequence) => self
                .trace
                .read_gap(&in_memory, before_sequence)
                .map(|gap| self.trace.gaps.push(gap)),
            None => self.define(&in_memory),
        };
        if let Err(error) = read {
            self.trace.report(error);
        }
    }

    fn define(&mut self, chunk: &ChunkRef) -> Result<(), TraceError> {
        let mut merger = Merger {
            program: take(&mut self.trace.program),
            loaded: take(&mut self.trace.loaded),
            known: take(&mut self.known_tables),
        };
        let read = self.trace.read_definition(chunk, &mut merger, &mut self.payload);
        self.trace.program = merger.program;
        self.trace.loaded = merger.loaded;
        self.known_tables = merger.known;
        self.trace.marks.sort();
        if chunk.header.kind == ChunkKind::Module {
            self.trace.code = OnceLock::new();
        }
        read
    }

    /// Reads from a chunk of counts what a thread counted in a region.
    pub fn read_counts(&mut self, header: &ChunkHeader, chunk: Vec<u8>) -> Result<NodeCounts, TraceError> {
        self.trace.bytes = Arc::new(Bytes::Owned(chunk));
        let in_memory = ChunkRef {
            header: *header,
            offset: 0,
        };
        let read = self.trace.read_payload(&in_memory, &mut self.payload);
        read.map(|()| NodeCounts::from_bytes(&self.payload))
    }

    /// The trace so far. Its records can't be read from it.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}
