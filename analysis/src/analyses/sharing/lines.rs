//! Threads that have each cache line, if caches had no end.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use trackway_trace::SiteId;

use crate::model::cache::LineHash;
use crate::model::fetch_ahead::fetch;

/// Bits for the parts of a line: bytes of lines of up to 64 bytes, equal parts of longer ones.
pub(super) const PARTS: u64 = 64;

/// No sharer, no thread.
const NONE: u32 = u32::MAX;

/// What a thread did with a line. Traces have these by the million: so what follows from other fields isn't kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharer {
    pub thread: u32,
    /// Position of the line's next one in [`Lines::more`], or [`NONE`].
    next: u32,
    /// The thread's latest access took place no later.
    until_ns: u64,
    /// Number of the latest access, among those of all lines.
    at: u64,
    /// Parts that it accessed, and that it wrote, since another thread wrote the line last.
    accessed: u64,
    written: u64,
    /// Sites of the latest access, and of the latest write.
    site: SiteId,
    writer: SiteId,
    pub reads: u64,
    pub writes: u64,
}

/// A cache line and its sharers.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub process: u32,
    /// Thread that wrote last, or [`NONE`].
    writer: u32,
    pub number: u64,
    /// Most lines have one.
    first: Sharer,
}

/// An access to a line, as far as sharing goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub thread: u32,
    pub site: SiteId,
    pub writes: bool,
    /// A bit for each part of the line that it covers.
    pub parts: u64,
    /// Times between which it took place.
    pub from_ns: u64,
    pub until_ns: u64,
}

/// A line that came from another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineTransfer {
    pub from_thread: u32,
    /// What the other thread did last with the line: a write if it is read now.
    pub from_site: SiteId,
    /// Whether the two accesses were in this order for certain.
    pub certain: bool,
    /// Whether the other threads did not touch the same parts: wrote what is read, accessed what is written.
    pub is_false: bool,
    /// Threads that lose the line by a write.
    pub invalidated: u32,
}

impl Sharer {
    fn new(access: &Access) -> Sharer {
        Sharer {
            thread: access.thread,
            next: NONE,
            until_ns: 0,
            at: 0,
            accessed: 0,
            written: 0,
            site: access.site,
            writer: access.site,
            reads: 0,
            writes: 0,
        }
    }

    /// A sharer of which only counts are known.
    fn counted((thread, reads, writes): (u32, u64, u64), next: u32) -> Sharer {
        Sharer {
            thread,
            next,
            until_ns: 0,
            at: 0,
            accessed: 0,
            written: 0,
            site: SiteId::default(),
            writer: SiteId::default(),
            reads,
            writes,
        }
    }

    /// All sharers after the first ones have moved.
    fn move_next(&mut self, by: u32) {
        if self.next != NONE {
            self.next += by;
        }
    }

    #[inline]
    fn add(&mut self, access: &Access, at: u64) {
        self.at = at;
        self.until_ns = self.until_ns.max(access.until_ns);
        self.accessed |= access.parts;
        self.site = access.site;
        if access.writes {
            self.written |= access.parts;
            self.writer = access.site;
            self.writes += 1;
        } else {
            self.reads += 1;
        }
    }

    fn holds(&self) -> bool {
        self.accessed != 0
    }

    fn lose(&mut self) {
        self.accessed = 0;
        self.written = 0;
    }

    fn transfer_to(&self, access: &Access) -> LineTransfer {
        let (from_site, parts) = match access.writes {
            true => (self.site, self.accessed),
            false => (self.writer, self.written),
        };
        LineTransfer {
            from_thread: self.thread,
            from_site,
            certain: self.until_ns <= access.from_ns,
            is_false: parts & access.parts == 0,
            invalidated: u32::from(access.writes),
        }
    }
}

impl Line {
    fn new(process: u32, number: u64, access: &Access) -> Line {
        Line {
            process,
            writer: NONE,
            number,
            first: Sharer::new(access),
        }
    }

    fn sharers<'a>(&'a self, more: &'a [Sharer]) -> impl Iterator<Item = &'a Sharer> {
        std::iter::successors(Some(&self.first), |sharer| more.get(sharer.next as usize))
    }

    fn for_sharers(&mut self, more: &mut [Sharer], mut visit: impl FnMut(&mut Sharer)) {
        visit(&mut self.first);
        let mut next = self.first.next;
        while let Some(sharer) = more.get_mut(next as usize) {
            visit(sharer);
            next = sharer.next;
        }
    }

    fn sharer<'a>(&'a mut self, more: &'a mut Vec<Sharer>, access: &Access) -> &'a mut Sharer {
        if self.first.thread == access.thread {
            return &mut self.first;
        }
        let mut at = self.first.next;
        while at != NONE && more[at as usize].thread != access.thread {
            at = more[at as usize].next;
        }
        if at == NONE {
            at = more.len() as u32;
            let next = std::mem::replace(&mut self.first.next, at);
            more.push(Sharer {
                next,
                ..Sharer::new(access)
            });
        }
        &mut more[at as usize]
    }

    /// Makes the thread hold the line; returns the transfer, if the line comes from another thread.
    #[inline]
    fn access(&mut self, more: &mut Vec<Sharer>, access: &Access, at: u64) -> Option<LineTransfer> {
        let is_alone = self.first.next == NONE && self.first.thread == access.thread;
        let transfer = match (is_alone, access.writes) {
            (true, _) => None,
            (false, true) => self.taken_from_all(more, access),
            (false, false) => self.taken_from_writer(more, access),
        };
        self.sharer(more, access).add(access, at);
        if access.writes {
            self.writer = access.thread;
        }
        transfer
    }

    /// Another thread's write is read for the first time.
    fn taken_from_writer(&self, more: &[Sharer], access: &Access) -> Option<LineTransfer> {
        if self.writer == NONE || self.writer == access.thread {
            return None;
        }
        let mut sharers = self.sharers(more);
        if sharers.any(|sharer| sharer.thread == access.thread && sharer.holds()) {
            return None;
        }
        let writer = self.sharers(more).find(|sharer| sharer.thread == self.writer)?;
        Some(writer.transfer_to(access))
    }

    /// Other threads have read or written the line since this one wrote it. It comes from the one that did so last.
    fn taken_from_all(&mut self, more: &mut [Sharer], access: &Access) -> Option<LineTransfer> {
        let mut latest: Option<(u64, LineTransfer)> = None;
        let (mut certain, mut is_false, mut invalidated) = (true, true, 0);
        self.for_sharers(more, |sharer| {
            if sharer.thread == access.thread || !sharer.holds() {
                return;
            }
            let transfer = sharer.transfer_to(access);
            certain &= transfer.certain;
            is_false &= transfer.is_false;
            invalidated += transfer.invalidated;
            if latest.is_none_or(|(at, _)| sharer.at > at) {
                latest = Some((sharer.at, transfer));
            }
            sharer.lose();
        });
        latest.map(|(_, latest)| LineTransfer {
            certain,
            is_false,
            invalidated,
            ..latest
        })
    }
}

/// All lines that were ever accessed.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// All sharers but the first one of each line.
    more: Vec<Sharer>,
    /// Positions of the lines by process and number.
    positions: HashMap<(u32, u64), u32, LineHash>,
    /// Position of the line of the latest access.
    latest: u32,
    /// Accesses so far.
    count: u64,
    /// Lines that were accessed, too, but are no longer here.
    left_out: u64,
}

/// What is shown of a line and its sharers, on its way to another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedLine {
    process: u32,
    number: u64,
    /// Thread, reads, writes.
    sharers: Vec<(u32, u64, u64)>,
}

impl Lines {
    /// The line's position in [`Lines::all`]. Of several lines in turn, the processor waits for all at once.
    #[inline]
    pub fn position(&mut self, process: u32, number: u64, access: &Access) -> u32 {
        let is_latest = |line: &Line| line.number == number && line.process == process;
        if !self.lines.get(self.latest as usize).is_some_and(is_latest) {
            self.latest = self.find(process, number, access);
            let line = &self.lines[self.latest as usize];
            fetch(&line.writer);
            fetch(&line.first.writes);
        }
        self.latest
    }

    /// The cache-line transfer by an access to the line at this position, if there is one.
    #[inline]
    pub fn access(&mut self, position: u32, access: &Access) -> Option<LineTransfer> {
        self.count += 1;
        self.lines[position as usize].access(&mut self.more, access, self.count)
    }

    fn find(&mut self, process: u32, number: u64, access: &Access) -> u32 {
        *self.positions.entry((process, number)).or_insert_with(|| {
            self.lines.push(Line::new(process, number, access));
            (self.lines.len() - 1) as u32
        })
    }

    /// How many lines there were.
    pub fn count(&self) -> u64 {
        self.lines.len() as u64 + self.left_out
    }

    /// Keeps the lines of these positions only, in this order.
    pub fn keep(&mut self, positions: &[u32]) {
        let kept: Vec<Line> = positions
            .iter()
            .map(|position| self.lines[*position as usize].clone())
            .collect();
        self.left_out += (self.lines.len() - kept.len()) as u64;
        self.lines = kept;
        self.positions.clear();
        self.latest = u32::MAX;
    }

    /// Adds lines that this doesn't have; returns by how much their positions grow.
    pub fn append(&mut self, mut other: Lines) -> u32 {
        let (lines, more) = (self.lines.len() as u32, self.more.len() as u32);
        for sharer in &mut other.more {
            sharer.move_next(more);
        }
        for line in &mut other.lines {
            line.first.move_next(more);
        }
        self.lines.append(&mut other.lines);
        self.more.append(&mut other.more);
        self.left_out += other.left_out;
        self.positions.clear();
        lines
    }

    pub fn pack(&self, line: u32) -> PackedLine {
        let line = &self.lines[line as usize];
        let sharers = self.sharers(line);
        PackedLine {
            process: line.process,
            number: line.number,
            sharers: sharers
                .map(|sharer| (sharer.thread, sharer.reads, sharer.writes))
                .collect(),
        }
    }

    /// `left_out`: how many lines there were besides. None if a line has no sharer.
    pub fn unpack(lines: Vec<PackedLine>, left_out: u64) -> Option<Lines> {
        let mut unpacked = Lines {
            left_out,
            ..Lines::default()
        };
        for line in lines {
            let (&first, others) = line.sharers.split_first()?;
            let mut next = NONE;
            for other in others.iter().rev() {
                unpacked.more.push(Sharer::counted(*other, next));
                next = (unpacked.more.len() - 1) as u32;
            }
            unpacked.lines.push(Line {
                process: line.process,
                writer: NONE,
                number: line.number,
                first: Sharer::counted(first, next),
            });
        }
        Some(unpacked)
    }

    pub fn all(&self) -> &[Line] {
        &self.lines
    }

    pub fn sharers<'a>(&'a self, line: &'a Line) -> impl Iterator<Item = &'a Sharer> {
        line.sharers(&self.more)
    }
}

#[cfg(test)]
mod tests;
