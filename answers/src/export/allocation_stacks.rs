//! Call stacks of allocators with what they allocated, for formats of stacks.

use trackway_analysis::allocations::Allocations;
use trackway_report::Report;
use trackway_trace::Trace;

use super::{ExportArguments, Format};
use crate::output;

/// All frames that are recorded, and functions inlined in them.
const ALL_FRAMES: usize = 1000;
/// Numbers that only allocations have.
const MEASURES: [&str; 5] = [
    "allocations",
    "bytes_at_peak",
    "peak_bytes",
    "leaked",
    "leaked_bytes",
];
/// The number if none is asked for.
pub const DEFAULT_MEASURE: &str = "bytes_at_peak";

/// Whether stacks of allocators are wanted: by the number, or because the trace has no others.
pub fn are_wanted(trace: &Trace, arguments: &ExportArguments) -> bool {
    let by_measure = arguments
        .measure
        .as_deref()
        .is_some_and(|measure| MEASURES.contains(&measure));
    let has_stacks = matches!(arguments.to, Some(Format::Folded | Format::Pprof));
    let has_calls = !trace.allocation_streams().is_empty();
    has_stacks && has_calls && (by_measure || trace.holds_only_allocations())
}

pub fn report(trace: &Trace) -> Report {
    let allocations = Allocations::of(trace, ALL_FRAMES);
    let report = Report {
        answer: String::new(),
        warnings: allocations.warnings(),
        tables: vec![allocations.stacks()],
    };
    report.warnings.iter().for_each(output::warn);
    report
}
