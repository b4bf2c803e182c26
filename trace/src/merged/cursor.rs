//! One stream on its way into the merged order.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::exactness::Exactness;
use super::held::{Held, Supply};
use super::piece::Piece;
use super::points::Point;
use super::FEWEST_ACCESSES;
use crate::slice::{ChunkCut, ChunkPosition};
use crate::{Batch, ChunkRef, Interval, TraceError};

/// When the next access of a stream takes place, as far as is known, and the stream's index. The least one goes on.
pub(super) type Turn = (u64, usize);

/// Where the merge stands in a stream. It holds one chunk of it, and its points.
pub(super) struct Cursor<'t> {
    index: usize,
    chunks: &'t [ChunkRef],
    /// What comes next of the present chunk; none between chunks.
    held: Option<Held<'t>>,
    piece: Piece,
    /// The ends of the chunk's further pieces.
    ends: VecDeque<Point>,
    /// The next access and mark of the chunk.
    access: u64,
    mark: u64,
    batch: Batch,
    /// The first access and mark of the present batch.
    batch_access: u64,
    batch_mark: u64,
    /// The latest stamp, to see whether time goes backwards.
    latest_stamp_ns: u64,
    /// What the trace's slice leaves of the present chunk; none if there is no slice.
    cut: Option<Arc<ChunkCut>>,
}

impl<'t> Cursor<'t> {
    /// Makes a cursor at the beginning of the stream with this index.
    pub(super) fn new(index: usize, chunks: &'t [ChunkRef]) -> Self {
        let begin = Point {
            access: 0,
            mark: 0,
            time_ns: chunks.first().map_or(0, |chunk| chunk.header.first_ns),
        };
        Cursor {
            index,
            chunks,
            held: None,
            piece: Piece {
                from: begin,
                to: begin,
            },
            ends: VecDeque::new(),
            access: 0,
            mark: 0,
            batch: Batch::default(),
            batch_access: 0,
            batch_mark: 0,
            latest_stamp_ns: 0,
            cut: None,
        }
    }

    /// The time of the next access is not before any point that it follows, nor after any that follows it.
    pub(super) fn turn(&self) -> Turn {
        (self.time_ns(), self.index)
    }

    pub(super) fn time_ns(&self) -> u64 {
        self.piece.time_of(self.access)
    }

    /// Goes on to a piece that is not at its end, and to further chunks; false at the stream's end.
    pub(super) fn advance(
        &mut self,
        supply: &mut Supply<'t>,
        exactness: &mut Exactness,
    ) -> Result<bool, TraceError> {
        while !self.advance_in_chunk(exactness) {
            if let Some(held) = self.held.take() {
                supply.close(held);
            }
            let Some((chunk, rest)) = self.chunks.split_first() else {
                return Ok(false);
            };
            self.chunks = rest;
            self.begin_chunk(chunk, supply)?;
        }
        Ok(true)
    }

    /// Goes on to a piece that is not at its end; false at the chunk's end.
    fn advance_in_chunk(&mut self, exactness: &mut Exactness) -> bool {
        while self.is_piece_done() {
            match self.ends.pop_front() {
                Some(end) => self.begin_piece(end, exactness),
                None => return false,
            }
        }
        true
    }

    fn is_piece_done(&self) -> bool {
        self.access >= self.piece.to.access && self.mark >= self.piece.to.mark
    }

    fn begin_chunk(&mut self, chunk: &'t ChunkRef, supply: &mut Supply<'t>) -> Result<(), TraceError> {
        self.batch.clear();
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
        self.cut = supply.cut(chunk);
        let (held, ends) = match &self.cut {
            Some(cut) if cut.is_outside() => supply.open_allocations(chunk, begin.time_ns, cut)?,
            _ => supply.open(chunk)?,
        };
        (self.held, self.ends) = (Some(held), ends);
        Ok(())
    }

    fn begin_piece(&mut self, end: Point, exactness: &mut Exactness) {
        let from = self.piece.to;
        let counts = self.cut.as_ref().is_none_or(|cut| cut.keeps(end.access));
        if !self.ends.is_empty() && counts {
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
        // What the slice has of the piece isn't known yet.
        if self.cut.is_none() {
            exactness.add(self.piece.accesses(), self.piece.duration_ns());
        }
    }

    /// Replaces `part` by the accesses, and the marks between them, up to the turn of `others`, as far as they stand in
    /// one batch.
    pub(super) fn take(
        &mut self,
        others: Option<Turn>,
        (supply, exactness): (&mut Supply<'t>, &mut Exactness),
        part: &mut Batch,
    ) -> Result<(), TraceError> {
        part.clear();
        while self.is_batch_done() && !self.is_piece_done() {
            self.next_batch(supply)?;
        }
        if self.is_piece_done() {
            return Ok(());
        }
        let first_access = (self.access - self.batch_access) as usize;
        let first_mark = (self.mark - self.batch_mark) as usize;
        let mut intervals = std::mem::take(&mut part.intervals);
        loop {
            self.take_of_piece(others);
            intervals.push(Interval {
                end: (self.access - self.batch_access) as u32 - first_access as u32,
                first_ns: self.piece.from.time_ns,
                last_ns: self.piece.to.time_ns,
            });
            if !self.goes_on(others, exactness) {
                break;
            }
        }
        let accesses = first_access..(self.access - self.batch_access) as usize;
        let first = ChunkPosition {
            accesses: self.batch_access + first_access as u64,
            marks: self.batch_mark + first_mark as u64,
        };
        self.move_to(part, accesses, first_mark..(self.mark - self.batch_mark) as usize);
        part.set_intervals(intervals);
        if let Some(cut) = &self.cut {
            supply.keep(cut, first, part);
            for (accesses, interval) in part.intervals() {
                exactness.add(accesses, interval.last_ns - interval.first_ns);
            }
        }
        Ok(())
    }

    /// Steps over the accesses of the piece that come before the turn of `others`, and over the marks between them.
    fn take_of_piece(&mut self, others: Option<Turn>) {
        let until = others.map_or(u64::MAX, |(time_ns, _)| time_ns);
        let wanted = self.piece.first_after(until).max(self.access + FEWEST_ACCESSES);
        let first = (self.access - self.batch_access) as usize;
        let end = (wanted.min(self.piece.to.access) - self.batch_access) as usize;
        let end = self.batch.len().min(end).max(first);
        let marks = self.marks_up_to(end);
        self.access += (end - first) as u64;
        self.mark += marks.len() as u64;
    }

    /// Whether the batch goes on before the turn of `others`, perhaps in another piece.
    fn goes_on(&mut self, others: Option<Turn>, exactness: &mut Exactness) -> bool {
        let is_next = |cursor: &Self| others.is_none_or(|others| cursor.turn() < others);
        let is_early = |cursor: &Self| others.is_none_or(|(time_ns, _)| cursor.time_ns() <= time_ns);
        !self.is_batch_done() && is_next(self) && self.advance_in_chunk(exactness) && is_early(self)
    }

    /// Replaces `part` by these accesses and marks of the batch, which is given away if that is all of it.
    fn move_to(&mut self, part: &mut Batch, accesses: Range<usize>, marks: Range<usize>) {
        if accesses == (0..self.batch.len()) && marks == (0..self.batch.marks.len()) {
            std::mem::swap(part, &mut self.batch);
            self.batch.clear();
            (self.batch_access, self.batch_mark) = (self.access, self.mark);
            return;
        }
        part.copy_part(&self.batch, accesses, marks);
        part.come_from(&self.batch);
    }

    fn is_batch_done(&self) -> bool {
        let access = self.access - self.batch_access;
        let mark = self.mark - self.batch_mark;
        access >= self.batch.len() as u64 && mark >= self.batch.marks.len() as u64
    }

    fn next_batch(&mut self, supply: &mut Supply<'t>) -> Result<(), TraceError> {
        self.batch_access += self.batch.len() as u64;
        self.batch_mark += self.batch.marks.len() as u64;
        self.batch.clear();
        let found = match &mut self.held {
            Some(held) => supply.next_batch(held, &mut self.batch),
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
        let first = (self.mark - self.batch_mark) as usize;
        let in_piece = (self.piece.to.mark - self.batch_mark) as usize;
        let at_end = end == self.batch.len() || self.batch_access + end as u64 == self.piece.to.access;
        let candidates = self.batch.marks[first..]
            .iter()
            .take(in_piece.saturating_sub(first));
        let count = candidates
            .take_while(|mark| (mark.before as usize) < end || at_end && mark.before as usize == end)
            .count();
        first..first + count
    }
}
