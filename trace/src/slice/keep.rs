//! Takes from a batch what lies inside a slice.

use std::ops::Range;

use super::cut::ChunkCut;
use crate::{Batch, Interval, Lane, Mark, Run, SiteId};

/// What is taken from a chunk's batches.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'k> {
    pub cut: &'k ChunkCut,
    pub sites: Option<&'k [bool]>,
    /// Whether allocations are kept that lie before the end of what is inside.
    pub from_start: bool,
}

/// How many accesses and marks of the chunk stand before a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkPosition {
    pub accesses: u64,
    pub marks: u64,
}

/// Replaces `into` by what is kept of a batch, which begins there in its chunk.
pub(crate) fn keep(kept: Kept, from: &Batch, first: ChunkPosition, into: &mut Batch) {
    let Kept {
        cut,
        sites,
        from_start,
    } = kept;
    into.clear();
    into.come_from(from);
    (into.first_ns, into.last_ns) = match from.has_intervals() {
        true => (from.first_ns, from.last_ns),
        false => cut.times(),
    };
    let mut keeping = Keeping {
        cut,
        sites,
        from_start,
        from,
        into,
        position: first.accesses,
        mark: first.marks,
        next_by_library: 0,
        notes: Notes::of(from),
    };
    keeping.take_all();
    keeping.end();
}

struct Keeping<'k> {
    cut: &'k ChunkCut,
    sites: Option<&'k [bool]>,
    from_start: bool,
    from: &'k Batch,
    into: &'k mut Batch,
    /// The next access's position in the chunk.
    position: u64,
    /// The next mark's.
    mark: u64,
    /// Position among the batch's accesses by libraries of the first that is not yet passed.
    next_by_library: usize,
    notes: Notes,
}

/// Which accesses were kept, as far as something of the batch counts its accesses.
struct Notes {
    is_needed: bool,
    /// For each access that was kept, how many of the batch's columns end with it, at least.
    ends: Vec<u32>,
    /// Runs that were kept of those before the uncertain ones.
    certain_runs: u32,
}

impl Notes {
    fn of(batch: &Batch) -> Notes {
        Notes {
            is_needed: batch.uncertain_from.is_some() || batch.has_intervals(),
            ends: Vec::new(),
            certain_runs: 0,
        }
    }

    fn add(&mut self, end: u32) {
        if self.is_needed {
            self.ends.push(end);
        }
    }

    /// How many accesses were kept of so many.
    fn kept_before(&self, accesses: u32) -> u32 {
        self.ends.partition_point(|end| *end <= accesses) as u32
    }
}

impl Keeping<'_> {
    /// Goes over accesses, runs and marks in their order.
    fn take_all(&mut self) {
        let from = self.from;
        let (mut next, mut next_mark) = (0, 0);
        for (number, run) in from.runs.iter().enumerate() {
            self.take_columns(
                &mut next,
                &mut next_mark,
                run.before as usize,
                run.marks_before as usize,
            );
            self.take_run(number, run);
        }
        self.take_columns(&mut next, &mut next_mark, from.len(), from.marks.len());
    }

    /// Takes the columns and marks up to these.
    fn take_columns(&mut self, next: &mut usize, next_mark: &mut usize, end: usize, mark_end: usize) {
        for mark in &self.from.marks[*next_mark..mark_end.max(*next_mark)] {
            let before = (mark.before as usize).clamp(*next, end);
            self.take_accesses(*next..before);
            *next = before;
            self.take_mark(*mark);
        }
        self.take_accesses(*next..end);
        (*next, *next_mark) = (end, mark_end);
    }

    fn take_accesses(&mut self, columns: Range<usize>) {
        let begin = self.position;
        self.position = begin.saturating_add(columns.len() as u64);
        let cut = self.cut;
        for part in cut.parts(begin..self.position) {
            let first = columns.start + (part.start - begin) as usize;
            let end = columns.start + (part.end - begin) as usize;
            for index in first..end {
                self.take_access(index);
            }
        }
    }

    #[inline(always)]
    fn take_access(&mut self, index: usize) {
        let site = self.from.site[index];
        if self.sites.is_none_or(|sites| sites[site.index()]) {
            if self.is_by_library(index as u32) {
                self.into.by_library.push(self.into.len() as u32);
            }
            self.into.push_access_of(self.from, index);
            self.notes.add(index as u32 + 1);
        }
    }

    /// Asked for ascending indices.
    #[inline(always)]
    fn is_by_library(&mut self, index: u32) -> bool {
        let indices = &self.from.by_library;
        while self.next_by_library < indices.len() && indices[self.next_by_library] < index {
            self.next_by_library += 1;
        }
        indices.get(self.next_by_library) == Some(&index)
    }

    fn take_mark(&mut self, mark: Mark) {
        let event = self.from.event(mark);
        let number = self.mark;
        self.mark += 1;
        if self.cut.keeps_event(number, self.position) {
            self.into.push_mark_of(self.from, mark);
        } else if self.from_start && event.is_of_memory() && self.cut.keeps_allocation(self.position) {
            self.into.push_outside_mark_of(self.from, mark);
        }
    }

    fn take_run(&mut self, number: usize, run: &Run) {
        let begin = self.position;
        self.position = begin.saturating_add(run.access_count());
        let is_certain = self
            .from
            .uncertain_runs_from
            .is_none_or(|from| number < from as usize);
        let cut = self.cut;
        for part in cut.parts(begin..self.position) {
            self.take_of_run(run, part.start - begin..part.end - begin, is_certain);
        }
        if is_certain {
            self.notes.certain_runs = self.into.runs.len() as u32;
        }
    }

    /// Takes a part of a run: single accesses up to the next whole iteration, whole iterations, and single ones.
    fn take_of_run(&mut self, run: &Run, part: Range<u64>, is_certain: bool) {
        let lanes = self.from.lanes(run).len() as u64;
        let whole = part.start.div_ceil(lanes)..part.end / lanes;
        if whole.is_empty() {
            return self.take_singly(run, part, is_certain);
        }
        self.take_singly(run, part.start..whole.start * lanes, is_certain);
        self.take_iterations(run, whole.clone());
        self.take_singly(run, whole.end * lanes..part.end, is_certain);
    }

    fn take_singly(&mut self, run: &Run, accesses: Range<u64>, is_certain: bool) {
        let lanes = self.from.lanes(run);
        for access in accesses {
            let lane = &lanes[(access % lanes.len() as u64) as usize];
            if self.keeps_site(lane.site) {
                let address = lane.address_in(access / lanes.len() as u64);
                self.into.push_access(lane.site, address, lane.size);
                // An uncertain run's accesses stand after the first uncertain one of the columns.
                self.notes.add(run.before + u32::from(!is_certain));
            }
        }
    }

    fn take_iterations(&mut self, run: &Run, iterations: Range<u64>) {
        let sites = self.sites;
        let lanes = self.from.lanes(run).iter();
        let lanes = lanes.filter(|lane| sites.is_none_or(|sites| sites[lane.site.index()]));
        let lanes = lanes.map(|lane| Lane {
            address: lane.address_in(iterations.start),
            ..*lane
        });
        if lanes.clone().next().is_some() {
            let before = self.into.len() as u32;
            self.into
                .push_run(before, lanes, iterations.end - iterations.start);
        }
    }

    fn keeps_site(&self, site: SiteId) -> bool {
        self.sites.is_none_or(|sites| sites[site.index()])
    }

    /// Moves what counts accesses.
    fn end(self) {
        let Keeping {
            from, into, notes, ..
        } = self;
        into.uncertain_from = from.uncertain_from.map(|index| notes.kept_before(index));
        into.uncertain_runs_from = from.uncertain_runs_from.map(|_| notes.certain_runs);
        if from.has_intervals() {
            let intervals = from.raw_intervals().iter().map(|interval| Interval {
                end: notes.kept_before(interval.end),
                ..*interval
            });
            into.set_intervals(intervals.collect());
        }
    }
}
