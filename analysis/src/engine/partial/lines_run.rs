//! What becomes of the accesses of a part.

use trackway_trace::Trace;

use super::block::Reader;
use super::{Partial, PartialError, Portable};
use crate::{RunSummary, WorkPart};

/// Accesses that were dealt out to a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partitioned {
    /// Below the plan's number of parts.
    pub part: u32,
    /// Stream of the block. Blocks of a stream belong together.
    pub stream: u32,
    /// Place in the order of the stream's blocks, which has gaps.
    pub number: u64,
    pub block: Vec<u8>,
}

/// Takes the sifted accesses of one part, stream by stream, each in the order of its numbers.
pub struct LinesRun<S> {
    part: WorkPart,
    reader: Reader,
    /// The stream that is being taken, the number of its latest block, and its shard.
    present: Option<(u32, u64, S)>,
    done: Partial<S>,
}

impl<S> LinesRun<S> {
    pub fn new(trace: &Trace, part: WorkPart) -> Self {
        LinesRun {
            part,
            reader: Reader::new(trace.program().sites.len()),
            present: None,
            done: Partial::default(),
        }
    }

    /// Takes the next block; an error if one that belongs after it has been taken.
    pub fn take<A: Portable<Shard = S>>(
        &mut self,
        analysis: &A,
        trace: &Trace,
        stream: u32,
        number: u64,
        block: &[u8],
    ) -> Result<(), PartialError> {
        if let Some((present, before, _)) = self.present {
            if (present, before) >= (stream, number) {
                return Err(PartialError::OutOfOrder {
                    stream,
                    number,
                    before,
                });
            }
            if present < stream {
                self.end_stream(analysis);
            }
        }
        let mut shard = match self.present.take() {
            Some((_, _, shard)) => shard,
            None => self.start_stream(analysis, trace),
        };
        self.reader
            .read(block, |batch| analysis.take_batch(&mut shard, batch))?;
        self.present = Some((stream, number, shard));
        Ok(())
    }

    fn start_stream<A: Portable<Shard = S>>(&self, analysis: &A, trace: &Trace) -> S {
        let mut shard = analysis.start_lines(self.part);
        analysis.take_program(&mut shard, trace.program());
        shard
    }

    fn end_stream<A: Portable<Shard = S>>(&mut self, analysis: &A) {
        if let Some((_, _, shard)) = self.present.take() {
            let found = Partial {
                shard: Some(shard),
                summary: RunSummary::default(),
                exactness: None,
            };
            self.done.merge(analysis, found);
        }
    }

    /// What all blocks have shown.
    pub fn finish<A: Portable<Shard = S>>(mut self, analysis: &A) -> Partial<S> {
        self.end_stream(analysis);
        self.done
    }
}
