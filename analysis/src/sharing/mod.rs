//! Cache lines that threads take from each other.

mod lines;
mod matrix;
mod tables;

use std::collections::HashMap;
use std::ops::AddAssign;

use trackway_trace::{Batch, Program, Trace};

use crate::{Analysis, Findings, Order};
use lines::{Access, HandOver, Lines};
use matrix::{Taking, ThreadPair};

/// Counts how often cache lines go from thread to thread, by the place that takes them.
#[derive(Debug, Clone)]
pub struct Sharing {
    line_bytes: u64,
    top: usize,
    /// By site: whether it writes.
    writes: Vec<bool>,
}

/// What a site, or a group of sites, took from other threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandOvers {
    /// Lines that another thread wrote, and that were read.
    pub reads: u64,
    /// Lines that other threads accessed, and that were written.
    pub writes: u64,
    /// Those of both whose order is certain.
    pub certain: u64,
}

impl HandOvers {
    fn one(writes: bool, hand_over: HandOver) -> HandOvers {
        HandOvers {
            reads: u64::from(!writes),
            writes: u64::from(writes),
            certain: u64::from(hand_over.certain),
        }
    }

    pub fn all(&self) -> u64 {
        self.reads + self.writes
    }
}

impl AddAssign<&HandOvers> for HandOvers {
    fn add_assign(&mut self, other: &HandOvers) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.certain += other.certain;
    }
}

/// Who holds which line, and what was handed over so far.
pub struct SharingShard {
    lines: Lines,
    sites: Vec<HandOvers>,
    /// What each thread took of each line, at each site.
    takes: HashMap<Taking, HandOvers>,
    /// What each thread took from each other.
    pairs: HashMap<ThreadPair, HandOvers>,
}

impl Sharing {
    /// `line_bytes`: a power of two; tables have the `top` rows.
    pub fn new(program: &Program, line_bytes: u64, top: usize) -> Self {
        Sharing {
            line_bytes,
            top,
            writes: program.sites.iter().map(|site| site.kind.writes()).collect(),
        }
    }

    fn take(&self, shard: &mut SharingShard, batch: &Batch, index: usize) {
        let (site, address) = (batch.site[index], batch.address[index]);
        let access = Access {
            thread: batch.stream,
            writes: self.writes[site.index()],
            from_ns: batch.first_ns,
            until_ns: batch.last_ns,
        };
        let last = address.saturating_add(batch.length(index).saturating_sub(1));
        for number in address / self.line_bytes..=last / self.line_bytes {
            if let Some(hand_over) = shard.lines.access(batch.process, number, access) {
                let counts = HandOvers::one(access.writes, hand_over);
                shard.sites[site.index()] += &counts;
                let taking = Taking {
                    process: batch.process,
                    line: number,
                    site,
                    to: batch.stream,
                };
                *shard.takes.entry(taking).or_default() += &counts;
                let pair = ThreadPair {
                    from: hand_over.from,
                    to: batch.stream,
                };
                *shard.pairs.entry(pair).or_default() += &counts;
            }
        }
    }
}

impl Analysis for Sharing {
    type Shard = SharingShard;

    fn order(&self) -> Order {
        Order::AcrossThreads
    }

    fn start_shard(&self) -> SharingShard {
        SharingShard {
            lines: Lines::default(),
            sites: vec![HandOvers::default(); self.writes.len()],
            takes: HashMap::new(),
            pairs: HashMap::new(),
        }
    }

    fn take_batch(&self, shard: &mut SharingShard, batch: &Batch) {
        for index in 0..batch.len() {
            self.take(shard, batch, index);
        }
    }

    /// All accesses are in one shard; the other has none.
    fn merge(&self, into: &mut SharingShard, from: SharingShard) {
        if into.lines.len() == 0 {
            *into = from;
        }
    }

    fn finish(&self, shard: SharingShard, trace: &Trace) -> Findings {
        tables::findings(&shard, trace, self.line_bytes, self.top)
    }
}
