//! Reads the nodes of all threads into regions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexMap;
use trackway_trace::{CountingThread, ModuleId, Node, Trace};

use super::evaluate::{Evaluator, Sums};
use super::tally::{Audit, Region, ThreadTally};
use super::Regions;
use crate::names::UNKNOWN;

const WHOLE_PROGRAM: &str = "(whole program)";

pub fn regions(trace: &Trace) -> Regions {
    let program = trace.program();
    let counting = || {
        let modules = program.modules.iter();
        modules.filter(|module| module.counter_count.is_some())
    };
    let mut reader = Reader {
        trace,
        evaluator: Evaluator::new(program),
        modules: HashMap::new(),
        regions: IndexMap::new(),
        audit: Audit {
            threads: trace.counting_threads().len() as u64,
            modules: counting().count() as u64,
            blocks: counting().map(|module| module.blocks.len() as u64).sum(),
            ..Audit::default()
        },
    };
    let mut damage = Vec::new();
    for thread in trace.counting_threads() {
        damage.extend(reader.take(thread));
    }
    let mut regions: Vec<Region> = reader.regions.into_values().collect();
    regions.sort_by_cached_key(|region| {
        let totals = region.totals();
        Reverse((totals.own_time_ns, totals.accesses.bytes))
    });
    Regions {
        regions,
        audit: reader.audit,
        damage,
    }
}

struct Reader<'t> {
    trace: &'t Trace,
    evaluator: Evaluator<'t>,
    /// By process and image.
    modules: HashMap<(u32, u32), Vec<ModuleId>>,
    /// By name, in the order in which they were found.
    regions: IndexMap<String, Region>,
    audit: Audit,
}

impl Reader<'_> {
    /// Takes what a thread counted; returns what could not be read.
    fn take(&mut self, thread: &CountingThread) -> Vec<trackway_trace::TraceError> {
        let (nodes, damage) = self.trace.read_nodes(thread);
        let within = times_within(&nodes);
        for (index, node) in nodes.iter().enumerate() {
            let own_time_ns = node.time_ns.saturating_sub(within[index]);
            self.note(node, own_time_ns);
            if let Some(name) = region_name(node) {
                let is_outermost = !is_within(node, name, &nodes);
                self.add(node, name, own_time_ns, is_outermost);
            }
        }
        damage
    }

    fn note(&mut self, node: &Node, own_time_ns: u64) {
        let audit = &mut self.audit;
        audit.nodes += 1;
        audit.tails += u64::from(node.is_tail);
        if node.number == 0 {
            audit.time_ns = audit.time_ns.saturating_add(node.time_ns);
            audit.outside_ns = audit.outside_ns.saturating_add(own_time_ns);
        } else {
            audit.open += u64::from(node.is_open);
            audit.uncounted += u64::from(node.entries > 0 && node.counted_entries == 0);
        }
    }

    fn add(&mut self, node: &Node, name: &str, own_time_ns: u64, is_outermost: bool) {
        let (trace, key) = (self.trace, (node.process, node.image));
        let modules = self
            .modules
            .entry(key)
            .or_insert_with(|| trace.counting_modules(node.process, node.image));
        if !self.regions.contains_key(name) {
            let region = Region {
                name: name.to_owned(),
                ..Region::default()
            };
            self.regions.insert(name.to_owned(), region);
        }
        let region = &mut self.regions[name];
        let totals = &mut thread_of(&mut region.threads, node).totals;
        totals.entries = totals.entries.saturating_add(node.entries);
        totals.counted_entries = totals.counted_entries.saturating_add(node.counted_entries);
        totals.own_time_ns = totals.own_time_ns.saturating_add(own_time_ns);
        totals.own_counted_time_ns = totals
            .own_counted_time_ns
            .saturating_add(counted_part(node, own_time_ns));
        if is_outermost {
            totals.time_ns = totals.time_ns.saturating_add(node.time_ns);
        }
        let mut sums = Sums {
            totals,
            code: &mut region.code,
            audit: &mut self.audit,
        };
        self.evaluator.add(node, modules, &mut sums);
    }
}

/// Threads come in the order of their streams, one after the other.
fn thread_of<'r>(threads: &'r mut Vec<ThreadTally>, node: &Node) -> &'r mut ThreadTally {
    if threads.last().is_none_or(|last| last.stream != node.stream) {
        threads.push(ThreadTally {
            stream: node.stream,
            process: node.process,
            thread: node.thread,
            ..ThreadTally::default()
        });
    }
    let last = threads.len() - 1;
    &mut threads[last]
}

/// None if it is what is outside of regions.
fn region_name(node: &Node) -> Option<&str> {
    match (node.number, node.name.as_str()) {
        _ if node.is_whole_program => Some(WHOLE_PROGRAM),
        (0, _) => None,
        (_, "") => Some(UNKNOWN),
        (_, name) => Some(name),
    }
}

/// Of each node, the time of those directly within it.
fn times_within(nodes: &[Node]) -> Vec<u64> {
    let positions: BTreeMap<u32, usize> = nodes.iter().map(|node| node.number).zip(0..).collect();
    let mut within = vec![0u64; nodes.len()];
    for node in nodes.iter().filter(|node| node.number != 0) {
        if let Some(&parent) = positions.get(&node.parent) {
            within[parent] = within[parent].saturating_add(node.time_ns);
        }
    }
    within
}

/// Whether it was entered, perhaps through others, within a region of the same name.
fn is_within(node: &Node, name: &str, nodes: &[Node]) -> bool {
    let mut seen = HashSet::from([node.number]);
    let mut parent = node.parent;
    while seen.insert(parent) {
        let Ok(position) = nodes.binary_search_by_key(&parent, |node| node.number) else {
            return false;
        };
        let above = &nodes[position];
        if region_name(above) == Some(name) {
            return true;
        }
        parent = above.parent;
    }
    false
}

/// The part of a node's own time that belongs to counted entries. Which entries of nodes within it fell into those is
/// not known: all parts of its time are taken as counted alike.
fn counted_part(node: &Node, own_time_ns: u64) -> u64 {
    if node.is_whole_program || node.counted_time_ns >= node.time_ns {
        return own_time_ns;
    }
    let part = u128::from(own_time_ns) * u128::from(node.counted_time_ns) / u128::from(node.time_ns);
    part as u64
}
