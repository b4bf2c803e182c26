//! The beginning of a recording that isn't kept: its accesses are counted, and its records let go.

use std::collections::HashMap;

use trackway_trace::{encode_marks, Chunk, ChunkFields, ChunkKind, MarkInfo, MarkKind};

use super::counting::AccessCounter;

#[derive(Default)]
pub struct Beginning {
    counter: AccessCounter,
    accesses: u64,
    /// Records of buffers that were taken from then on are kept. None: it isn't reached yet.
    end_ns: Option<u64>,
    /// The sequence of each stream's first chunk that is kept.
    first: HashMap<(u32, ChunkKind), u64>,
    /// Chunks of marks that were kept.
    marks: u64,
}

impl Beginning {
    /// Accesses of the records that were let go.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    pub fn end_at(&mut self, ns: u64) {
        self.end_ns = Some(ns);
    }

    /// The chunk as the trace is to have it, which begins with a later one; none if it is let go.
    pub fn kept<'c>(&mut self, chunk: Chunk<'c>) -> Option<Chunk<'c>> {
        match chunk.header.kind {
            ChunkKind::Records if self.is_before_end(&chunk) => {
                self.accesses = self.accesses.saturating_add(self.counter.count(&chunk));
                None
            }
            ChunkKind::OracleRecords | ChunkKind::Gap if self.is_before_end(&chunk) => None,
            ChunkKind::OracleSummary => None, // it counts from the start
            ChunkKind::Records | ChunkKind::OracleRecords | ChunkKind::Gap => Some(self.renumbered(chunk)),
            kind => {
                self.counter.define(&chunk);
                self.marks += u64::from(kind == ChunkKind::Marks);
                Some(chunk)
            }
        }
    }

    fn is_before_end(&self, chunk: &Chunk) -> bool {
        let begun_ns = match chunk.header.kind {
            ChunkKind::Gap => chunk.header.last_ns,
            _ => chunk.header.first_ns,
        };
        self.end_ns.is_none_or(|end_ns| begun_ns < end_ns)
    }

    fn renumbered<'c>(&mut self, chunk: Chunk<'c>) -> Chunk<'c> {
        let Chunk { mut header, stored } = chunk;
        let first = self
            .first
            .entry((header.stream, header.kind))
            .or_insert(header.sequence);
        header.sequence -= *first;
        Chunk { header, stored }
    }

    /// A chunk that says how many accesses came before the trace's first one.
    pub fn mark(&self) -> (ChunkFields, Vec<u8>) {
        let mark = MarkInfo {
            ns: self.end_ns.unwrap_or_default(),
            kind: MarkKind::Mark,
            cause: "accesses".to_owned(),
            text: Some(match self.end_ns {
                Some(_) => format!("after {} accesses", self.accesses),
                None => format!("nothing is kept: there were {} accesses", self.accesses),
            }),
            ..MarkInfo::default()
        };
        let fields = ChunkFields {
            sequence: self.marks,
            ..ChunkFields::new(ChunkKind::Marks)
        };
        (fields, encode_marks(&[mark]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::plain_chunk;

    fn chunk(kind: ChunkKind, sequence: u64, first_ns: u64) -> Chunk<'static> {
        let fields = ChunkFields {
            sequence,
            first_ns,
            last_ns: first_ns + 5,
            ..ChunkFields::new(kind)
        };
        plain_chunk(&fields, &[0; 16]).unwrap()
    }

    #[test]
    fn what_is_kept_is_numbered_anew() {
        let mut beginning = Beginning::default();
        let kept = |beginning: &mut Beginning, kind, sequence, first_ns| {
            let kept = beginning.kept(chunk(kind, sequence, first_ns));
            kept.map(|chunk| chunk.header.sequence)
        };
        assert_eq!(kept(&mut beginning, ChunkKind::Start, 0, 1), Some(0));
        assert_eq!(kept(&mut beginning, ChunkKind::Records, 0, 1), None);
        beginning.end_at(50);
        // A buffer that its thread took before.
        assert_eq!(kept(&mut beginning, ChunkKind::Records, 1, 49), None);
        assert_eq!(kept(&mut beginning, ChunkKind::Records, 2, 50), Some(0));
        assert_eq!(kept(&mut beginning, ChunkKind::Records, 3, 60), Some(1));
        assert_eq!(kept(&mut beginning, ChunkKind::Gap, 4, 60), Some(0));
        assert_eq!(kept(&mut beginning, ChunkKind::OracleSummary, 0, 60), None);
        assert_eq!(kept(&mut beginning, ChunkKind::Marks, 0, 60), Some(0));
        assert_eq!(beginning.mark().0.sequence, 1);
    }
}
