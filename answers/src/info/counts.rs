//! What counts, and what was counted.

use trackway_report::{Table, TableBuilder};
use trackway_trace::{Module, Node, Program, Trace};

/// A row for each translation unit that counts; none if there is none.
pub fn modules(program: &Program) -> Option<Table> {
    let modules = program.modules.iter();
    let counting: Vec<&Module> = modules.filter(|module| module.counter_count.is_some()).collect();
    let builder = TableBuilder::new("counting_modules", "Modules that count", &counting)
        .path("source_file", |module| program.string(module.source_file))
        .count("blocks", |module| module.blocks.len())
        .count("counters", |module| module.counter_count)
        .number("first_counter", |module| {
            module.counters.map(|counters| counters.first)
        })
        .number("process", |module| module.counters.map(|_| module.process))
        .number("image", |module| module.counters.map(|counters| counters.image));
    (!counting.is_empty()).then(|| builder.build())
}

/// A row for each thread and region; none if nothing was counted.
pub fn nodes(trace: &Trace) -> Option<Table> {
    let threads = trace.counting_threads().iter();
    let rows: Vec<NodeRow> = threads
        .flat_map(|thread| trace.read_nodes(thread).0)
        .map(NodeRow::of)
        .collect();
    let builder = TableBuilder::new("nodes", "Nodes", &rows)
        .number("stream", |row| row.node.stream)
        .number("process", |row| row.node.process)
        .number("thread", |row| row.node.thread)
        .number("node", |row| row.node.number)
        .number(("parent", "within"), |row| row.node.parent)
        .text("region", |row| row.node.name.clone())
        .count("entries", |row| row.node.entries)
        .count(("counted_entries", "of them counted"), |row| {
            row.node.counted_entries
        })
        .count(("counted_time_ns", "their time (ns)"), |row| {
            row.node.counted_time_ns
        })
        .count(("timed_entries", "timed only"), |row| row.node.timed_entries)
        .count(("timed_time_ns", "their time (ns)"), |row| row.node.timed_time_ns)
        .number(("inherited_from", "of stream"), |row| {
            row.node.origin.map(|origin| origin.stream)
        })
        .count(("counters", "counters that are not 0"), |row| row.counters)
        .number("image", |row| row.node.image)
        .yes_or_no("left", |row| !row.node.is_open)
        .yes_or_no(("swept", "swept up"), |row| row.node.is_tail);
    (!rows.is_empty()).then(|| builder.build())
}

/// A node without its counters, of which there may be many.
struct NodeRow {
    node: Node,
    counters: u64,
}

impl NodeRow {
    fn of(mut node: Node) -> NodeRow {
        let counters = std::mem::take(&mut node.counters);
        let counters = counters.iter().filter(|counter| **counter != 0).count() as u64;
        NodeRow { node, counters }
    }
}
