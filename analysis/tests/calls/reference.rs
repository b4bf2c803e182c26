//! What stacks cost, access by access.

use std::collections::{BTreeMap, HashMap};

use trackway_analysis::cache::{Access, Caches, Outcome, Simulator};
use trackway_analysis::{Analysis, Findings, Order};
use trackway_trace::{Batch, Event, FunctionId, Program, Trace};

/// Accesses, reads, writes, bytes, and misses of the first two levels.
pub type Cost = [u64; 6];

/// Each thread has caches of its own.
pub struct Reference(pub Caches);

#[derive(Default)]
pub struct Shard {
    sites: Vec<(u32, bool)>,
    stacks: HashMap<u32, (Vec<Frame>, Option<Simulator>)>,
    costs: BTreeMap<String, Cost>,
}

/// A function on the stack, and the different functions that lead to it.
#[derive(Clone)]
struct Frame {
    function: u32,
    path: Vec<u32>,
}

fn push(stack: &mut Vec<Frame>, function: u32) {
    let mut path = stack.last().map_or(Vec::new(), |frame| frame.path.clone());
    match path.iter().position(|other| *other == function) {
        Some(position) => path.truncate(position + 1),
        None => path.push(function),
    }
    stack.push(Frame { function, path });
}

fn last(stack: &[Frame], function: u32) -> Option<usize> {
    stack.iter().rposition(|frame| frame.function == function)
}

fn take_event(stack: &mut Vec<Frame>, event: Event) {
    match event {
        Event::Enter(FunctionId(function)) => push(stack, function),
        Event::Exit(FunctionId(function)) => {
            if let Some(position) = last(stack, function) {
                stack.truncate(position);
            }
        }
        _ => (),
    }
}

impl Shard {
    fn take_access(&mut self, caches: &Caches, batch: &Batch, index: usize) {
        let site = batch.site[index].index();
        let (function, is_write) = self.sites[site];
        let (stack, simulator) = self.stacks.entry(batch.stream).or_default();
        match last(stack, function) {
            Some(position) => stack.truncate(position + 1),
            None => push(stack, function),
        }
        let names: Vec<String> = stack
            .last()
            .unwrap()
            .path
            .iter()
            .map(|function| format!("f{function}"))
            .collect();
        let cost = self.costs.entry(names.join(";")).or_default();
        let length = batch.length(index);
        let mut outcome = Outcome::default();
        if simulator.is_none() {
            *simulator = Simulator::new(caches);
        }
        if let Some(simulator) = simulator {
            let access = Access {
                core: 0,
                site,
                address: batch.address[index],
                length,
                is_write,
            };
            simulator.access(&access, &mut outcome);
        }
        let [first, second, ..] = outcome.misses;
        let more = [
            1,
            u64::from(!is_write),
            u64::from(is_write),
            length,
            first,
            second,
        ];
        cost.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
}

impl Analysis for Reference {
    type Shard = Shard;

    fn order(&self) -> Order {
        Order::PerStream
    }

    fn start_shard(&self) -> Shard {
        Shard::default()
    }

    fn take_program(&self, shard: &mut Shard, program: &Program) {
        let sites = program.sites.iter();
        shard.sites = sites.map(|site| (site.function.0, site.kind.writes())).collect();
    }

    fn take_batch(&self, shard: &mut Shard, batch: &Batch) {
        let mut marks = batch.marks.iter().peekable();
        for index in 0..=batch.len() {
            while let Some(mark) = marks.next_if(|mark| mark.before as usize == index) {
                let (stack, _) = shard.stacks.entry(batch.stream).or_default();
                take_event(stack, batch.event(*mark));
            }
            if index < batch.len() {
                shard.take_access(&self.0, batch, index);
            }
        }
    }

    fn merge(&self, into: &mut Shard, from: Shard) {
        for (stack, cost) in from.costs {
            let sums = into.costs.entry(stack).or_default();
            sums.iter_mut().zip(cost).for_each(|(sum, more)| *sum += more);
        }
    }

    /// A line for each stack.
    fn finish(&self, shard: Shard, _: &Trace) -> Findings {
        let lines = shard
            .costs
            .iter()
            .map(|(stack, cost)| format!("{stack} {cost:?}\n"));
        Findings {
            answer: Some(lines.collect()),
            tables: vec![],
        }
    }
}
