//! All streams of a trace in one order that respects what is known of the order between threads.
//!
//! Each stream is cut at its order points and at the borders of its chunks into pieces. What stands in a piece took
//! place between the times of the two points; within it, accesses are taken as evenly spread. The stream whose next
//! access comes first by this estimate goes on, but never past the end of its piece. So what precedes a point of one
//! stream always comes before what follows a point of another stream with a later time. As long as the former is still
//! to come, its stream's next time is at most that of its point. That is the smaller time, so its stream goes on.
//!
//! Memory, for each stream that has begun and not ended at the present time: one chunk, 24 bytes for each of its order
//! points, and one batch. Chunks are held decoded as long as there is room ([`held`]), the others decompressed.

mod allocations;
mod cursor;
mod exactness;
mod held;
mod piece;
mod points;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Batch, ChunkRef, Stream, Trace, TraceError};
use cursor::{Cursor, Turn};
pub use exactness::{Exactness, INTERVALS_NS};
use held::Supply;
pub(crate) use points::{points, Point};

/// At least so many accesses of a stream follow each other, if its piece has them. The estimate is not exact enough for
/// a finer order.
const FEWEST_ACCESSES: u64 = 8;

/// All batches of a trace in one order.
pub struct MergedStreams<'t> {
    supply: Supply<'t>,
    /// The least turn of all; none before the first batch, and after a stream's end.
    present: Option<Turn>,
    /// The turn of each other stream; its index is that in `cursors`.
    next: BinaryHeap<Reverse<Turn>>,
    cursors: Vec<Progress<'t>>,
    exactness: Exactness,
    batch: Batch,
}

/// How far the merge has come in a stream.
enum Progress<'t> {
    Waiting(&'t [ChunkRef]),
    Begun(Box<Cursor<'t>>),
    Ended,
}

impl<'t> MergedStreams<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let chunks = trace.streams().iter().map(|stream| stream.chunks.as_slice());
        Self::of(Supply::new(trace, false), chunks)
    }

    /// The same with allocations from the trace's start on, if the trace has a slice.
    pub fn from_start(trace: &'t Trace) -> Self {
        let chunks = trace.streams().iter().map(Stream::chunks_from_start);
        Self::of(Supply::new(trace, true), chunks)
    }

    fn of(supply: Supply<'t>, chunks: impl Iterator<Item = &'t [ChunkRef]> + Clone) -> Self {
        let begins = chunks
            .clone()
            .enumerate()
            .filter_map(|(index, chunks)| Some(Reverse((chunks.first()?.header.first_ns, index))));
        MergedStreams {
            supply,
            present: None,
            next: begins.collect(),
            cursors: chunks.map(Progress::Waiting).collect(),
            exactness: Exactness::default(),
            batch: Batch::default(),
        }
    }

    /// The next accesses and marks, all of one stream, between the times of the batch's `first_ns` and `last_ns`;
    /// [`Batch::intervals`] has those of its pieces. None after the last. An error concerns one chunk, and ends that
    /// chunk. The batch may be exchanged for another one, to be filled next.
    pub fn next_batch(&mut self) -> Result<Option<&mut Batch>, TraceError> {
        while let Some((_, index)) = self.take_turn() {
            let taken = self.take_from(index);
            if let Progress::Begun(cursor) = &self.cursors[index] {
                self.present = Some(cursor.turn());
            }
            if taken? {
                return Ok(Some(&mut self.batch));
            }
        }
        Ok(None)
    }

    /// The least turn, which leaves the others.
    fn take_turn(&mut self) -> Option<Turn> {
        let Some(present) = self.present.take() else {
            return self.next.pop().map(|Reverse(turn)| turn);
        };
        match self.next.peek_mut() {
            Some(mut least) if least.0 < present => Some(std::mem::replace(&mut *least, Reverse(present)).0),
            _ => Some(present),
        }
    }

    /// What is known of the order so far.
    pub fn exactness(&self) -> &Exactness {
        &self.exactness
    }

    /// Takes a batch from the stream, unless another one's turn comes first or this one has ended.
    fn take_from(&mut self, index: usize) -> Result<bool, TraceError> {
        let others = self.next.peek().map(|Reverse(turn)| *turn);
        let progress = &mut self.cursors[index];
        if let Progress::Waiting(chunks) = *progress {
            *progress = Progress::Begun(Box::new(Cursor::new(index, chunks)));
        }
        let Progress::Begun(cursor) = progress else {
            return Ok(false);
        };
        if !cursor.advance(&mut self.supply, &mut self.exactness)? {
            *progress = Progress::Ended;
            return Ok(false);
        }
        if others.is_some_and(|(time_ns, _)| cursor.time_ns() > time_ns) {
            return Ok(false);
        }
        let tools = (&mut self.supply, &mut self.exactness);
        cursor.take(others, tools, &mut self.batch)?;
        Ok(!self.batch.is_empty())
    }
}
