//! What functions cost by the path on which they were called.

mod simulation;
mod stack;
mod tables;
mod tree;

use std::collections::HashMap;
use std::ops::Range;

use trackway_trace::{Batch, Event, Happening, Lane, Piece, Program, SiteId, Trace};

use crate::cache::{Caches, MAX_LEVELS};
use crate::{Analysis, Findings, Order};
use simulation::{Charges, Owner, Simulation};
use stack::Repairs;
pub(crate) use stack::Stack;
use tree::Cost;
pub(crate) use tree::Tree;

/// Follows the stack of each thread, and counts accesses and misses by path.
#[derive(Debug, Clone)]
pub struct Calls {
    caches: Caches,
    top: usize,
}

impl Calls {
    /// Tables have the `top` rows.
    pub fn new(caches: Caches, top: usize) -> Calls {
        Calls { caches, top }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SiteTraits {
    /// The first one of the same name and file: a function of a header stands in many modules.
    function: u32,
    reads: bool,
    writes: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct SiteCounts {
    accesses: u64,
    bytes: u64,
    misses: [u64; MAX_LEVELS],
}

impl SiteCounts {
    fn add(&mut self, accesses: u64, bytes: u64) {
        self.accesses = self.accesses.saturating_add(accesses);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The stacks of threads, and what was counted.
pub struct CallsShard {
    simulation: Option<Simulation>,
    sites: Vec<SiteTraits>,
    counts: Vec<SiteCounts>,
    /// By function, the first one of the same name and file.
    functions: Vec<u32>,
    stacks: HashMap<u32, Stack>,
    tree: Tree,
    /// Of shards that were merged into this one.
    repairs: Repairs,
}

impl CallsShard {
    fn take(&mut self, batch: &Batch) {
        let mut stack = self.stacks.remove(&batch.stream).unwrap_or_default();
        if let Some(simulation) = &mut self.simulation {
            simulation.begin(batch);
        }
        for happening in batch.all_happenings() {
            match happening {
                Happening::Accesses(Piece::Accesses(range)) => self.take_accesses(&mut stack, batch, range),
                Happening::Accesses(Piece::Run(run)) => {
                    self.take_run(&mut stack, batch.lanes(run), run.count)
                }
                Happening::Event(Event::Enter(function)) => {
                    stack.enter(self.functions[function.index()], &mut self.tree);
                }
                Happening::Event(Event::Exit(function)) => stack.exit(self.functions[function.index()]),
                Happening::Event(_) => (),
            }
        }
        if let Some(simulation) = &mut self.simulation {
            simulation.settle(&mut Charges {
                tree: &mut self.tree,
                counts: &mut self.counts,
            });
        }
        self.stacks.insert(batch.stream, stack);
    }

    /// Accesses without a recorded entry or exit between them.
    fn take_accesses(&mut self, stack: &mut Stack, batch: &Batch, accesses: Range<usize>) {
        let Range { mut start, end } = accesses;
        while start < end {
            let function = self.function_of(batch.site[start]);
            let mut others = batch.site[start..end].iter();
            let same = others.position(|&id| self.function_of(id) != function);
            let until = same.map_or(end, |length| start + length);
            self.put_on_top(stack, function);
            self.count(stack.node(), batch, start..until);
            start = until;
        }
    }

    fn function_of(&self, site: SiteId) -> u32 {
        self.sites[site.index()].function
    }

    fn put_on_top(&mut self, stack: &mut Stack, function: u32) {
        if stack.top() != Some(function) {
            stack.settle(function, &mut self.tree);
        }
    }

    fn count(&mut self, node: u32, batch: &Batch, accesses: Range<usize>) {
        let mut cost = Cost::default();
        for index in accesses.clone() {
            let id = batch.site[index].index();
            let bytes = batch.length(index);
            self.counts[id].add(1, bytes);
            cost.add(&self.sites[id], 1, bytes);
        }
        self.tree.add_cost(node, &cost);
        if let Some(simulation) = &mut self.simulation {
            for index in accesses {
                let (site, address) = (batch.site[index], batch.address[index]);
                let is_write = self.sites[site.index()].writes;
                let mut charges = Charges {
                    tree: &mut self.tree,
                    counts: &mut self.counts,
                };
                simulation.take(
                    Owner { node, site },
                    address,
                    batch.length(index),
                    is_write,
                    &mut charges,
                );
            }
        }
    }

    fn take_run(&mut self, stack: &mut Stack, lanes: &[Lane], count: u64) {
        let Some(first) = lanes.first() else {
            return;
        };
        let function = self.function_of(first.site);
        if lanes.iter().any(|lane| self.function_of(lane.site) != function) {
            return (0..count).for_each(|iteration| {
                for lane in lanes {
                    let address = lane.address_in(iteration);
                    self.take_run(stack, &[Lane { address, ..*lane }], 1);
                }
            });
        }
        self.put_on_top(stack, function);
        let mut cost = Cost::default();
        for lane in lanes {
            let bytes = count.saturating_mul(lane.size.into());
            self.counts[lane.site.index()].add(count, bytes);
            cost.add(&self.sites[lane.site.index()], count, bytes);
        }
        self.tree.add_cost(stack.node(), &cost);
        if let Some(simulation) = &mut self.simulation {
            let mut charges = Charges {
                tree: &mut self.tree,
                counts: &mut self.counts,
            };
            simulation.take_run(stack.node(), (lanes, count), &self.sites, &mut charges);
        }
    }

    fn all_repairs(&self) -> Repairs {
        let mut repairs = self.repairs;
        self.stacks.values().for_each(|stack| repairs.add(&stack.repairs));
        repairs
    }
}

/// For each function, the first one of the same name and file.
fn namesakes(program: &Program) -> Vec<u32> {
    let mut first = HashMap::new();
    let functions = program.functions.iter().zip(0..);
    functions
        .map(|(function, number)| {
            let key = (function.linkage_name, function.source_file);
            *first.entry(key).or_insert(number)
        })
        .collect()
}

impl Analysis for Calls {
    type Shard = CallsShard;

    fn order(&self) -> Order {
        match self.caches.any_shared() {
            true => Order::AcrossThreads,
            false => Order::PerStream,
        }
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> CallsShard {
        CallsShard {
            simulation: Simulation::new(&self.caches),
            sites: Vec::new(),
            counts: Vec::new(),
            functions: Vec::new(),
            stacks: HashMap::new(),
            tree: Tree::new(),
            repairs: Repairs::default(),
        }
    }

    fn take_program(&self, shard: &mut CallsShard, program: &Program) {
        shard.functions = namesakes(program);
        shard.sites = program
            .sites
            .iter()
            .map(|site| SiteTraits {
                function: shard.functions[site.function.index()],
                reads: site.kind.reads(),
                writes: site.kind.writes(),
            })
            .collect();
        shard.counts.resize(shard.sites.len(), SiteCounts::default());
    }

    fn take_batch(&self, shard: &mut CallsShard, batch: &Batch) {
        shard.take(batch);
    }

    fn merge(&self, into: &mut CallsShard, from: CallsShard) {
        if into.sites.len() < from.sites.len() {
            (into.sites, into.functions) = (from.sites.clone(), from.functions.clone());
        }
        if into.counts.len() < from.counts.len() {
            into.counts.resize(from.counts.len(), SiteCounts::default());
        }
        for (counts, more) in into.counts.iter_mut().zip(&from.counts) {
            counts.add(more.accesses, more.bytes);
            for (misses, more) in counts.misses.iter_mut().zip(more.misses) {
                *misses += more;
            }
        }
        into.tree.merge(&from.tree);
        into.repairs.add(&from.all_repairs());
    }

    fn finish(&self, shard: CallsShard, trace: &Trace) -> Findings {
        tables::findings(&shard, trace, &self.caches, self.top)
    }
}
