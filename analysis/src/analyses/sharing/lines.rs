//! Threads that have each cache line, if caches had no end.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use trackway_trace::SiteId;

use crate::model::cache::LineHash;

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
pub(super) struct HandOver {
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

    fn hands_over(&self, access: &Access) -> HandOver {
        let (from_site, parts) = match access.writes {
            true => (self.site, self.accessed),
            false => (self.writer, self.written),
        };
        HandOver {
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

    /// Makes the thread hold the line; says whether another one had to hand it over.
    #[inline]
    fn access(&mut self, more: &mut Vec<Sharer>, access: &Access, at: u64) -> Option<HandOver> {
        let is_alone = self.first.next == NONE && self.first.thread == access.thread;
        let hand_over = match (is_alone, access.writes) {
            (true, _) => None,
            (false, true) => self.taken_from_all(more, access),
            (false, false) => self.taken_from_writer(more, access),
        };
        self.sharer(more, access).add(access, at);
        if access.writes {
            self.writer = access.thread;
        }
        hand_over
    }

    /// Another thread's write is read for the first time.
    fn taken_from_writer(&self, more: &[Sharer], access: &Access) -> Option<HandOver> {
        if self.writer == NONE || self.writer == access.thread {
            return None;
        }
        let mut sharers = self.sharers(more);
        if sharers.any(|sharer| sharer.thread == access.thread && sharer.holds()) {
            return None;
        }
        let writer = self.sharers(more).find(|sharer| sharer.thread == self.writer)?;
        Some(writer.hands_over(access))
    }

    /// Other threads have read or written the line since this one wrote it. It comes from the one that did so last.
    fn taken_from_all(&mut self, more: &mut [Sharer], access: &Access) -> Option<HandOver> {
        let mut latest: Option<(u64, HandOver)> = None;
        let (mut certain, mut is_false, mut invalidated) = (true, true, 0);
        self.for_sharers(more, |sharer| {
            if sharer.thread == access.thread || !sharer.holds() {
                return;
            }
            let hand_over = sharer.hands_over(access);
            certain &= hand_over.certain;
            is_false &= hand_over.is_false;
            invalidated += hand_over.invalidated;
            if latest.is_none_or(|(at, _)| sharer.at > at) {
                latest = Some((sharer.at, hand_over));
            }
            sharer.lose();
        });
        latest.map(|(_, latest)| HandOver {
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
    /// The line's position in [`Lines::all`], and the cache-line transfer, if there was one.
    #[inline]
    pub fn access(&mut self, process: u32, number: u64, access: &Access) -> (u32, Option<HandOver>) {
        let is_latest = |line: &Line| line.number == number && line.process == process;
        if !self.lines.get(self.latest as usize).is_some_and(is_latest) {
            self.latest = self.find(process, number, access);
        }
        self.count += 1;
        let line = &mut self.lines[self.latest as usize];
        (self.latest, line.access(&mut self.more, access, self.count))
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
mod tests {
    use super::*;

    const READ: bool = false;
    const WRITE: bool = true;

    fn access(thread: u32, writes: bool, parts: u64, from_ns: u64, until_ns: u64) -> Access {
        Access {
            thread,
            site: SiteId(thread),
            writes,
            parts,
            from_ns,
            until_ns,
        }
    }

    /// Which accesses of one line are cache-line transfers. `accesses` holds thread and kind, each in a nanosecond of
    /// its own.
    fn hand_overs(accesses: &[(u32, bool)]) -> Vec<bool> {
        let mut lines = Lines::default();
        let times = (0..).map(|index| 10 * index);
        accesses
            .iter()
            .zip(times)
            .map(|(&(thread, writes), from_ns)| {
                let (_, hand_over) = lines.access(0, 7, &access(thread, writes, 1, from_ns, from_ns + 10));
                assert!(hand_over.is_none_or(|hand_over| hand_over.certain));
                hand_over.is_some()
            })
            .collect()
    }

    #[test]
    fn one_thread_hands_nothing_over() {
        assert_eq!(
            hand_overs(&[(1, READ), (1, WRITE), (1, READ), (1, WRITE)]),
            [false; 4]
        );
    }

    #[test]
    fn reading_what_nobody_wrote_hands_nothing_over() {
        assert_eq!(hand_overs(&[(1, READ), (2, READ), (3, READ)]), [false; 3]);
    }

    #[test]
    fn each_reader_gets_a_write_once() {
        let accesses = [(1, WRITE), (2, READ), (2, READ), (3, READ), (1, READ)];
        assert_eq!(hand_overs(&accesses), [false, true, false, true, false]);
    }

    #[test]
    fn a_writer_takes_the_line_from_all_others() {
        let accesses = [
            (1, READ),
            (2, WRITE),
            (2, WRITE),
            (1, WRITE),
            (2, READ),
            (1, WRITE),
        ];
        assert_eq!(hand_overs(&accesses), [false, true, false, true, true, true]);
    }

    #[test]
    fn what_may_have_been_at_the_same_time_is_uncertain() {
        let mut lines = Lines::default();
        let mut certain = |process, thread, from_ns, until_ns| {
            let (_, hand_over) = lines.access(process, 1, &access(thread, WRITE, 1, from_ns, until_ns));
            hand_over.map(|hand_over| hand_over.certain)
        };
        assert_eq!(certain(0, 1, 0, 20), None);
        assert_eq!(certain(0, 2, 10, 30), Some(false));
        assert_eq!(certain(0, 1, 30, 40), Some(true));
        assert_eq!(certain(1, 3, 50, 60), None, "another process");
    }

    #[test]
    fn sharing_is_false_where_threads_touch_other_parts() {
        let mut lines = Lines::default();
        let mut take = |thread, writes, parts, time| {
            let (_, hand_over) = lines.access(0, 1, &access(thread, writes, parts, time, time + 1));
            hand_over.map(|hand_over| (hand_over.is_false, hand_over.from_thread))
        };
        assert_eq!(take(1, WRITE, 0b0001, 0), None);
        assert_eq!(take(2, WRITE, 0b0010, 1), Some((true, 1)));
        assert_eq!(take(1, WRITE, 0b0001, 2), Some((true, 2)));
        assert_eq!(take(2, READ, 0b0011, 3), Some((false, 1)));
        assert_eq!(take(3, READ, 0b1000, 4), Some((true, 1)));
        // Thread 3 read what is written now, and was the last to access the line.
        assert_eq!(take(4, WRITE, 0b1000, 5), Some((false, 3)));
    }

    #[test]
    fn a_write_invalidates_the_line_of_all_that_have_it() {
        let mut lines = Lines::default();
        let mut take = |thread, writes| {
            let (_, hand_over) = lines.access(0, 1, &access(thread, writes, 1, 0, 1));
            hand_over.map(|hand_over| hand_over.invalidated)
        };
        assert_eq!(take(1, WRITE), None);
        assert_eq!(take(2, READ), Some(0));
        assert_eq!(take(3, READ), Some(0));
        assert_eq!(take(2, WRITE), Some(2), "threads 1 and 3");
        assert_eq!(take(3, WRITE), Some(1), "thread 2 alone");
    }

    /// What `access` takes, by the definition, given all earlier accesses of the line: certain, false.
    fn naive(earlier: &[Access], access: &Access) -> Option<(bool, bool)> {
        let lost_at = |thread: u32| {
            let by_another = |other: &Access| other.writes && other.thread != thread;
            earlier
                .iter()
                .rposition(by_another)
                .map_or(0, |position| position + 1)
        };
        let had = |thread: u32, only_writes: bool| {
            let since = &earlier[lost_at(thread)..];
            let own = since.iter().filter(move |other| other.thread == thread);
            own.filter(move |other| other.writes || !only_writes)
        };
        let from: Vec<u32> = if access.writes {
            (0..4)
                .filter(|thread| *thread != access.thread && had(*thread, false).count() > 0)
                .collect()
        } else {
            let writer = earlier
                .iter()
                .rfind(|other| other.writes)
                .map(|write| write.thread);
            let taken = had(access.thread, false).count() == 0;
            writer
                .filter(|writer| *writer != access.thread && taken)
                .into_iter()
                .collect()
        };
        let is_certain = |thread: &u32| {
            let own = earlier.iter().filter(|other| other.thread == *thread);
            own.map(|other| other.until_ns).max() <= Some(access.from_ns)
        };
        let overlaps =
            |thread: &u32| had(*thread, !access.writes).any(|other| other.parts & access.parts != 0);
        (!from.is_empty()).then(|| (from.iter().all(is_certain), !from.iter().any(overlaps)))
    }

    proptest::proptest! {
        #[test]
        fn hand_overs_are_those_of_the_definition(
            steps in proptest::collection::vec((0u32..4, proptest::bool::ANY, 1u64..16, 0u64..40), 1..60)
        ) {
            let mut lines = Lines::default();
            let mut earlier = Vec::new();
            for (time, (thread, writes, parts, length)) in (0..).zip(steps) {
                let access = access(thread, writes, parts, 10 * time, 10 * time + length);
                let (_, found) = lines.access(1, 2, &access);
                let found = found.map(|hand_over| (hand_over.certain, hand_over.is_false));
                proptest::prop_assert_eq!(found, naive(&earlier, &access));
                earlier.push(access);
            }
        }
    }
}
