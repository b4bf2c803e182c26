//! The allocations of a chunk that lies outside of a slice, with their times.

use std::collections::VecDeque;

use super::piece::Piece;
use super::points::Point;
use crate::slice::ChunkCut;
use crate::{Batch, ChunkRef, Run};

/// Takes the batches of a chunk one after the other.
pub(super) struct Allocations {
    kept: Batch,
    /// When each of them took place.
    points: VecDeque<Point>,
    chunk_end: Point,
    /// Accesses so far.
    access: u64,
    /// The piece of the chunk in which the latest one stands, and the number of its end among the chunk's points.
    piece: Piece,
    next_end: usize,
}

impl Allocations {
    pub fn new(chunk: &ChunkRef, begin_ns: u64) -> Self {
        let begin = Point {
            access: 0,
            mark: 0,
            time_ns: begin_ns,
        };
        let header = &chunk.header;
        let mut kept = Batch::default();
        (kept.process, kept.stream, kept.sequence) = (header.process, header.stream, header.sequence);
        (kept.first_ns, kept.last_ns) = (header.first_ns, header.last_ns);
        Allocations {
            kept,
            points: VecDeque::new(),
            chunk_end: Point::begin_of(chunk),
            access: 0,
            piece: Piece::new(begin, begin),
            next_end: 0,
        }
    }

    /// `ends` are the chunk's points, its end as the last one.
    pub fn add(&mut self, batch: &Batch, cut: &ChunkCut, ends: &VecDeque<Point>) {
        let mut runs = batch.runs.iter().peekable();
        let mut in_runs = 0u64;
        for (index, mark) in batch.marks.iter().enumerate() {
            while let Some(run) = runs.next_if(|run| run.marks_before as usize <= index) {
                in_runs = in_runs.saturating_add(Run::access_count(run));
            }
            let before = in_runs.saturating_add(mark.before.into());
            let access = self.access.saturating_add(before);
            let event = batch.event(*mark);
            if event.is_of_memory() && cut.keeps_allocation(access) {
                let time_ns = self.time_of(access, ends);
                self.kept.push_outside_mark_of(batch, *mark);
                self.add_point(time_ns);
            }
        }
        self.access = self.access.saturating_add(batch.access_count());
    }

    fn add_point(&mut self, time_ns: u64) {
        self.points.push_back(Point {
            access: 0,
            mark: self.points.len() as u64,
            time_ns,
        });
    }

    /// The time of the access, which isn't before an earlier one. Accesses are evenly spread between two points.
    fn time_of(&mut self, access: u64, ends: &VecDeque<Point>) -> u64 {
        while self.piece.to.access <= access {
            let Some(end) = ends.get(self.next_end) else { break };
            self.next_end += 1;
            let time_ns = end.time_ns.max(self.piece.to.time_ns);
            self.piece = Piece::new(self.piece.to, Point { time_ns, ..*end });
        }
        self.piece.time_of(access.min(self.piece.to.access))
    }

    /// The allocations, and their points with the chunk's end as the last one. If the chunk is damaged, the cursor must
    /// get to the error, and reports it.
    pub fn end(mut self, is_damaged: bool) -> (Batch, VecDeque<Point>) {
        let marks = self.kept.marks.len() as u64 + u64::from(is_damaged);
        self.points.push_back(Point {
            access: 0,
            mark: marks,
            ..self.chunk_end
        });
        (self.kept, self.points)
    }
}
