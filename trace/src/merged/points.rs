//! Where the order points of a chunk stand, found before its accesses are merged.

use std::collections::VecDeque;

use crate::{Batch, ChunkRef, Decoder, Event, Run};

/// A point of a chunk whose time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// Accesses of the chunk before the point.
    pub(crate) access: u64,
    /// Marks of the chunk before the point; its own one follows, if it has one.
    pub(crate) mark: u64,
    pub(crate) time_ns: u64,
}

impl Point {
    /// The chunk's begin, with the time of its end.
    pub(super) fn begin_of(chunk: &ChunkRef) -> Point {
        Point {
            access: 0,
            mark: 0,
            time_ns: chunk.header.last_ns,
        }
    }
}

/// All of a chunk's order points, and its end as the last one.
pub(crate) fn points(scanner: &mut Decoder<'_>, chunk: &ChunkRef) -> VecDeque<Point> {
    let mut points = VecDeque::new();
    let mut end = Point::begin_of(chunk);
    let Ok(mut batches) = scanner.decode(chunk) else {
        return points; // it can't be decoded at all, which its cursor has seen
    };
    loop {
        match batches.next_batch() {
            Ok(Some(batch)) => add_points(batch, &mut end, &mut points),
            Ok(None) => break,
            Err(_) => {
                end.mark += 1; // so that the cursor gets to the error, and reports it
                break;
            }
        }
    }
    points.push_back(end);
    points
}

/// Adds the batch's points. `end` is what precedes it in the chunk, and moves to its end.
pub(super) fn add_points(batch: &Batch, end: &mut Point, points: &mut VecDeque<Point>) {
    let mut runs = batch.runs.iter().peekable();
    let mut in_runs = 0u64;
    for (index, mark) in batch.marks.iter().enumerate() {
        while let Some(run) = runs.next_if(|run| run.marks_before as usize <= index) {
            in_runs = in_runs.saturating_add(Run::access_count(run));
        }
        if let Event::Order { time_ns, .. } = batch.event(*mark) {
            points.push_back(Point {
                access: end.access + u64::from(mark.before) + in_runs,
                mark: end.mark + index as u64,
                time_ns,
            });
        }
    }
    end.access = end.access.saturating_add(batch.access_count());
    end.mark += batch.marks.len() as u64;
}
