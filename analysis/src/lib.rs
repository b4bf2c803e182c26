//! Analyses of decoded traces.
//!
//! An [`Analysis`] takes batches of accesses and finishes into tables; [`run`] feeds one, or several at once, from a
//! trace, on all cores. `docs/analyses.md` lists the pages that define every number;
//! `docs/verbs/own-analysis.md` says how to write an analysis.

mod analyses;
mod engine;
mod model;

pub use analyses::{
    activity, allocations, branches, calls, coverage, drcachesim, edits, huge_pages, last, layout, map,
    memory, misses, objects, overflow, patterns, placement, regions, reuse, samples, served, sharing, slices,
    whatif,
};
pub use engine::{
    both, partial, run, run_live, run_unfinished, share_out, Analysis, Findings, LiveChunk, LiveRun,
    Observer, Order, RunSummary, SeparateFindings, SideBySide, WorkPart,
};
pub use model::{
    blocks, cache, control_flow, moments, site_counts, sources, structures, time, written_in, Names, UNKNOWN,
};
