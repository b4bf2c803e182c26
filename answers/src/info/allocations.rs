//! Calls of allocators.

use trackway_analysis::allocations::Allocations;
use trackway_report::{Table, TableBuilder};
use trackway_trace::allocations::AllocationStream;
use trackway_trace::{ChunkRef, Trace};

/// Totals of the calls, and their streams; none if there are no calls.
pub fn tables(trace: &Trace) -> Vec<Table> {
    if trace.allocation_streams().is_empty() {
        return Vec::new();
    }
    let findings = Allocations::of(trace, 1).findings(Default::default(), 0);
    let totals = findings
        .tables
        .into_iter()
        .filter(|table| table.name() == "allocation_totals");
    totals.chain([streams(trace)]).collect()
}

fn streams(trace: &Trace) -> Table {
    let gaps = |stream: &AllocationStream| {
        let of_stream = trace.gaps().iter().filter(|gap| gap.stream == stream.stream);
        of_stream.count() as u64
    };
    TableBuilder::new(
        "allocation_streams",
        "Streams of allocations",
        trace.allocation_streams(),
    )
    .number("stream", |stream| stream.stream)
    .number("process", |stream| stream.process)
    .count("chunks", |stream| stream.chunks.len())
    .bytes("raw_bytes", |stream| ChunkRef::raw_bytes(&stream.chunks))
    .count("gaps", gaps)
    .build()
}
