//! The time that a program would take with each of some edits.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use trackway_trace::{Batch, BatchItem, Event, Lane, LongBlock, Piece, Program, SiteId, Trace};

use super::{Edit, Rewrite};
use crate::analyses::whatif::{order_of, Simulations};
use crate::engine::Observer;
use crate::model::cache::Caches;
use crate::model::site_counts::{stores, SiteCounters};
use crate::model::time::{Machine, TimedSites};
use crate::{Analysis, Findings, Order, WorkPart};

/// Rewritten accesses are passed on when there are so many.
const MOST_REWRITTEN: usize = 1 << 14;
const MOST_RUNS: usize = 1 << 10;

/// Gives each access of a piece, in their order: site, address and bytes.
#[inline]
pub(super) fn each_access(batch: &Batch, piece: Piece, mut take: impl FnMut((SiteId, u64, u64))) {
    match piece {
        Piece::Accesses(range) => {
            range.for_each(|index| take((batch.site[index], batch.address[index], batch.length(index))));
        }
        Piece::Run(run) => {
            for iteration in 0..run.count {
                for lane in batch.lanes(run) {
                    take((lane.site, lane.address_in(iteration), lane.size.into()));
                }
            }
        }
    }
}

/// Where rewritten accesses go.
pub(super) struct Output<'o> {
    batch: &'o mut Batch,
    simulations: &'o mut Simulations,
}

impl Output<'_> {
    /// What follows is of this batch's thread.
    fn begin_like(&mut self, from: &Batch) {
        self.batch.process = from.process;
        self.batch.stream = from.stream;
        (self.batch.first_ns, self.batch.last_ns) = (from.first_ns, from.last_ns);
    }

    #[inline]
    pub fn access(&mut self, site: SiteId, address: u64, length: u64) {
        let size = u32::try_from(length).unwrap_or(u32::MAX);
        if size == u32::MAX {
            self.batch.long_blocks.push(LongBlock {
                index: self.batch.address.len() as u32,
                length,
            });
        }
        self.batch.site.push(site);
        self.batch.address.push(address);
        self.batch.size.push(size);
        if self.batch.len() >= MOST_REWRITTEN {
            self.pass_on();
        }
    }

    /// Accesses of a loop.
    pub fn run(&mut self, lanes: &[Lane], count: u64) {
        let before = self.batch.len() as u32;
        self.batch.push_run(before, lanes.iter().copied(), count);
        if self.batch.runs.len() >= MOST_RUNS {
            self.pass_on();
        }
    }

    /// Passes an event on, of which the model of time wants to know calls of functions and of the allocator. Those outside
    /// of the slice take no time.
    #[inline]
    pub fn event(&mut self, event: Event, is_inside: bool) {
        if is_inside {
            self.batch.push(event);
        }
    }

    /// The accesses that an item of [`Batch::all_items_of_slice`] stands for, if it is no event. Events are passed on.
    #[inline]
    pub fn accesses_of<'b>(&mut self, (item, is_inside): (BatchItem<'b>, bool)) -> Option<Piece<'b>> {
        match item {
            BatchItem::Accesses(piece) => Some(piece),
            BatchItem::Event(event) => {
                self.event(event, is_inside);
                None
            }
        }
    }

    fn pass_on(&mut self) {
        self.simulations.take(self.batch);
        self.batch.clear();
    }
}

/// Sites that a program doesn't have: a load, a store and a prefetch whose addresses are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainSites {
    pub load: SiteId,
    pub store: SiteId,
    pub prefetch: SiteId,
}

impl PlainSites {
    /// They come after the program's own, as those of [`TimedSites::with_pointers`] and [`TimedSites::with_prefetch`].
    pub fn of(program: &Program) -> PlainSites {
        let count = program.sites.len() as u32;
        PlainSites {
            load: SiteId(count),
            store: SiteId(count + 1),
            prefetch: SiteId(count + 2),
        }
    }
}

/// Simulates each edit alone, all in one pass. Returns the program's counters with each, or why it can't be made.
pub(super) fn simulate(
    edits: &[Edit],
    machine: &Arc<Machine>,
    trace: &Trace,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Vec<Result<SiteCounters, String>> {
    if edits.is_empty() {
        return Vec::new();
    }
    let all = Simulated {
        edits,
        machine,
        trace,
        found: Mutex::default(),
    };
    crate::run(&all, trace, threads, observer);
    all.found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Simulated<'s> {
    edits: &'s [Edit],
    machine: &'s Arc<Machine>,
    trace: &'s Trace,
    found: Mutex<Vec<Result<SiteCounters, String>>>,
}

/// An edit that is being simulated.
struct One {
    number: usize,
    rewrite: Box<dyn Rewrite>,
    simulations: Simulations,
    batch: Batch,
    has_begun: bool,
}

impl One {
    fn take(&mut self, batch: &Batch) {
        self.has_begun = true;
        if self.rewrite.is_refused() {
            return;
        }
        self.with_output(|rewrite, output| {
            output.begin_like(batch);
            rewrite.take(batch, output);
            output.pass_on();
        });
    }

    fn end(&mut self) {
        self.with_output(|rewrite, output| {
            rewrite.end(output);
            output.pass_on();
        });
    }

    fn with_output(&mut self, then: impl FnOnce(&mut dyn Rewrite, &mut Output)) {
        let mut output = Output {
            batch: &mut self.batch,
            simulations: &mut self.simulations,
        };
        then(self.rewrite.as_mut(), &mut output);
    }
}

impl Analysis for Simulated<'_> {
    /// The edits of a part.
    type Shard = Vec<One>;

    fn order(&self) -> Order {
        order_of(self.trace)
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn start_shard(&self) -> Vec<One> {
        self.start_part(WorkPart::WHOLE)
    }

    fn most_parts(&self) -> u32 {
        1 << self.edits.len().max(1).ilog2()
    }

    fn divides_merged(&self) -> bool {
        true
    }

    fn start_part(&self, part: WorkPart) -> Vec<One> {
        let program = self.trace.program();
        let own = (part.number as usize..self.edits.len()).step_by(part.count as usize);
        own.map(|number| {
            let mut simulations = Simulations::new(&Caches::none(), Some(self.machine));
            simulations.take_sites(stores_with_plain(program), || {
                TimedSites::of(program).with_pointers().with_prefetch()
            });
            One {
                number,
                rewrite: (self.edits[number].rewriting)(),
                simulations,
                batch: Batch::default(),
                has_begun: false,
            }
        })
        .collect()
    }

    fn take_batch(&self, shard: &mut Vec<One>, batch: &Batch) {
        shard.iter_mut().for_each(|one| one.take(batch));
    }

    /// One shard of each part took all batches.
    fn merge(&self, into: &mut Vec<One>, from: Vec<One>) {
        for one in from {
            match into.iter_mut().find(|known| known.number == one.number) {
                Some(known) if known.has_begun => (),
                Some(known) => *known = one,
                None => into.push(one),
            }
        }
    }

    fn finish(&self, mut shard: Vec<One>, trace: &Trace) -> Findings {
        shard.sort_by_key(|one| one.number);
        let counters = shard.into_iter().map(|mut one| {
            one.end();
            let caches = one.simulations.finish(stores_with_plain(trace.program()));
            let sum = SiteCounters::sum(&caches.counters());
            one.rewrite.objection().map_or(Ok(sum), Err)
        });
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = counters.collect();
        Findings::default()
    }
}

/// Whether each site stores, those of [`PlainSites`] among them.
fn stores_with_plain(program: &Program) -> Vec<bool> {
    let sites = program.sites.iter().map(|site| stores(site.kind));
    sites.chain([false, true, false]).collect()
}

#[cfg(test)]
mod tests;
