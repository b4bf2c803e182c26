//! What functions cost by the path on which they were called.

mod stack;
mod tables;
mod tree;

use std::collections::HashMap;
use std::ops::Range;

use trackway_trace::{Batch, Event, Program, SiteId, Trace};

use crate::cache::{with_form, Caches, Outcome, Simulation, Simulator};
use crate::misses::address_space;
use crate::{Analysis, Findings, Order};
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
struct SiteTraits {
    /// The first one of the same name and file: a function of a header stands in many modules.
    function: u32,
    reads: bool,
    writes: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct SiteCounts {
    accesses: u64,
    bytes: u64,
    outcome: Outcome,
}

/// The stacks of threads, and what was counted.
pub struct CallsShard {
    simulator: Option<Simulator>,
    levels: usize,
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
        let mut next = 0;
        for &mark in &batch.marks {
            let function = match batch.event(mark) {
                Event::Enter(function) | Event::Exit(function) => function,
                _ => continue,
            };
            self.take_accesses(&mut stack, batch, next, mark.before as usize);
            next = mark.before as usize;
            let function = self.functions[function.index()];
            match batch.event(mark) {
                Event::Enter(_) => stack.enter(function, &mut self.tree),
                _ => stack.exit(function),
            }
        }
        self.take_accesses(&mut stack, batch, next, batch.len());
        self.stacks.insert(batch.stream, stack);
    }

    /// Accesses without a recorded entry or exit between them.
    fn take_accesses(&mut self, stack: &mut Stack, batch: &Batch, mut begin: usize, end: usize) {
        let of = |sites: &[SiteTraits], id: SiteId| sites[id.index()].function;
        while begin < end {
            let function = of(&self.sites, batch.site[begin]);
            let mut others = batch.site[begin..end].iter();
            let same = others.position(|&id| of(&self.sites, id) != function);
            let until = same.map_or(end, |length| begin + length);
            if stack.top() != Some(function) {
                stack.settle(function, &mut self.tree);
            }
            let cost = self.count(batch, begin, until);
            self.tree.add_cost(stack.node(), &cost);
            begin = until;
        }
    }

    fn count(&mut self, batch: &Batch, begin: usize, end: usize) -> Cost {
        let mut cost = Cost::default();
        for index in begin..end {
            let id = batch.site[index].index();
            let (site, counts) = (&self.sites[id], &mut self.counts[id]);
            let bytes = batch.length(index);
            counts.accesses += 1;
            counts.bytes = counts.bytes.saturating_add(bytes);
            cost.bytes = cost.bytes.saturating_add(bytes);
            cost.reads += u64::from(site.reads);
            cost.writes += u64::from(site.writes);
        }
        cost.accesses = (end - begin) as u64;
        if let Some(simulator) = &mut self.simulator {
            let counted = (&self.sites[..], &mut self.counts[..]);
            with_form!(simulator, hierarchy => {
                let before = hierarchy.totals();
                simulate(hierarchy, counted, batch, begin..end);
                let after = hierarchy.totals();
                for level in 0..self.levels {
                    cost.misses[level] = after.levels[level].misses - before.levels[level].misses;
                }
            });
        }
        cost
    }

    fn all_repairs(&self) -> Repairs {
        let mut repairs = self.repairs;
        self.stacks.values().for_each(|stack| repairs.add(&stack.repairs));
        repairs
    }
}

#[inline(always)]
fn simulate(
    hierarchy: &mut impl Simulation,
    (sites, counts): (&[SiteTraits], &mut [SiteCounts]),
    batch: &Batch,
    accesses: Range<usize>,
) {
    let core = hierarchy.core_of(batch.stream);
    let process = address_space(batch, hierarchy.is_shared());
    for index in accesses {
        let id = batch.site[index].index();
        let (address, length) = (batch.address[index] ^ process, batch.length(index));
        let outcome = &mut counts[id].outcome;
        hierarchy.access(core, id, address, length, sites[id].writes, outcome);
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

    fn start_shard(&self) -> CallsShard {
        CallsShard {
            simulator: Simulator::new(&self.caches),
            levels: self.caches.levels().len(),
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
            counts.accesses = counts.accesses.saturating_add(more.accesses);
            counts.bytes = counts.bytes.saturating_add(more.bytes);
            counts.outcome += &more.outcome;
        }
        into.tree.merge(&from.tree);
        into.repairs.add(&from.all_repairs());
    }

    fn finish(&self, shard: CallsShard, trace: &Trace) -> Findings {
        tables::findings(&shard, trace, &self.caches, self.top)
    }
}
