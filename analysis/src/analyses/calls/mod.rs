//! What functions cost by the path on which they were called.

mod clock;
mod functions;
mod inlining;
mod joint;
mod joint_tables;
mod path_moments;
mod place_members;
mod simulation;
mod stack;
mod tables;
mod tree;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use trackway_trace::{Batch, BatchItem, Event, Lane, Piece, Program, SiteId, Trace};

use crate::model::cache::{Caches, MAX_LEVELS};
use crate::model::moments::Moment;
use crate::model::time::{Machine, TimedSites};
use crate::{Analysis, Findings, Order};
use clock::Clock;
use functions::{Functions, Numbered, SiteTraits};
use inlining::InlinedNodes;
pub use joint::Moments;
use joint::{Joint, Owner};
use simulation::{Charges, Simulation};
use stack::Repairs;
pub(crate) use stack::Stack;
use tables::Presenter;
use tree::Cost;
pub(crate) use tree::Tree;

/// Follows the stack of each thread, and counts accesses and misses by path.
#[derive(Debug, Clone)]
pub struct Calls {
    caches: Caches,
    machine: Option<Arc<Machine>>,
    moments: Option<Arc<Moments>>,
    top: usize,
}

impl Calls {
    /// Tables have the `top` rows.
    pub fn new(caches: Caches, top: usize) -> Calls {
        Calls {
            caches,
            machine: None,
            moments: None,
            top,
        }
    }

    /// Also counts each site by path, and by thread and time.
    #[must_use]
    pub fn with_moments(self, moments: Moments) -> Calls {
        Calls {
            moments: Some(Arc::new(moments)),
            ..self
        }
    }

    /// Also estimates the cycles that accesses take on that machine.
    #[must_use]
    pub fn with_time(self, machine: Option<Machine>) -> Calls {
        Calls {
            machine: machine.map(Arc::new),
            ..self
        }
    }
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

    fn merge(&mut self, from: &SiteCounts) {
        self.add(from.accesses, from.bytes);
        for (misses, more) in self.misses.iter_mut().zip(from.misses) {
            *misses += more;
        }
    }
}

/// The stacks of threads, and what was counted.
pub struct CallsShard {
    simulation: Option<Simulation>,
    /// None if time is not estimated.
    clock: Option<Clock>,
    counts: Vec<SiteCounts>,
    /// None if sites are only counted by path.
    joint: Option<Joint>,
    functions: Functions,
    /// Functions and sites by their ids.
    numbered: Numbered,
    inlined: InlinedNodes,
    stacks: HashMap<u32, Stack>,
    tree: Tree,
    /// Repairs of the shards that were merged into this one.
    repairs: Repairs,
}

impl CallsShard {
    fn take(&mut self, batch: &Batch) {
        let mut stack = self.stacks.remove(&batch.stream).unwrap_or_default();
        if let Some(simulation) = &mut self.simulation {
            simulation.begin(batch);
        }
        if let Some(clock) = &mut self.clock {
            clock.begin(batch);
        }
        if let Some(joint) = &mut self.joint {
            joint.begin(batch);
        }
        for item in batch.all_items() {
            match item {
                BatchItem::Accesses(Piece::Accesses(range)) => self.take_in_time(&mut stack, batch, range),
                BatchItem::Accesses(Piece::Run(run)) => {
                    self.take_run_in_time(&mut stack, batch.lanes(run), run.count)
                }
                BatchItem::Event(Event::Enter(function)) => {
                    stack.enter(self.numbered.functions[function.index()], &mut self.tree);
                }
                BatchItem::Event(Event::Exit(function)) => {
                    stack.exit(self.numbered.functions[function.index()]);
                }
                BatchItem::Event(_) => (),
            }
        }
        if let Some(simulation) = &mut self.simulation {
            simulation.settle(&mut Charges {
                tree: &mut self.tree,
                counts: &mut self.counts,
                joint: self.joint.as_mut(),
            });
        }
        if let Some(joint) = &mut self.joint {
            joint.settle_if_full(&self.tree);
        }
        self.stacks.insert(batch.stream, stack);
    }

    /// Accesses in stretches of one bin of time each.
    fn take_in_time(&mut self, stack: &mut Stack, batch: &Batch, accesses: Range<usize>) {
        let Range { mut start, end } = accesses;
        while start < end {
            let left = (end - start) as u64;
            let count = self.joint.as_mut().map_or(left, |joint| joint.same_moment(left));
            let until = start + count.min(left) as usize;
            self.take_accesses(stack, batch, start..until);
            if let Some(joint) = &mut self.joint {
                joint.pass((until - start) as u64);
            }
            start = until;
        }
    }

    /// The same of a loop, whose iterations stay whole.
    fn take_run_in_time(&mut self, stack: &mut Stack, lanes: &[Lane], count: u64) {
        let lane_count = lanes.len() as u64;
        let mut done = 0;
        while done < count && lane_count > 0 {
            let left = (count - done).saturating_mul(lane_count);
            let accesses = self.joint.as_mut().map_or(left, |joint| joint.same_moment(left));
            let iterations = accesses.div_ceil(lane_count).min(count - done);
            match iterations == count {
                true => self.take_run(stack, lanes, count),
                false => {
                    let from = |lane: &Lane| Lane {
                        address: lane.address_in(done),
                        ..*lane
                    };
                    let rest: Vec<Lane> = lanes.iter().map(from).collect();
                    self.take_run(stack, &rest, iterations);
                }
            }
            if let Some(joint) = &mut self.joint {
                joint.pass(iterations * lane_count);
            }
            done += iterations;
        }
    }

    /// What an access of that site counts for now.
    fn owner(&self, node: u32, site: SiteId) -> Owner {
        Owner {
            node,
            site,
            moment: self
                .joint
                .as_ref()
                .map_or(Moment::default(), |joint| joint.moment),
        }
    }

    fn count_jointly(&mut self, owner: Owner, accesses: u64, bytes: u64) {
        if let Some(joint) = &mut self.joint {
            joint.count(owner, accesses, bytes);
        }
    }

    fn count_cycles_jointly(&mut self, owner: Owner, cycles: u64) {
        if let Some(joint) = self.joint.as_mut().filter(|_| cycles > 0) {
            joint.add_cycles(owner, cycles);
        }
    }

    /// Accesses without a recorded entry or exit between them.
    fn take_accesses(&mut self, stack: &mut Stack, batch: &Batch, accesses: Range<usize>) {
        let Range { mut start, end } = accesses;
        while start < end {
            let first = self.traits(batch.site[start]);
            let place = |traits: SiteTraits| (traits.function, traits.chain);
            let mut others = batch.site[start..end].iter();
            let same = others.position(|&id| place(self.traits(id)) != place(first));
            let until = same.map_or(end, |length| start + length);
            self.put_on_top(stack, first.function);
            let node = self.node(stack, batch.site[start]);
            self.count(node, batch, start..until);
            start = until;
        }
    }

    fn traits(&self, site: SiteId) -> SiteTraits {
        self.numbered.sites[site.index()]
    }

    /// Where the accesses of a site of the function on top count.
    fn node(&mut self, stack: &Stack, site: SiteId) -> u32 {
        let chain = self.traits(site).chain;
        self.inlined
            .below(stack.node(), chain, &self.functions, &mut self.tree)
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
            cost.add(&self.numbered.sites[id], 1, bytes);
            self.count_jointly(self.owner(node, batch.site[index]), 1, bytes);
        }
        if let Some(clock) = &mut self.clock {
            cost.cycles = clock.accesses(batch, accesses.clone());
        }
        self.count_cycles_jointly(self.owner(node, batch.site[accesses.start]), cost.cycles);
        self.tree.add_cost(node, &cost);
        let moment = self
            .joint
            .as_ref()
            .map_or(Moment::default(), |joint| joint.moment);
        if let Some(simulation) = &mut self.simulation {
            for index in accesses {
                let (site, address) = (batch.site[index], batch.address[index]);
                let is_write = self.numbered.sites[site.index()].writes;
                let mut charges = Charges {
                    tree: &mut self.tree,
                    counts: &mut self.counts,
                    joint: self.joint.as_mut(),
                };
                simulation.take(
                    Owner { node, site, moment },
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
        let function = self.traits(first.site).function;
        if lanes
            .iter()
            .any(|lane| self.traits(lane.site).function != function)
        {
            return (0..count).for_each(|iteration| {
                for lane in lanes {
                    let address = lane.address_in(iteration);
                    self.take_run(stack, &[Lane { address, ..*lane }], 1);
                }
            });
        }
        self.put_on_top(stack, function);
        let mut owners = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let (site, node) = (lane.site, self.node(stack, lane.site));
            let bytes = count.saturating_mul(lane.size.into());
            self.counts[site.index()].add(count, bytes);
            let mut cost = Cost::default();
            cost.add(&self.numbered.sites[site.index()], count, bytes);
            self.tree.add_cost(node, &cost);
            let owner = self.owner(node, site);
            self.count_jointly(owner, count, bytes);
            owners.push(owner);
        }
        if let (Some(clock), Some(owner)) = (&mut self.clock, owners.first()) {
            let cost = Cost {
                cycles: clock.run(lanes, count),
                ..Cost::default()
            };
            self.tree.add_cost(owner.node, &cost);
            self.count_cycles_jointly(*owner, cost.cycles);
        }
        if let Some(simulation) = &mut self.simulation {
            let mut charges = Charges {
                tree: &mut self.tree,
                counts: &mut self.counts,
                joint: self.joint.as_mut(),
            };
            simulation.take_run(&owners, (lanes, count), &self.numbered.sites, &mut charges);
        }
    }

    /// Adds up what was counted jointly.
    fn settle(&mut self) {
        if let Some(joint) = &mut self.joint {
            joint.settle(&self.tree);
        }
    }

    fn all_repairs(&self) -> Repairs {
        let mut repairs = self.repairs;
        self.stacks.values().for_each(|stack| repairs.add(&stack.repairs));
        repairs
    }
}

impl Analysis for Calls {
    type Shard = CallsShard;

    fn order(&self) -> Order {
        let timed = self.machine.iter().any(|machine| machine.caches.any_shared());
        Order::across_threads_if(self.caches.any_shared() || timed)
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> CallsShard {
        CallsShard {
            simulation: Simulation::new(&self.caches),
            clock: self.machine.as_ref().map(Clock::new),
            counts: Vec::new(),
            joint: self.moments.as_ref().map(Joint::new),
            functions: Functions::new(),
            numbered: Numbered::default(),
            inlined: InlinedNodes::default(),
            stacks: HashMap::new(),
            tree: Tree::new(),
            repairs: Repairs::default(),
        }
    }

    fn take_program(&self, shard: &mut CallsShard, program: &Program) {
        shard.numbered = shard.functions.take(program);
        shard.inlined.grow(&shard.functions);
        if let Some(clock) = &mut shard.clock {
            clock.take_sites(TimedSites::of(program));
        }
        shard.counts.resize(program.sites.len(), SiteCounts::default());
    }

    fn take_batch(&self, shard: &mut CallsShard, batch: &Batch) {
        shard.take(batch);
    }

    fn merge(&self, into: &mut CallsShard, mut from: CallsShard) {
        from.settle();
        if into.counts.len() < from.counts.len() {
            into.counts.resize(from.counts.len(), SiteCounts::default());
        }
        for (counts, more) in into.counts.iter_mut().zip(&from.counts) {
            counts.merge(more);
        }
        if let Some((clock, from)) = into.clock.as_mut().zip(from.clock.as_ref()) {
            clock.merge(from);
        }
        let functions = from.functions.all().iter();
        let numbers: Vec<u32> = functions
            .map(|function| into.functions.number(*function))
            .collect();
        let nodes = into.tree.merge(&from.tree, &numbers);
        if let Some((joint, from)) = into.joint.as_mut().zip(from.joint.as_ref()) {
            joint.merge(from, &nodes, &into.tree);
        }
        into.repairs.add(&from.all_repairs());
    }

    fn finish(&self, mut shard: CallsShard, trace: &Trace) -> Findings {
        shard.settle();
        shard.numbered = shard.functions.take(trace.program());
        let presenter = Presenter::new(&shard, trace, &self.caches, self.top);
        let mut findings = presenter.findings();
        if let Some(joint) = &shard.joint {
            findings.tables.extend(joint_tables::tables(&presenter, joint));
        }
        findings
    }
}
