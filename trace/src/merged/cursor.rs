//! One stream on its way into the merged order.

use std::collections::VecDeque;
use std::ops::Range;

use super::exactness::Exactness;
use super::points::{points, Point};
use crate::decoder::Suspended;
use crate::{Batch, ChunkRef, Decoder, Trace, TraceError};

/// The part of a chunk between two neighbouring points. Its accesses and marks keep the stream's order, and took place
/// between two times.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Point,
    to: Point,
}

impl Piece {
    fn accesses(&self) -> u64 {
        self.to.access - self.from.access
    }

    fn duration_ns(&self) -> u64 {
        self.to.time_ns - self.from.time_ns
    }

    /// The time of the access if the piece's accesses are evenly spread; at most the piece's end.
    fn time_of(&self, access: u64) -> u64 {
        let done = access - self.from.access;
        let passed = match self.accesses() {
            0 => 0,
            all => u128::from(self.duration_ns()) * u128::from(done) / u128::from(all),
        };
        self.from.time_ns + passed as u64
    }

    /// The first access whose time is later; the piece's end if there is none.
    fn first_after(&self, time_ns: u64) -> u64 {
        if time_ns >= self.to.time_ns {
            return self.to.access;
        }
        let passed = u128::from(time_ns.saturating_sub(self.from.time_ns)) + 1;
        let accesses = passed * u128::from(self.accesses());
        self.from.access + accesses.div_ceil(u128::from(self.duration_ns())) as u64
    }
}

/// Where the merge stands in a stream. It holds one chunk of it, decompressed, and its points.
pub(super) struct Cursor<'t> {
    chunks: &'t [ChunkRef],
    decoder: Decoder<'t>,
    /// The chunk that is being decoded; none between chunks.
    chunk: Option<Suspended>,
    piece: Piece,
    /// The ends of the chunk's further pieces.
    ends: VecDeque<Point>,
    /// The next access and mark of the chunk.
    access: u64,
    mark: u64,
    /// The first access and mark of the present batch.
    batch_access: u64,
    batch_mark: u64,
    /// The latest stamp, to see whether time goes backwards.
    latest_stamp_ns: u64,
}

impl<'t> Cursor<'t> {
    /// Makes a cursor at the stream's beginning.
    pub(super) fn new(trace: &'t Trace, chunks: &'t [ChunkRef]) -> Self {
        let begin = Point {
            access: 0,
            mark: 0,
            time_ns: chunks.first().map_or(0, |chunk| chunk.header.first_ns),
        };
        Cursor {
            chunks,
            decoder: Decoder::new(trace).joining_first(),
            chunk: None,
            piece: Piece {
                from: begin,
                to: begin,
            },
            ends: VecDeque::new(),
            access: 0,
            mark: 0,
            batch_access: 0,
            batch_mark: 0,
            latest_stamp_ns: 0,
        }
    }

    /// When the next access takes place, as far as is known: not before any point that it follows, not after any that
    /// follows it.
    pub(super) fn time_ns(&self) -> u64 {
        self.piece.time_of(self.access)
    }

    /// The next access whose estimated time is later, within the present piece.
    pub(super) fn first_after(&self, time_ns: u64) -> u64 {
        self.piece.first_after(time_ns)
    }

    /// The next access.
    pub(super) fn access(&self) -> u64 {
        self.access
    }

    /// Goes on to a piece that is not at its end, and to further chunks; false at the stream's end.
    pub(super) fn advance(
        &mut self,
        scanner: &mut Decoder<'t>,
        exactness: &mut Exactness,
    ) -> Result<bool, TraceError> {
        while self.is_piece_done() {
            match self.ends.pop_front() {
                Some(end) => self.begin_piece(end, exactness),
                None => {
                    let Some((chunk, rest)) = self.chunks.split_first() else {
                        return Ok(false);
                    };
                    self.chunks = rest;
                    self.begin_chunk(chunk, scanner)?;
                }
            }
        }
        Ok(true)
    }

    fn is_piece_done(&self) -> bool {
        self.access >= self.piece.to.access && self.mark >= self.piece.to.mark
    }

    fn begin_chunk(&mut self, chunk: &'t ChunkRef, scanner: &mut Decoder<'t>) -> Result<(), TraceError> {
        self.chunk = None;
        (self.access, self.mark) = (0, 0);
        (self.batch_access, self.batch_mark) = (0, 0);
        let begin = Point {
            access: 0,
            mark: 0,
            time_ns: chunk.header.first_ns.max(self.piece.to.time_ns),
        };
        self.piece = Piece {
            from: begin,
            to: begin,
        };
        self.ends.clear();
        self.chunk = Some(self.decoder.decode(chunk)?.suspend());
        self.ends.extend(points(scanner, chunk));
        Ok(())
    }

    fn begin_piece(&mut self, end: Point, exactness: &mut Exactness) {
        let from = self.piece.to;
        if !self.ends.is_empty() {
            exactness.order_points += 1;
            exactness.backward_points += u64::from(end.time_ns < self.latest_stamp_ns);
            self.latest_stamp_ns = end.time_ns;
        }
        // A point may be stamped before the program took the buffer in which it stands.
        let time_ns = end.time_ns.max(from.time_ns);
        self.piece = Piece {
            from,
            to: Point { time_ns, ..end },
        };
        exactness.add(self.piece.accesses(), self.piece.duration_ns());
    }

    /// Replaces `part` by the accesses up to `end`, as far as they stand in one batch and one piece, and the marks
    /// between them.
    pub(super) fn take(&mut self, end: u64, part: &mut Batch) -> Result<(), TraceError> {
        part.clear();
        while self.is_batch_done() && !self.is_piece_done() {
            self.next_batch()?;
        }
        if self.is_piece_done() {
            return Ok(());
        }
        let batch = self.decoder.last_batch();
        let first = (self.access - self.batch_access) as usize;
        let end = end.min(self.piece.to.access) - self.batch_access;
        let accesses = first..batch.len().min(end as usize).max(first);
        let marks = self.marks_up_to(accesses.end);
        part.copy_part(batch, accesses.clone(), marks.clone());
        part.process = batch.process;
        part.stream = batch.stream;
        part.sequence = batch.sequence;
        part.first_ns = self.piece.from.time_ns;
        part.last_ns = self.piece.to.time_ns;
        self.access += accesses.len() as u64;
        self.mark += marks.len() as u64;
        Ok(())
    }

    fn is_batch_done(&self) -> bool {
        let batch = self.decoder.last_batch();
        let access = self.access - self.batch_access;
        let mark = self.mark - self.batch_mark;
        access >= batch.len() as u64 && mark >= batch.marks.len() as u64
    }

    fn next_batch(&mut self) -> Result<(), TraceError> {
        let batch = self.decoder.last_batch();
        self.batch_access += batch.len() as u64;
        self.batch_mark += batch.marks.len() as u64;
        let found = match self.chunk.take() {
            Some(chunk) => {
                let mut batches = self.decoder.resume(chunk);
                let found = batches.next_batch().map(|batch| batch.is_some());
                self.chunk = Some(batches.suspend());
                found
            }
            None => Ok(false),
        };
        if !matches!(found, Ok(true)) {
            // The chunk ends here, whatever was expected.
            self.ends.clear();
            self.piece.to.access = self.access;
            self.piece.to.mark = self.mark;
        }
        found.map(|_| ())
    }

    /// The marks of the batch from the next one on that stand before its access `end`; at the end of the batch or of
    /// the piece, also those after the last access. None of a later piece.
    fn marks_up_to(&self, end: usize) -> Range<usize> {
        let batch = self.decoder.last_batch();
        let first = (self.mark - self.batch_mark) as usize;
        let in_piece = (self.piece.to.mark - self.batch_mark) as usize;
        let at_end = end == batch.len() || self.batch_access + end as u64 == self.piece.to.access;
        let candidates = batch.marks[first..].iter().take(in_piece.saturating_sub(first));
        let count = candidates
            .take_while(|mark| (mark.before as usize) < end || at_end && mark.before as usize == end)
            .count();
        first..first + count
    }
}
