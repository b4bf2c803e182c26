//! Slices and counts over time as tables.

use trackway_report::{grouped, Table, TableBuilder};
use trackway_trace::{FunctionId, Trace};

use super::kept::Slice;
use super::{SlicesShard, COUNTS};
use crate::model::Names;
use crate::Findings;

struct BinRow {
    process: u32,
    stream: u32,
    begin_ns: u64,
    counts: [u64; COUNTS],
}

pub(super) fn findings(shard: SlicesShard, trace: &Trace, levels: usize) -> Findings {
    let rows = bin_rows(&shard);
    let (slices, left_out) = shard.kept.into_sorted();
    Findings {
        answer: Some(format!(
            "{} calls of functions, {} shorter ones left out",
            grouped(slices.len() as u64),
            grouped(left_out)
        )),
        tables: vec![
            slices_table(&slices, left_out, trace),
            bins_table(&rows, trace, levels),
        ],
    }
}

fn bin_rows(shard: &SlicesShard) -> Vec<BinRow> {
    let rows = shard.threads.values().flat_map(|thread| {
        thread.bins.iter().map(|(begin_ns, counts)| BinRow {
            process: thread.process,
            stream: thread.stream,
            begin_ns,
            counts: *counts,
        })
    });
    rows.collect()
}

/// The system's number of a process.
fn pid(trace: &Trace, process: u32) -> u64 {
    let found = trace.processes().iter().find(|(number, _)| *number == process);
    found.map_or(process, |(_, info)| info.pid).into()
}

/// When the recording, or the first buffer, began: times are counted from there.
fn beginning(trace: &Trace) -> u64 {
    let chunks = trace.streams().iter().flat_map(|stream| &stream.chunks);
    let first = chunks.map(|chunk| chunk.header.first_ns).min();
    let recording = trace.meta().start_monotonic_ns;
    first.map_or(recording, |first| first.min(recording))
}

fn slices_table(slices: &[Slice], left_out: u64, trace: &Trace) -> Table {
    let program = trace.program();
    let names = Names::new(program);
    let beginning = beginning(trace);
    let name = |function| names.function(program.function(FunctionId(function)).linkage_name);
    TableBuilder::new("slices", "Calls of functions by time", slices)
        .total_rows(slices.len().saturating_add(left_out as usize))
        .number("process", |slice| pid(trace, slice.process))
        .number("stream", |slice| slice.stream)
        .number("depth", |slice| slice.depth)
        .text("function", |slice| name(slice.function))
        .number(("begin_ns", "begin (ns)"), |slice| {
            slice.begin_ns.saturating_sub(beginning)
        })
        .number(("duration_ns", "duration (ns)"), |slice| slice.duration_ns)
        .build()
}

fn bins_table(rows: &[BinRow], trace: &Trace, levels: usize) -> Table {
    let beginning = beginning(trace);
    let mut builder = TableBuilder::new("time_bins", "Accesses over time", rows)
        .number("process", |row| pid(trace, row.process))
        .number("stream", |row| row.stream)
        .number(("begin_ns", "begin (ns)"), |row| {
            row.begin_ns.saturating_sub(beginning)
        })
        .count("accesses", |row| row.counts[0]);
    for level in 1..=levels {
        let (name, title) = (format!("l{level}_misses"), format!("L{level} misses"));
        builder = builder.count((name, title), |row| row.counts[level]);
    }
    builder.build()
}
