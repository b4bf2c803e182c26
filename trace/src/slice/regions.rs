//! Where in a chunk its thread is in regions of interest.

use std::ops::Range;

use crate::{Batch, ChunkRef, Decoder, Event, Run, Trace};

/// A part of a chunk in which its thread is in one of the regions that were asked for. One that goes on to the chunk's
/// end has no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stay {
    /// By their positions in the chunk from 0; may be empty.
    pub accesses: Range<u64>,
    /// Likewise.
    pub marks: Range<u64>,
}

/// The stays of a chunk in their order. `wanted` are hashes of names, sorted.
pub(super) fn stays(trace: &Trace, chunk: &ChunkRef, wanted: &[u64]) -> Vec<Stay> {
    let mut scan = Scan {
        wanted,
        inside: Vec::new(),
        access: 0,
        mark: 0,
        stays: Vec::new(),
        is_open: false,
    };
    let mut scanner = Decoder::uncut(trace).with_runs();
    let Ok(mut batches) = scanner.decode(chunk) else {
        return scan.stays; // it can't be decoded at all, which the decoder that reads it reports
    };
    while let Ok(Some(batch)) = batches.next_batch() {
        scan.batch(batch);
    }
    scan.stays
}

struct Scan<'w> {
    wanted: &'w [u64],
    /// Whether each region in which the thread is was asked for; each chunk states them anew.
    inside: Vec<bool>,
    /// Accesses and marks of the chunk before the batch.
    access: u64,
    mark: u64,
    stays: Vec<Stay>,
    /// Whether the last stay goes on.
    is_open: bool,
}

impl Scan<'_> {
    fn batch(&mut self, batch: &Batch) {
        let mut runs = batch.runs.iter().peekable();
        let mut in_runs = 0u64;
        for (index, mark) in batch.marks.iter().enumerate() {
            while let Some(run) = runs.next_if(|run| run.marks_before as usize <= index) {
                in_runs = in_runs.saturating_add(Run::access_count(run));
            }
            if let Event::Region { depth, name } = batch.event(*mark) {
                let before = in_runs.saturating_add(mark.before.into());
                self.change(depth, name);
                self.note(self.access.saturating_add(before), self.mark + index as u64);
            }
        }
        self.access = self.access.saturating_add(batch.access_count());
        self.mark += batch.marks.len() as u64;
    }

    fn change(&mut self, depth: u64, name: u64) {
        let outer = usize::try_from(depth.saturating_sub(1)).unwrap_or(usize::MAX);
        self.inside.truncate(outer);
        if depth > 0 {
            self.inside.push(self.wanted.binary_search(&name).is_ok());
        }
    }

    /// Begins or ends a stay at a mark that stands before that access.
    fn note(&mut self, access: u64, mark: u64) {
        let is_inside = self.inside.contains(&true);
        match self.stays.last_mut() {
            Some(last) if self.is_open && !is_inside => {
                (last.accesses.end, last.marks.end) = (access, mark);
            }
            _ if is_inside && !self.is_open => self.stays.push(Stay {
                accesses: access..u64::MAX,
                marks: mark + 1..u64::MAX,
            }),
            _ => {}
        }
        self.is_open = is_inside;
    }
}
