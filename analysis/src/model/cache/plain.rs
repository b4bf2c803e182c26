//! Successive plain levels: LRU, write-back, write-allocate, non-inclusive, of one core.
//!
//! No such level depends on those after it. It is asked for lines, or given back changed ones, whatever becomes of its
//! own misses. So the first level runs ahead. Each further level takes the requests of the one before as a list, and
//! knows early which sets it will need.

use super::plain_sets::{PlainSets, Taken};
use super::{Caches, Outcome, Simulation, Totals};

/// More sets than first levels have.
const MOST_RESIDUE_BITS: u32 = 8;
/// Stands for the absence of a remembered line.
const NO_LINE: u64 = u64::MAX;
/// Number of first-level requests that are handed on together. They fit into the host's first-level cache.
const MOST_REQUESTS: usize = 512;
/// A set is prefetched this many requests ahead.
const AHEAD: usize = 12;

/// The levels, empty at first. `docs/verbs/cache-model.md` defines what happens in them.
#[derive(Debug, Clone)]
pub(crate) struct PlainLevels {
    first: Level,
    /// The outer levels.
    outer: Vec<Level>,
    /// Latest line of each residue of first-level lines; its lowest bit says whether the line is known to be dirty.
    /// Using that line again changes nothing. A residue has the lines of whole sets.
    latest: Vec<u64>,
    /// What the first level has asked for and was not given yet.
    requests: Vec<Request>,
    /// What other levels ask for. Empty.
    further_requests: Vec<Request>,
    /// Totals without lookups.
    totals: Totals,
}

#[derive(Debug, Clone)]
struct Level {
    lines: PlainSets,
    line_bytes: u64,
    /// Logarithm of a line in lines of the first level.
    shift: u32,
}

/// Number of residues, a power of two; lines of a set have the same residue.
pub(super) fn residues(sets: u64) -> usize {
    1 << sets.trailing_zeros().min(MOST_RESIDUE_BITS)
}

/// What a level asks of the next one.
#[derive(Debug, Clone, Copy)]
struct Request {
    /// Number of the line, in lines of the first level.
    line: u64,
    /// Owner for which a line is fetched. For a line that is written back, [`WRITTEN_BACK`] and the level that it left.
    what: u32,
}

const WRITTEN_BACK: u32 = 1 << 31;

impl Request {
    fn fetch(line: u64, owner: u32) -> Request {
        let what = owner & !WRITTEN_BACK;
        Request { line, what }
    }

    fn write_back(line: u64, level: usize) -> Request {
        let what = WRITTEN_BACK | level as u32;
        Request { line, what }
    }

    /// The owner or, for a line that is written back, the level.
    #[inline(always)]
    fn meaning(self) -> Result<u32, usize> {
        match self.what & WRITTEN_BACK {
            0 => Ok(self.what),
            _ => Err((self.what & !WRITTEN_BACK) as usize),
        }
    }
}

impl PlainLevels {
    /// `caches` must have at least one level.
    pub fn new(caches: &Caches) -> PlainLevels {
        let first_bytes = caches.levels()[0].geometry.line_bytes;
        let mut levels = caches.levels().iter().map(|level| Level {
            lines: PlainSets::new(level.geometry),
            line_bytes: level.geometry.line_bytes.into(),
            shift: level.geometry.line_bytes.trailing_zeros() - first_bytes.trailing_zeros(),
        });
        let first = levels.next();
        PlainLevels {
            first: first.unwrap_or_else(|| unreachable!("no levels")),
            outer: levels.collect(),
            latest: vec![NO_LINE; residues(caches.levels()[0].geometry.sets())],
            requests: Vec::new(),
            further_requests: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// Runs an access through the first level, and perhaps earlier ones through the others. Calls `count` with the
    /// misses of an owner, which is a number below 2^31, in a level.
    #[inline(always)]
    pub fn use_bytes(
        &mut self,
        owner: u32,
        address: u64,
        length: u64,
        is_write: bool,
        count: impl FnMut(u32, usize),
    ) {
        let end = address.saturating_add(length.wrapping_sub(1));
        let shift = self.first.line_bytes.trailing_zeros();
        let (first, last) = (address >> shift, end >> shift);
        if first == last && length > 0 {
            self.use_line(owner, first, is_write, count);
        } else if length > 0 {
            self.use_lines(owner, first..=last, is_write, count);
        }
    }

    #[cold]
    fn use_lines(
        &mut self,
        owner: u32,
        lines: std::ops::RangeInclusive<u64>,
        is_write: bool,
        mut count: impl FnMut(u32, usize),
    ) {
        for line in lines {
            self.use_line(owner, line, is_write, &mut count);
        }
    }

    #[inline(always)]
    fn use_line(&mut self, owner: u32, line: u64, is_write: bool, count: impl FnMut(u32, usize)) {
        let residue = line as usize & (self.latest.len() - 1);
        let latest = &mut self.latest[residue];
        // 0 or, if it may be clean, 1.
        let difference = *latest ^ (line << 1 | 1);
        if difference <= u64::from(!is_write) {
            return;
        }
        *latest = line << 1 | u64::from(is_write);
        let taken = self.first.lines.take(line, is_write);
        if taken == Taken::Hit {
            return;
        }
        self.totals.levels[0].misses += 1;
        self.requests.push(Request::fetch(line, owner));
        if let Taken::MissForDirty(gone) = taken {
            self.totals.levels[0].write_backs += 1;
            self.requests.push(Request::write_back(gone, 0));
        }
        if self.requests.len() >= MOST_REQUESTS {
            self.settle(count);
        }
    }

    /// Runs what is on its way through the further levels.
    #[inline(never)]
    pub fn settle(&mut self, mut count: impl FnMut(u32, usize)) {
        for index in 0..self.outer.len() {
            self.settle_level(index + 1, &mut count);
            std::mem::swap(&mut self.requests, &mut self.further_requests);
            self.further_requests.clear();
        }
        let last = self.outer.last().unwrap_or(&self.first);
        for request in self.requests.drain(..) {
            match request.meaning() {
                Ok(owner) => {
                    count(owner, self.outer.len());
                    self.totals.traffic.bytes_read += last.line_bytes;
                }
                Err(0) => self.totals.traffic.bytes_written += self.first.line_bytes,
                Err(level) => self.totals.traffic.bytes_written += self.outer[level - 1].line_bytes,
            }
        }
    }

    /// What the level before has asked for; what this one doesn't have, it asks for in turn.
    #[inline(always)]
    fn settle_level(&mut self, number: usize, count: &mut impl FnMut(u32, usize)) {
        let level = &mut self.outer[number - 1];
        let totals = &mut self.totals.levels[number];
        let further = &mut self.further_requests;
        for (index, request) in self.requests.iter().enumerate() {
            if let Some(later) = self.requests.get(index + AHEAD) {
                level.lines.announce(later.line >> level.shift);
            }
            let line = request.line >> level.shift;
            match request.meaning() {
                Ok(owner) => {
                    count(owner, number - 1);
                    let taken = level.lines.take(line, false);
                    if taken != Taken::Hit {
                        totals.misses += 1;
                        further.push(*request);
                    }
                    if let Taken::MissForDirty(gone) = taken {
                        totals.write_backs += 1;
                        further.push(Request::write_back(gone << level.shift, number));
                    }
                }
                Err(_) if level.lines.write(line) => {}
                Err(_) => further.push(*request),
            }
        }
    }
}

impl Simulation for PlainLevels {
    #[inline(always)]
    fn changes(&self) -> u64 {
        self.totals.levels[0].misses
    }

    /// To be called after [`PlainLevels::settle`], or [`Simulation::access`].
    fn totals(&self) -> Totals {
        let mut totals = self.totals;
        for level in 1..=self.outer.len() {
            totals.levels[level].lookups = totals.levels[level - 1].misses;
        }
        totals
    }

    /// Caches whose lines others replace aren't plain.
    fn set_time(&mut self, _: f64) {}

    fn is_shared(&self) -> bool {
        false
    }

    fn core_of(&mut self, _: u32) -> usize {
        0
    }

    #[inline(always)]
    fn access(
        &mut self,
        _: usize,
        _: usize,
        address: u64,
        length: u64,
        is_write: bool,
        outcome: &mut Outcome,
    ) {
        let mut count = |_, level: usize| outcome.misses[level] += 1;
        self.use_bytes(0, address, length, is_write, &mut count);
        if !self.requests.is_empty() {
            self.settle(count);
        }
    }
}
