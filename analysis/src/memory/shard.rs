//! Follows blocks through the accesses.

use std::ops::Range;

use trackway_trace::{AllocationSiteId, Batch, Event, Trace};

use super::curve::{Amount, Curve};
use super::site_totals::{Life, SiteTotals};
use crate::blocks::{Block, End, Inherit, Place, Places, Processes, Thread, Witness};
use crate::moments::{ChunkTimes, Clock, TimeBins};

/// Numbers of what is no block's slot.
const STATIC: u32 = u32::MAX;
const STACK: u32 = u32::MAX - 1;
const OTHER: u32 = u32::MAX - 2;

/// What was found until now.
pub struct MemoryShard {
    pub(super) ledger: Ledger,
    pub(super) outside: Outside,
    processes: Processes<Life>,
    clock: Clock,
}

/// Accesses to no block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Outside {
    pub statics: u64,
    pub stacks: u64,
    pub other: u64,
}

/// The most memory that was live at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Peak {
    pub live: Amount,
    pub time_ns: u64,
    /// Peaks before it.
    number: u64,
}

/// Released blocks by how long they lived.
pub(super) const LIFETIMES: usize = 65;

/// The account of all allocations.
#[derive(Debug, Clone)]
pub(super) struct Ledger {
    pub sites: Vec<SiteTotals>,
    pub live: Amount,
    pub peak: Peak,
    pub curve: Curve,
    /// By the number of binary digits of the accesses in between.
    pub lifetimes: [Amount; LIFETIMES],
    pub unknown_releases: u64,
    /// Accesses of the trace until now.
    pub accesses: u64,
    /// When the present event takes place.
    time_ns: u64,
    short_life: u64,
}

impl MemoryShard {
    pub fn new(trace: &Trace, bins: TimeBins, short_life: u64) -> Self {
        MemoryShard {
            ledger: Ledger {
                sites: vec![SiteTotals::default(); trace.program().allocation_sites.len()],
                live: Amount::default(),
                peak: Peak::default(),
                curve: Curve::new(bins),
                lifetimes: [Amount::default(); LIFETIMES],
                unknown_releases: 0,
                accesses: 0,
                time_ns: 0,
                short_life,
            },
            outside: Outside::default(),
            processes: Processes::new(trace),
            clock: Clock::default(),
        }
    }

    pub fn take(&mut self, times: &ChunkTimes, local: &[bool], batch: &Batch) {
        let position = self.clock.advance(times, batch);
        let (places, thread) = self.processes.of(batch);
        let mut counting = Counting {
            local,
            batch,
            places,
            thread,
            outside: &mut self.outside,
        };
        let before = self.ledger.accesses;
        let mut next = 0;
        for mark in &batch.marks {
            let event = batch.event(*mark);
            if let Event::Enter(_) | Event::Exit(_) | Event::Order { .. } = event {
                continue;
            }
            let end = mark.before as usize;
            counting.accesses(next..end);
            next = next.max(end);
            self.ledger.accesses = before + end as u64;
            self.ledger.time_ns = position.time_of(end);
            let heap = &mut counting.places.heap;
            heap.apply(&event, batch.stream, &mut self.ledger);
        }
        counting.accesses(next..batch.len());
        self.ledger.accesses = before + batch.len() as u64;
    }

    /// Settles what is still live.
    pub fn finish(&mut self) {
        for (block, life) in self.processes.heaps().flat_map(|heap| heap.live()) {
            self.ledger.settle(block, life);
            if !block.inherited {
                self.ledger.sites[block.site.index()]
                    .never_released
                    .add(block.bytes);
            }
        }
        let peak = self.ledger.peak.number;
        self.ledger.sites.iter_mut().for_each(|site| site.save(peak));
        self.ledger.curve.finish();
    }

    pub fn is_empty(&self) -> bool {
        self.ledger.accesses == 0 && self.ledger.peak == Peak::default()
    }
}

/// A batch whose accesses go to blocks.
struct Counting<'c> {
    local: &'c [bool],
    batch: &'c Batch,
    places: &'c mut Places<Life>,
    thread: &'c mut Thread,
    outside: &'c mut Outside,
}

impl Counting<'_> {
    /// First finds the thread's stack.
    fn accesses(&mut self, range: Range<usize>) {
        let on_stack = self
            .thread
            .first_on_stack(self.places, self.local, self.batch, range.clone());
        if let Some(index) = on_stack {
            self.count(range.start..index);
            self.thread.take_stack(self.places, self.batch, index);
            return self.count(index..range.end);
        }
        self.count(range);
    }

    fn count(&mut self, range: Range<usize>) {
        for index in range {
            let (site, address) = (self.batch.site[index], self.batch.address[index]);
            let what = match self.thread.spots.find(&self.places.heap, site, address) {
                Some(what) => what,
                None => self.find(index),
            };
            match what {
                STATIC => self.outside.statics += 1,
                STACK => self.outside.stacks += 1,
                OTHER => self.outside.other += 1,
                slot => {
                    let life = self.places.heap.data(slot);
                    life.accesses += 1;
                    life.accessed_bytes = life.accessed_bytes.saturating_add(self.batch.length(index));
                }
            }
        }
    }

    #[inline(never)]
    fn find(&mut self, index: usize) -> u32 {
        let stretch = self.places.find(self.batch.address[index]);
        let what = match stretch.place {
            Place::Block(slot) => slot,
            Place::Static(_) => STATIC,
            Place::Stack(_) => STACK,
            Place::Other => OTHER,
        };
        let site = self.batch.site[index];
        self.thread
            .spots
            .remember(&self.places.heap, site, &stretch, what);
        what
    }
}

impl Inherit for Life {
    /// The parent's accesses are the parent's.
    fn inherited(&self) -> Life {
        Life::default()
    }
}

impl Ledger {
    /// A block's accesses go to its site.
    fn settle(&mut self, block: &Block, life: &Life) {
        let site = &mut self.sites[block.site.index()];
        site.add_life(life);
        if life.accesses == 0 && !block.inherited {
            site.never_accessed.add(block.bytes);
        }
    }

    fn release(&mut self, block: &Block, life: &Life) {
        let lived = self.accesses.saturating_sub(life.begin);
        let site = &mut self.sites[block.site.index()];
        site.released += 1;
        site.lived_accesses += u128::from(lived);
        site.lived_ns += u128::from(self.time_ns.saturating_sub(life.begin_ns));
        if lived < self.short_life {
            site.short_lived.add(block.bytes);
        }
        self.lifetimes[(u64::BITS - lived.leading_zeros()) as usize].add(block.bytes);
    }
}

impl Witness<Life> for Ledger {
    fn begins(&mut self, block: &Block) -> Life {
        let site = &mut self.sites[block.site.index()];
        site.allocated.add(block.bytes);
        site.save(self.peak.number);
        site.live.add(block.bytes);
        self.live.add(block.bytes);
        if self.live.bytes > self.peak.live.bytes {
            self.peak = Peak {
                live: self.live,
                time_ns: self.time_ns,
                number: self.peak.number + 1,
            };
        }
        self.curve.allocated(self.time_ns, self.live);
        Life {
            begin: self.accesses,
            begin_ns: self.time_ns,
            ..Life::default()
        }
    }

    fn ends(&mut self, block: &Block, life: &Life, end: End) {
        self.settle(block, life);
        if block.inherited {
            return;
        }
        match end {
            End::Overlapped => self.sites[block.site.index()].overlapped += 1,
            End::Freed | End::Reallocated => self.release(block, life),
        }
        let site = &mut self.sites[block.site.index()];
        site.save(self.peak.number);
        site.live.remove(block.bytes);
        self.live.remove(block.bytes);
        self.curve.released(self.time_ns, self.live);
    }

    fn fails(&mut self, site: AllocationSiteId) {
        self.sites[site.index()].failed += 1;
    }

    fn frees_nothing(&mut self, _: AllocationSiteId) {
        self.unknown_releases += 1;
    }
}
