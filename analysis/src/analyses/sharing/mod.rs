//! Cache lines that threads take from each other.

mod contended;
mod lines;
mod moments;
mod packed;
mod passages;
mod tables;
mod totals;

use std::collections::HashMap;
use std::ops::{AddAssign, Range};

use serde::{Deserialize, Serialize};
use trackway_trace::{Batch, Interval, Program, Trace};

use crate::model::moments::MomentBins;
use crate::model::site_counts::Grouping;
use crate::{Analysis, Findings, Order, WorkPart};
pub use contended::{contended_fields, ContendedField};
use lines::{Access, LineTransfer, Lines, PARTS};
use moments::TransferMoments;
use passages::{Passage, Passages};

/// Accesses whose lines are looked up before any of them counts.
const GROUP: usize = 16;

/// Counts how often cache lines go from thread to thread, by the places that take them and had them.
#[derive(Debug, Clone)]
pub struct Sharing {
    line_bytes: u64,
    groupings: Vec<Grouping>,
    top: usize,
    /// Estimated cycles by site; none if time is not estimated.
    cycles: Option<Vec<u64>>,
    /// Transfers are also counted by thread and these bins of time.
    moments: Option<MomentBins>,
    /// Whether each site writes.
    writes: Vec<bool>,
}

/// Cache-line transfers between threads, or at a site or a group of sites.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineTransfers {
    /// Lines that another thread wrote, and that were read.
    pub reads: u64,
    /// Lines that other threads accessed, and that were written.
    pub writes: u64,
    /// Copies that other threads lost by the writes.
    pub invalidations: u64,
    /// Reads and writes whose order is certain.
    pub certain: u64,
    /// Reads and writes in which the threads did not touch the same bytes.
    pub false_sharing: u64,
}

impl LineTransfers {
    pub fn all(&self) -> u64 {
        self.reads + self.writes
    }

    fn count(&mut self, writes: bool, transfer: &LineTransfer) {
        self.writes += u64::from(writes);
        self.reads += u64::from(!writes);
        self.invalidations += u64::from(transfer.invalidated);
        self.certain += u64::from(transfer.certain);
        self.false_sharing += u64::from(transfer.is_false);
    }
}

impl AddAssign<&LineTransfers> for LineTransfers {
    fn add_assign(&mut self, other: &LineTransfers) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.invalidations += other.invalidations;
        self.certain += other.certain;
        self.false_sharing += other.false_sharing;
    }
}

/// The threads that hold each line, and the cache-line transfers so far.
pub struct SharingShard {
    lines: Lines,
    passages: Passages,
    /// Transfers by thread and time, if asked for.
    moments: Option<TransferMoments>,
    /// The part of the lines that it looks at.
    part: WorkPart,
}

impl SharingShard {
    fn new(part: WorkPart) -> SharingShard {
        SharingShard {
            lines: Lines::default(),
            passages: Passages::default(),
            moments: None,
            part,
        }
    }

    /// Whether it looks at this line.
    #[inline]
    fn holds(&self, number: u64) -> bool {
        number & u64::from(self.part.count - 1) == u64::from(self.part.number)
    }

    /// Adds what was found of other lines.
    fn append(&mut self, other: SharingShard) {
        let by = self.lines.append(other.lines);
        self.passages.append(other.passages.moved(|line| line + by));
        if let (Some(moments), Some(more)) = (&mut self.moments, other.moments) {
            moments.append(more.moved(|line| line + by));
        }
    }

    /// Leaves out the lines that no thread took from another one, and orders the others by address. So it doesn't
    /// matter which line was found first.
    fn in_order(mut self) -> SharingShard {
        let mut lines = self.passages.lines();
        let all = self.lines.all();
        lines.sort_by_key(|line| (all[*line as usize].process, all[*line as usize].number));
        let places: HashMap<u32, u32> = lines.iter().copied().zip(0..).collect();
        self.lines.keep(&lines);
        self.passages = self.passages.moved(|line| places[&line]);
        self.moments = self.moments.map(|moments| moments.moved(|line| places[&line]));
        self
    }
}

impl Sharing {
    /// `line_bytes`: a power of two; tables have the `top` rows.
    pub fn new(program: &Program, line_bytes: u64, top: usize) -> Self {
        Sharing {
            line_bytes,
            groupings: vec![Grouping::Field, Grouping::Line],
            top,
            cycles: None,
            moments: None,
            writes: program.sites.iter().map(|site| site.kind.writes()).collect(),
        }
    }

    /// With the estimated cycles of each site: groups of sites have those, and are ranked by them.
    #[must_use]
    pub fn with_cycles(self, cycles: Option<Vec<u64>>) -> Self {
        Sharing { cycles, ..self }
    }

    /// Also counts transfers by thread and these bins of time.
    #[must_use]
    pub fn with_moments(self, moments: Option<MomentBins>) -> Self {
        Sharing { moments, ..self }
    }

    /// Tables of these groups instead of fields and lines. Kinds of access, sites and threads have none.
    pub fn grouped_by(self, groupings: Vec<Grouping>) -> Self {
        Sharing { groupings, ..self }
    }

    #[inline]
    fn access(&self, batch: &Batch, index: usize, interval: Interval) -> Access {
        let site = batch.site[index];
        Access {
            thread: batch.stream,
            site,
            writes: self.writes[site.index()],
            parts: 0,
            from_ns: interval.first_ns,
            until_ns: interval.last_ns,
        }
    }

    /// The first and the last byte of an access.
    #[inline]
    fn bytes(batch: &Batch, index: usize) -> (u64, u64) {
        let first = batch.address[index];
        (first, first.saturating_add(batch.length(index).saturating_sub(1)))
    }

    /// A few accesses: first the line is found where each begins, then what has come of it.
    #[inline]
    fn take_group(&self, shard: &mut SharingShard, batch: &Batch, group: Range<usize>, interval: Interval) {
        let mut begins = [None; GROUP];
        for (begin, index) in begins.iter_mut().zip(group.clone()) {
            let number = batch.address[index] / self.line_bytes;
            let access = self.access(batch, index, interval);
            *begin = shard
                .holds(number)
                .then(|| shard.lines.position(batch.process, number, &access));
        }
        for (mut begin, index) in begins.into_iter().zip(group) {
            let mut access = self.access(batch, index, interval);
            let (first, last) = Self::bytes(batch, index);
            for number in first / self.line_bytes..=last / self.line_bytes {
                if shard.holds(number) {
                    let find = || shard.lines.position(batch.process, number, &access);
                    let line = begin.take().unwrap_or_else(find);
                    access.parts = self.parts(number, first, last);
                    self.take(shard, line, &access, (index, interval));
                }
            }
        }
    }

    /// An access to a line, which has that position.
    #[inline]
    fn take(&self, shard: &mut SharingShard, line: u32, access: &Access, at: (usize, Interval)) {
        let Some(transfer) = shard.lines.access(line, access) else {
            return;
        };
        let passage = Passage {
            line,
            from: transfer.from_site,
            to: access.site,
            from_thread: transfer.from_thread,
            to_thread: access.thread,
        };
        shard.passages.count(passage, access.writes, &transfer);
        if let Some(moments) = &mut shard.moments {
            let mut counts = LineTransfers::default();
            counts.count(access.writes, &transfer);
            moments.count(at, &passage, &counts);
        }
    }

    /// A bit for each part of the line that lies between the two bytes.
    #[inline]
    fn parts(&self, line: u64, first_byte: u64, last_byte: u64) -> u64 {
        let part_bytes = (self.line_bytes / PARTS).max(1);
        let start = line * self.line_bytes;
        let first = first_byte.saturating_sub(start) / part_bytes;
        let last = (last_byte - start).min(self.line_bytes - 1) / part_bytes;
        u64::MAX >> (PARTS - 1 - last) & u64::MAX << first
    }
}

impl Analysis for Sharing {
    type Shard = SharingShard;

    fn order(&self) -> Order {
        Order::AcrossThreads
    }

    fn start_shard(&self) -> SharingShard {
        SharingShard {
            moments: self.moments.as_ref().map(TransferMoments::new),
            ..SharingShard::new(WorkPart::WHOLE)
        }
    }

    fn take_batch(&self, shard: &mut SharingShard, batch: &Batch) {
        if let Some(moments) = &mut shard.moments {
            moments.begin(batch);
        }
        let mut first = 0;
        for (_, interval) in batch.intervals() {
            let mut from = std::mem::replace(&mut first, interval.end) as usize;
            while from < interval.end as usize {
                let end = (from + GROUP).min(interval.end as usize);
                self.take_group(shard, batch, from..end, interval);
                from = end;
            }
        }
    }

    /// Each line's accesses are in one shard.
    fn merge(&self, into: &mut SharingShard, from: SharingShard) {
        into.append(from);
    }

    fn finish(&self, shard: SharingShard, trace: &Trace) -> Findings {
        tables::findings(
            shard.in_order(),
            trace,
            self.line_bytes,
            (&self.groupings, self.cycles.as_deref()),
            self.top,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_bytes_or_equal_shares_of_longer_lines() {
        let parts = |line_bytes, line, first, last| {
            let sharing = Sharing {
                line_bytes,
                groupings: Vec::new(),
                top: 1,
                cycles: None,
                moments: None,
                writes: Vec::new(),
            };
            sharing.parts(line, first, last)
        };
        assert_eq!(parts(64, 1, 64, 67), 0b1111);
        assert_eq!(parts(64, 1, 127, 130), 1 << 63);
        assert_eq!(parts(64, 2, 127, 130), 0b111);
        assert_eq!(parts(64, 0, 0, 1000), u64::MAX);
        assert_eq!(parts(128, 0, 2, 4), 0b110);
        assert_eq!(parts(16, 0, 15, 16), 1 << 15);
        let last = u64::MAX / 64;
        assert_eq!(parts(64, last, u64::MAX, u64::MAX), 1 << 63);
    }
}
