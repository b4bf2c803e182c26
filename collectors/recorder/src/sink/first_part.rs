//! The first part of a recording that goes on as a flight recorder: a trace of its own, in a file.

use std::collections::{HashMap, HashSet};

use trackway_trace::chunk::FLAG_TAIL;
use trackway_trace::{Chunk, ChunkEncoder, ChunkHeader, ChunkKind, EndInfo};

use super::file::FileSink;
use super::{ChunkSink, SinkError};

pub struct FirstPart {
    file: FileSink,
    /// It has what threads recorded into buffers that they took before. None: the flight recorder hasn't begun.
    end_ns: Option<u64>,
    /// Copies of what threads still keep, by stream. The whole may come later.
    copies: HashMap<u32, (ChunkHeader, Box<[u8]>)>,
    streams: HashSet<u32>,
    chunks: u64,
    record_bytes: u64,
}

/// Whom a chunk concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub first_part: bool,
    pub flight: bool,
}

impl FirstPart {
    pub fn new(file: FileSink) -> Self {
        Self {
            file,
            end_ns: None,
            copies: HashMap::new(),
            streams: HashSet::new(),
            chunks: 0,
            record_bytes: 0,
        }
    }

    pub fn end_at(&mut self, ns: u64) {
        self.end_ns = Some(ns);
    }

    /// A buffer that a thread filled both before and after the end is in both parts: each has all of its time.
    pub fn share(&self, header: &ChunkHeader) -> Share {
        let (first_part, flight) = match (header.kind, self.end_ns) {
            // The oracle counts the whole run.
            (ChunkKind::OracleRecords | ChunkKind::OracleSummary | ChunkKind::End, _) => (false, false),
            (ChunkKind::Records, Some(end_ns)) => (header.first_ns < end_ns, header.last_ns >= end_ns),
            (ChunkKind::Gap | ChunkKind::Marks, Some(_)) => (false, true),
            (ChunkKind::Records | ChunkKind::Gap | ChunkKind::Marks, None) => (true, false),
            _ => (true, true), // what both need
        };
        Share { first_part, flight }
    }

    pub fn append(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        let header = chunk.header;
        if header.kind == ChunkKind::Records {
            self.copies.remove(&header.stream);
            if header.flags & FLAG_TAIL != 0 {
                self.copies.insert(header.stream, (header, chunk.stored.into()));
                return Ok(());
            }
        }
        self.write(chunk)
    }

    fn write(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        self.file.append(chunk)?;
        self.chunks += 1;
        if chunk.header.kind == ChunkKind::Records {
            self.streams.insert(chunk.header.stream);
            self.record_bytes += u64::from(chunk.header.raw_length);
        }
        Ok(())
    }

    /// `end`: of the whole recording.
    pub fn end(&mut self, end: &EndInfo, encoder: &mut ChunkEncoder) -> Result<(), SinkError> {
        let mut copies: Vec<_> = self.copies.drain().map(|(_, copy)| copy).collect();
        copies.sort_by_key(|(header, _)| header.stream);
        for (header, stored) in &copies {
            let header = *header;
            self.write(&Chunk { header, stored })?;
        }
        let end = EndInfo {
            chunks: self.chunks,
            streams: self.streams.len() as u64,
            record_bytes: self.record_bytes,
            reason: match self.end_ns {
                Some(_) => "the trace has its greatest size; a flight recorder went on".to_owned(),
                None => end.reason.clone(),
            },
            ..end.clone()
        };
        self.file.end(&end, encoder)
    }

    pub fn finish(&mut self) -> Result<u64, SinkError> {
        self.file.finish()
    }

    pub fn cancel(&mut self) {
        self.file.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::{plain_chunk, ChunkFields, Codec, Trace};

    fn chunk(sequence: u64, flags: u16, first_ns: u64, last_ns: u64) -> Chunk<'static> {
        let fields = ChunkFields {
            sequence,
            flags,
            first_ns,
            last_ns,
            ..ChunkFields::new(ChunkKind::Records)
        };
        plain_chunk(&fields, &[1; 16]).unwrap()
    }

    #[test]
    fn a_buffer_that_was_filled_before_and_after_the_end_is_in_both_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let mut part = FirstPart::new(FileSink::create(&path, false, Codec::None).unwrap());
        let share = |part: &FirstPart, chunk: &Chunk| {
            let share = part.share(&chunk.header);
            (share.first_part, share.flight)
        };
        assert_eq!(share(&part, &chunk(0, 0, 10, 20)), (true, false));
        part.append(&chunk(0, 0, 10, 20)).unwrap();
        part.end_at(30);
        for (begin, end, expected) in [
            (15, 29, (true, false)),
            (25, 31, (true, true)),
            (30, 40, (false, true)),
        ] {
            assert_eq!(share(&part, &chunk(1, 0, begin, end)), expected);
        }
        // A copy for a snapshot, another one, and the whole; of a second buffer only a copy.
        for (sequence, flags) in [(1, FLAG_TAIL), (1, FLAG_TAIL), (1, 0), (2, FLAG_TAIL)] {
            part.append(&chunk(sequence, flags, 25, 31)).unwrap();
        }
        part.end(&EndInfo::default(), &mut ChunkEncoder::new(Codec::None).unwrap())
            .unwrap();
        part.finish().unwrap();
        let trace = Trace::open(&path).unwrap();
        let records = trace.chunks_of(ChunkKind::Records);
        let stored: Vec<_> = records
            .map(|chunk| (chunk.header.sequence, chunk.header.flags))
            .collect();
        assert_eq!(stored, [(0, 0), (1, 0), (2, FLAG_TAIL)]);
        assert_eq!(trace.chunks().len(), 4);
    }
}
