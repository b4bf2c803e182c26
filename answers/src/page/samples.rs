//! What the samples of a trace say, as the page shows it.

use trackway_analysis::objects::Objects;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::objects::{self, DEFAULT_SLICES};

/// Points of the picture; with more the page would open slowly.
const MOST_SPOTS: usize = 40_000;

/// Whether the trace has samples, but no records and no counts.
pub fn are_all(trace: &Trace) -> bool {
    trace.is_sampled() && trace.streams().iter().all(|stream| stream.chunks.is_empty())
}

/// The picture of memory over time, and the owners of that memory.
pub fn memory(trace: &Trace, rows: usize) -> Report {
    let joined = Objects::of(trace, DEFAULT_SLICES.into());
    let mut memory = objects::report(trace, &joined, rows);
    // The picture shows it by thread, too.
    memory
        .tables
        .retain(|table| !["object_phases", "object_tenths"].contains(&table.name()));
    memory.tables.splice(0..0, joined.spot_tables(MOST_SPOTS));
    memory
}
