//! When functions ran, and what threads accessed over time.

mod bins;
mod clock;
mod kept;
mod misses;
mod tables;

use std::collections::BTreeMap;
use std::ops::Range;

use trackway_trace::{Batch, BatchItem, Event, Lane, Piece, Program, Trace};

use crate::analyses::calls::{Stack, Tree};
use crate::model::cache::{Caches, MAX_LEVELS};
use crate::{Analysis, Findings, Order};
use bins::Bins;
use clock::Clock;
use kept::{KeptSlices, Slice};
use misses::Misses;

/// Accesses, then the misses of each level.
const COUNTS: usize = 1 + MAX_LEVELS;
/// Parts of the recording's time.
const BINS: usize = 1000;
/// This many accesses, or a run, are counted together and taken as evenly spread.
const STRETCH: u64 = 4096;

#[derive(Debug, Clone, Copy)]
struct Site {
    function: u32,
    writes: bool,
}

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
        let times = || chunks().map(|chunk| trace.chunk_times(chunk));
        let begin = times().map(|(first_ns, _)| first_ns).min().unwrap_or(0);
        let end = times().map(|(_, last_ns)| last_ns).max().unwrap_or(0);
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
    /// Accesses of the chunk that were counted.
    counted_until: u64,
    /// Accesses of the chunk, and their counts.
    counted: Vec<(Range<u64>, [u64; COUNTS])>,
    /// Functions on the stack, and since when.
    open: Vec<(u32, u64)>,
    bins: Bins<COUNTS>,
}

/// Threads, and the slices that were kept so far.
pub struct SlicesShard {
    misses: Misses,
    sites: Vec<Site>,
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
            counted_until: 0,
            counted: Vec::new(),
            open: Vec::new(),
            bins: Bins::new(time_ns.clone(), BINS),
        }
    }

    fn take(&mut self, batch: &Batch, sites: &[Site], misses: &mut Misses, kept: &mut KeptSlices) {
        if self.sequence != Some(batch.sequence) {
            self.end_chunk(kept);
            self.sequence = Some(batch.sequence);
            self.clock.add(0, batch.first_ns);
        }
        self.last_ns = batch.last_ns;
        for item in batch.all_items() {
            match item {
                BatchItem::Accesses(piece) => {
                    self.pass_accesses(batch, sites, &piece);
                    self.count(batch, sites, &piece, misses);
                }
                BatchItem::Event(Event::Enter(function)) => {
                    self.change(self.accesses, |stack, tree| stack.enter(function.0, tree));
                }
                BatchItem::Event(Event::Exit(function)) => {
                    self.change(self.accesses, |stack, _| stack.exit(function.0));
                }
                BatchItem::Event(Event::Order { time_ns, .. }) => {
                    self.clock.add(self.accesses, time_ns.min(batch.last_ns));
                }
                BatchItem::Event(_) => {}
            }
        }
        self.end_stretch(misses);
    }

    /// Says to the stack which functions access memory.
    fn pass_accesses(&mut self, batch: &Batch, sites: &[Site], piece: &Piece) {
        match piece {
            Piece::Accesses(range) => {
                let numbers = self.accesses..;
                for (site, access) in batch.site[range.clone()].iter().zip(numbers) {
                    self.put_on_top(sites[site.index()].function, access);
                }
            }
            Piece::Run(run) => {
                let lanes = batch.lanes(run);
                let function = |lane: &Lane| sites[lane.site.index()].function;
                // If all accesses are of one function, only the first one can change the stack.
                let one_function = lanes
                    .windows(2)
                    .all(|pair| function(&pair[0]) == function(&pair[1]));
                let count = if one_function { 1 } else { run.count };
                for (lane, access) in (0..count).flat_map(|_| lanes).zip(self.accesses..) {
                    self.put_on_top(function(lane), access);
                }
            }
        }
    }

    fn put_on_top(&mut self, function: u32, access: u64) {
        if self.stack.top() != Some(function) {
            self.change(access, |stack, tree| stack.settle(function, tree));
        }
    }

    /// A long run is a stretch of its own, whose misses are spread evenly.
    fn count(&mut self, batch: &Batch, sites: &[Site], piece: &Piece, misses: &mut Misses) {
        let accesses = piece.access_count();
        if accesses >= STRETCH {
            self.end_stretch(misses);
        }
        misses.take(batch, sites, piece);
        self.accesses = self.accesses.saturating_add(accesses);
        if self.accesses - self.counted_until >= STRETCH {
            self.end_stretch(misses);
        }
    }

    fn end_stretch(&mut self, misses: &mut Misses) {
        let accesses = std::mem::replace(&mut self.counted_until, self.accesses)..self.accesses;
        if !accesses.is_empty() {
            let mut counts = [accesses.end - accesses.start; COUNTS];
            counts[1..].copy_from_slice(&misses.settle());
            self.counted.push((accesses, counts));
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
        self.counted_until = 0;
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

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> SlicesShard {
        SlicesShard {
            misses: Misses::new(&self.caches),
            sites: Vec::new(),
            threads: BTreeMap::new(),
            kept: KeptSlices::new(self.most),
        }
    }

    fn take_program(&self, shard: &mut SlicesShard, program: &Program) {
        let sites = program.sites.iter().map(|site| Site {
            function: site.function.0,
            writes: site.kind.writes(),
        });
        shard.sites = sites.collect();
    }

    fn take_batch(&self, shard: &mut SlicesShard, batch: &Batch) {
        let thread = shard.threads.entry(batch.stream);
        let thread = thread.or_insert_with(|| Thread::new(batch, &self.time_ns));
        thread.take(batch, &shard.sites, &mut shard.misses, &mut shard.kept);
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
    /// Frees the stack of a thread that has ended, as only its counts are still needed.
    fn forget_stack(&mut self) {
        self.tree = Tree::new();
        self.open = Vec::new();
        self.stack = Stack::default();
    }
}
