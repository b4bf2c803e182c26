//! Reads the nodes of all threads into regions.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use trackway_trace::{ModuleId, Node, StepCosts, Trace};

use super::evaluate::{Evaluator, Sums};
use super::origins::Origins;
use super::stratum::{strata, Stratum};
use super::tally::{Audit, Region, ThreadTally};
use super::Regions;
use crate::model::UNKNOWN;

const WHOLE_PROGRAM: &str = "(whole program)";

pub fn regions(trace: &Trace) -> Regions {
    let program = trace.program();
    let counting = || {
        let modules = program.modules.iter();
        modules.filter(|module| module.counter_count.is_some())
    };
    let mut reader = Reader {
        trace,
        costs: known_costs(trace),
        evaluator: Evaluator::new(program),
        modules: HashMap::new(),
        regions: IndexMap::new(),
        origins: Origins::default(),
        audit: Audit {
            threads: trace.counting_threads().len() as u64,
            modules: counting().count() as u64,
            blocks: counting().map(|module| module.blocks.len() as u64).sum(),
            ..Audit::default()
        },
    };
    let mut damage = Vec::new();
    // Threads mostly begin after the one whose regions they inherit.
    let mut postponed = Vec::new();
    for thread in trace.counting_threads() {
        let (nodes, damaged) = trace.read_nodes(thread);
        damage.extend(damaged);
        if !reader.take(&nodes, false) {
            postponed.push(thread);
        }
    }
    for thread in postponed {
        reader.take(&trace.read_nodes(thread).0, true);
    }
    let mut regions: Vec<Region> = reader.regions.into_values().collect();
    for region in &mut regions {
        region.threads.sort_by_key(|thread| thread.stream);
    }
    regions.sort_by_cached_key(|region| {
        let totals = region.totals();
        Reverse((totals.own_time_ns, totals.accesses.bytes))
    });
    Regions {
        regions,
        hardware_events: trace.meta().hardware_events.clone(),
        audit: reader.audit,
        damage,
        source_root: None,
    }
}

/// The costs of counting. None if they aren't known, or a module doesn't say how it counts.
fn known_costs(trace: &Trace) -> Option<&StepCosts> {
    let modules = trace.program().modules.iter();
    let mut counting = modules.filter(|module| module.counter_count.is_some_and(|count| count > 0));
    let costs = trace.end()?.step_costs.as_ref()?;
    counting.all(|module| !module.steps.is_empty()).then_some(costs)
}

struct Reader<'t> {
    trace: &'t Trace,
    costs: Option<&'t StepCosts>,
    evaluator: Evaluator<'t>,
    /// Modules by process and image.
    modules: HashMap<(u32, u32), Vec<ModuleId>>,
    /// Regions by name, in the order in which they were found.
    regions: IndexMap<String, Region>,
    origins: Origins,
    audit: Audit,
}

impl Reader<'_> {
    /// Takes what a thread counted. Returns false if it must be read again after all other threads, as it inherited
    /// regions of one of them.
    fn take(&mut self, nodes: &[Node], is_last: bool) -> bool {
        let mut strata = strata(nodes);
        self.origins.note(&strata, nodes);
        if !is_last && !self.origins.know(&strata, nodes) {
            return false;
        }
        self.origins.give(&mut strata, nodes);
        let mut outside_ns = 0u64;
        for stratum in strata {
            let first = &nodes[stratum.nodes[0]];
            self.note(nodes, &stratum);
            match (first.number, region_name(first)) {
                (0, None) => outside_ns = outside_ns.saturating_add(stratum.times_ns().0),
                // What is entered where an entry around it passed stands in node 0, and in that entry's time.
                _ => outside_ns = outside_ns.saturating_sub(stratum.times_ns().1),
            }
            if let Some(name) = region_name(first) {
                self.add(nodes, &stratum, name);
            }
        }
        self.audit.outside_ns = self.audit.outside_ns.saturating_add(outside_ns);
        true
    }

    fn note(&mut self, nodes: &[Node], stratum: &Stratum) {
        let audit = &mut self.audit;
        for node in stratum.nodes.iter().map(|index| &nodes[*index]) {
            audit.nodes += 1;
            audit.tails += u64::from(node.is_tail);
            audit.open += u64::from(node.is_open && node.number != 0);
        }
        if nodes[stratum.nodes[0]].number == 0 {
            audit.time_ns = audit.time_ns.saturating_add(stratum.times_ns().0);
        } else {
            audit.uncounted += u64::from(stratum.entries > 0 && stratum.counted.entries == 0);
        }
    }

    fn add(&mut self, nodes: &[Node], stratum: &Stratum, name: &str) {
        if !self.regions.contains_key(name) {
            let region = Region {
                name: name.to_owned(),
                ..Region::default()
            };
            self.regions.insert(name.to_owned(), region);
        }
        let region = &mut self.regions[name];
        let first = &nodes[stratum.nodes[0]];
        let totals = &mut thread_of(&mut region.threads, first).totals;
        totals.add_entries(stratum, !is_within(first, name, nodes));
        let before = *totals;
        let mut groups = Vec::new();
        for (index, counted_entries) in stratum.nodes.iter().zip(&stratum.counted_in_nodes) {
            let node = &nodes[*index];
            let (trace, key) = (self.trace, (node.process, node.image));
            let modules = self
                .modules
                .entry(key)
                .or_insert_with(|| trace.counting_modules(node.process, node.image));
            let bytes_before = totals.counted_accesses.bytes;
            let mut sums = Sums {
                totals,
                code: &mut region.code,
                audit: &mut self.audit,
            };
            self.evaluator.add(node, modules, stratum.scale(), &mut sums);
            groups.push((*counted_entries, totals.counted_accesses.bytes - bytes_before));
        }
        totals.add_expectations(stratum, &before, &groups, self.costs);
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
pub fn region_name(node: &Node) -> Option<&str> {
    match (node.number, node.name.as_str()) {
        _ if node.is_whole_program => Some(WHOLE_PROGRAM),
        (0, _) => None,
        (_, "") => Some(UNKNOWN),
        (_, name) => Some(name),
    }
}

/// Whether it was entered, perhaps through others, within a region of the same name.
pub fn is_within(node: &Node, name: &str, nodes: &[Node]) -> bool {
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
