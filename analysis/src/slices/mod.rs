//! When functions ran, and what threads accessed over time.

mod bins;
mod clock;
mod kept;
mod tables;

use std::collections::BTreeMap;
use std::ops::Range;

use trackway_trace::{Batch, Event, Program, Trace};

use crate::cache::{with_form, Caches, Outcome, Simulation, Simulator, MAX_LEVELS};
use crate::calls::{Stack, Tree};
use crate::{Analysis, Findings, Order};
use bins::Bins;
use clock::Clock;
use kept::{KeptSlices, Slice};

/// Accesses, then the misses of each level.
const COUNTS: usize = 1 + MAX_LEVELS;
/// Parts of the recording's time.
const BINS: usize = 1000;

/// Follows the functions of each thread through time.
#[derive(Debug, Clone)]
pub struct Slices {
    caches: Caches,
    most: usize,
    time_ns: Range<u64>,
}

impl Slices {
    /// Keeps the `most` longest slices. Each thread has caches of its own.
    pub fn new(trace: &Trace, caches: Caches, most: usize) -> Slices {
        let chunks = || trace.streams().iter().flat_map(|stream| &stream.chunks);
        let begin = chunks().map(|chunk| chunk.header.first_ns).min().unwrap_or(0);
        let end = chunks().map(|chunk| chunk.header.last_ns).max().unwrap_or(0);
        Slices {
            caches: caches.all_private(),
            most,
            time_ns: begin..end.max(begin),
        }
    }
}

/// A function came to the top of the stack, or some left it.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Accesses of the chunk before it.
    access: u64,
    depth: usize,
    entered: Option<u32>,
}

/// A thread on its way. Times are known when a chunk has ended: until then its steps are kept.
struct Thread {
    stack: Stack,
    tree: Tree,
    process: u32,
    stream: u32,
    sequence: Option<u64>,
    last_ns: u64,
    accesses: u64,
    clock: Clock,
    steps: Vec<Step>,
    /// Accesses of the chunk, and what they came to.
    counted: Vec<(Range<u64>, [u64; COUNTS])>,
    /// Functions on the stack, and since when.
    open: Vec<(u32, u64)>,
    bins: Bins<COUNTS>,
}

/// Threads, and the slices that were kept so far.
pub struct SlicesShard {
    simulator: Option<Simulator>,
    /// By site: its function, and whether it writes.
    sites: Vec<(u32, bool)>,
    threads: BTreeMap<u32, Thread>,
    kept: KeptSlices,
}

impl Thread {
    fn new(batch: &Batch, time_ns: &Range<u64>) -> Thread {
        Thread {
            stack: Stack::default(),
            tree: Tree::new(),
            process: batch.process,
            stream: batch.stream,
            sequence: None,
            last_ns: 0,
            accesses: 0,
            clock: Clock::default(),
            steps: Vec::new(),
            counted: Vec::new(),
            open: Vec::new(),
            bins: Bins::new(time_ns.clone(), BINS),
        }
    }

    fn take(&mut self, batch: &Batch, sites: &[(u32, bool)], kept: &mut KeptSlices) {
        if self.sequence != Some(batch.sequence) {
            self.end_chunk(kept);
            self.sequence = Some(batch.sequence);
            self.clock.add(0, batch.first_ns);
        }
        self.last_ns = batch.last_ns;
        let mut next = 0;
        for &mark in &batch.marks {
            let access = self.accesses + u64::from(mark.before);
            self.pass_accesses(batch, sites, next..mark.before as usize);
            next = mark.before as usize;
            match batch.event(mark) {
                Event::Enter(function) => {
                    self.change(access, |stack, tree| stack.enter(function.0, tree));
                }
                Event::Exit(function) => self.change(access, |stack, _| stack.exit(function.0)),
                Event::Order { time_ns, .. } => self.clock.add(access, time_ns.min(batch.last_ns)),
                _ => {}
            }
        }
        self.pass_accesses(batch, sites, next..batch.len());
        self.accesses += batch.len() as u64;
    }

    /// Says to the stack which functions access memory.
    fn pass_accesses(&mut self, batch: &Batch, sites: &[(u32, bool)], range: Range<usize>) {
        for index in range {
            let (function, _) = sites[batch.site[index].index()];
            if self.stack.top() != Some(function) {
                let access = self.accesses + index as u64;
                self.change(access, |stack, tree| stack.settle(function, tree));
            }
        }
    }

    fn change(&mut self, access: u64, change: impl FnOnce(&mut Stack, &mut Tree)) {
        let before = self.stack.depth();
        change(&mut self.stack, &mut self.tree);
        let depth = self.stack.depth();
        if depth != before {
            let entered = self.stack.top().filter(|_| depth > before);
            self.steps.push(Step {
                access,
                depth,
                entered,
            });
        }
    }

    /// Gives the chunk's steps and counts their times.
    fn end_chunk(&mut self, kept: &mut KeptSlices) {
        self.clock.add(self.accesses, self.last_ns);
        for step in std::mem::take(&mut self.steps) {
            let time_ns = self.clock.time_of(step.access);
            match step.entered {
                Some(function) => self.open.push((function, time_ns)),
                None => self.close(step.depth, time_ns, kept),
            }
        }
        for (accesses, counts) in std::mem::take(&mut self.counted) {
            let (begin, end) = (
                self.clock.time_of(accesses.start),
                self.clock.time_of(accesses.end),
            );
            self.bins.add(begin..end, counts);
        }
        self.clock.clear();
        self.accesses = 0;
    }

    fn close(&mut self, depth: usize, time_ns: u64, kept: &mut KeptSlices) {
        while self.open.len() > depth {
            let Some((function, begin_ns)) = self.open.pop() else {
                return;
            };
            kept.add(Slice {
                process: self.process,
                stream: self.stream,
                depth: self.open.len() as u32,
                function,
                begin_ns,
                duration_ns: time_ns.saturating_sub(begin_ns),
            });
        }
    }
}

impl SlicesShard {
    fn simulate(&mut self, batch: &Batch) -> [u64; COUNTS] {
        let mut outcome = Outcome::default();
        if let Some(simulator) = &mut self.simulator {
            let sites = &self.sites;
            with_form!(simulator, hierarchy => {
                let core = hierarchy.core_of(batch.stream);
                for index in 0..batch.len() {
                    let id = batch.site[index].index();
                    let (address, length) = (batch.address[index], batch.length(index));
                    hierarchy.access(core, id, address, length, sites[id].1, &mut outcome);
                }
            });
        }
        let mut counts = [batch.len() as u64; COUNTS];
        counts[1..].copy_from_slice(&outcome.misses);
        counts
    }

    /// What is still open ends with its thread.
    fn end_threads(&mut self) {
        for thread in self.threads.values_mut() {
            thread.end_chunk(&mut self.kept);
            thread.close(0, thread.last_ns, &mut self.kept);
        }
    }
}

impl Analysis for Slices {
    type Shard = SlicesShard;

    fn order(&self) -> Order {
        Order::PerStream
    }

    fn start_shard(&self) -> SlicesShard {
        SlicesShard {
            simulator: Simulator::new(&self.caches),
            sites: Vec::new(),
            threads: BTreeMap::new(),
            kept: KeptSlices::new(self.most),
        }
    }

    fn take_program(&self, shard: &mut SlicesShard, program: &Program) {
        let sites = program.sites.iter();
        shard.sites = sites.map(|site| (site.function.0, site.kind.writes())).collect();
    }

    fn take_batch(&self, shard: &mut SlicesShard, batch: &Batch) {
        let counts = shard.simulate(batch);
        let thread = shard.threads.entry(batch.stream);
        let thread = thread.or_insert_with(|| Thread::new(batch, &self.time_ns));
        thread.take(batch, &shard.sites, &mut shard.kept);
        let accesses = thread.accesses - batch.len() as u64..thread.accesses;
        if !accesses.is_empty() {
            thread.counted.push((accesses, counts));
        }
    }

    fn merge(&self, into: &mut SlicesShard, mut from: SlicesShard) {
        from.end_threads();
        from.threads.values_mut().for_each(Thread::forget_stack);
        into.threads.append(&mut from.threads);
        into.kept.merge(from.kept);
    }

    fn finish(&self, mut shard: SlicesShard, trace: &Trace) -> Findings {
        shard.end_threads();
        tables::findings(shard, trace, self.caches.levels().len())
    }
}

impl Thread {
    /// Of a thread that has ended only its counts are needed.
    fn forget_stack(&mut self) {
        self.tree = Tree::new();
        self.open = Vec::new();
        self.stack = Stack::default();
    }
}
