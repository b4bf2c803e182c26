//! All streams of a trace in one order that respects what is known of the order between threads.
//!
//! Each stream is cut at its order points and at the borders of its chunks into pieces. What stands in a piece took place
//! between the times of the two points; within it, accesses are taken as evenly spread. The stream whose next access comes
//! first by this estimate goes on, but never beyond the end of its piece. So what stands before a point of one stream is
//! always before what stands after a point of another one with a later time: had the former not come yet, its stream's
//! next time would be at most that of its point, and thus the smaller one.
//!
//! Memory, for each stream that has begun and not ended at the present time: one chunk, decompressed, 24 bytes for each of
//! its order points, and one batch.

mod cursor;
mod exactness;
mod points;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Batch, ChunkRef, Decoder, Trace, TraceError};
use cursor::Cursor;
pub use exactness::{Exactness, INTERVALS_NS};

/// So many accesses of a stream at least follow each other where its piece has them: finer than this, an estimate means
/// nothing.
const FEWEST_ACCESSES: u64 = 8;

/// All batches of a trace in one order.
pub struct MergedStreams<'t> {
    trace: &'t Trace,
    /// Finds the points of chunks.
    scanner: Decoder<'t>,
    /// Streams by the time of their next access, and which one of `cursors` it is.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    cursors: Vec<Progress<'t>>,
    exactness: Exactness,
    batch: Batch,
}

/// How far the merge is with a stream.
enum Progress<'t> {
    Waiting(&'t [ChunkRef]),
    Begun(Box<Cursor<'t>>),
    Ended,
}

impl<'t> MergedStreams<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let chunks = trace.streams().iter().map(|stream| stream.chunks.as_slice());
        let begins = chunks
            .clone()
            .enumerate()
            .filter_map(|(index, chunks)| Some(Reverse((chunks.first()?.header.first_ns, index))));
        MergedStreams {
            trace,
            scanner: Decoder::new(trace).with_runs(),
            next: begins.collect(),
            cursors: chunks.map(Progress::Waiting).collect(),
            exactness: Exactness::default(),
            batch: Batch::default(),
        }
    }

    /// The next accesses and marks, all of one stream and one piece, whose times are the batch's `first_ns` and `last_ns`.
    /// None after the last. An error is about one chunk, of which nothing more comes.
    pub fn next_batch(&mut self) -> Result<Option<&Batch>, TraceError> {
        while let Some(Reverse((_, index))) = self.next.pop() {
            let taken = self.take_from(index);
            if let Progress::Begun(cursor) = &self.cursors[index] {
                self.next.push(Reverse((cursor.time_ns(), index)));
            }
            if taken? {
                return Ok(Some(&self.batch));
            }
        }
        Ok(None)
    }

    /// What is known of the order so far.
    pub fn exactness(&self) -> &Exactness {
        &self.exactness
    }

    /// Takes a batch from the stream, unless another one's turn comes first or this one has ended.
    fn take_from(&mut self, index: usize) -> Result<bool, TraceError> {
        let next_of_others = self.next.peek().map_or(u64::MAX, |Reverse((time, _))| *time);
        let progress = &mut self.cursors[index];
        if let Progress::Waiting(chunks) = *progress {
            *progress = Progress::Begun(Box::new(Cursor::new(self.trace, chunks)));
        }
        let Progress::Begun(cursor) = progress else {
            return Ok(false);
        };
        if !cursor.advance(&mut self.scanner, &mut self.exactness)? {
            *progress = Progress::Ended;
            return Ok(false);
        }
        if cursor.time_ns() > next_of_others {
            return Ok(false);
        }
        let end = cursor
            .first_after(next_of_others)
            .max(cursor.access() + FEWEST_ACCESSES);
        cursor.take(end, &mut self.batch)?;
        Ok(!self.batch.is_empty())
    }
}
