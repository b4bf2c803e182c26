//! What counts, and what was counted.

use trackway_report::{Table, TableBuilder, Unit};
use trackway_trace::{Module, Node, Program, Trace};

/// A row for each translation unit that counts; none if there is none.
pub fn modules(program: &Program) -> Option<Table> {
    let modules = program.modules.iter();
    let counting: Vec<&Module> = modules.filter(|module| module.counter_count.is_some()).collect();
    let builder = TableBuilder::new("counting_modules", "Modules that count", &counting)
        .path("source_file", "source file", |module| {
            program.string(module.source_file)
        })
        .integer("blocks", "blocks", Unit::Count, |module| {
            module.blocks.len() as u64
        })
        .optional_integer("counters", "counters", Unit::Count, |module| {
            module.counter_count.map(u64::from)
        })
        .optional_integer("first_counter", "first counter", Unit::Number, |module| {
            module.counters.map(|counters| counters.first.into())
        })
        .optional_integer("process", "process", Unit::Number, |module| {
            module.counters.map(|_| module.process.into())
        })
        .optional_integer("image", "image", Unit::Number, |module| {
            module.counters.map(|counters| counters.image.into())
        });
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
        .integer("stream", "stream", Unit::Number, |row| row.node.stream.into())
        .integer("process", "process", Unit::Number, |row| row.node.process.into())
        .integer("thread", "thread", Unit::Number, |row| row.node.thread.into())
        .integer("node", "node", Unit::Number, |row| row.node.number.into())
        .integer("parent", "within", Unit::Number, |row| row.node.parent.into())
        .text("region", "region", |row| row.node.name.clone())
        .integer("entries", "entries", Unit::Count, |row| row.node.entries)
        .integer("counted_entries", "of them counted", Unit::Count, |row| {
            row.node.counted_entries
        })
        .integer("counted_time_ns", "their time (ns)", Unit::Count, |row| {
            row.node.counted_time_ns
        })
        .integer("timed_entries", "timed only", Unit::Count, |row| {
            row.node.timed_entries
        })
        .integer("timed_time_ns", "their time (ns)", Unit::Count, |row| {
            row.node.timed_time_ns
        })
        .optional_integer("inherited_from", "of stream", Unit::Number, |row| {
            row.node.origin.map(|origin| origin.stream.into())
        })
        .integer("counters", "counters that are not 0", Unit::Count, |row| {
            row.counters
        })
        .integer("image", "image", Unit::Number, |row| row.node.image.into())
        .text("left", "left", |row| yes_or_no(!row.node.is_open))
        .text("swept", "swept up", |row| yes_or_no(row.node.is_tail));
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

fn yes_or_no(condition: bool) -> &'static str {
    match condition {
        true => "yes",
        false => "no",
    }
}
