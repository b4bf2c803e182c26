//! What a trace is of, and whether it is whole.

use std::collections::BTreeSet;

use pyo3::prelude::*;
use trackway_trace::{build_id, ChunkKind, ChunkRef, Gap, GapReason, Trace};

/// A place where records of a thread are missing.
#[pyclass(frozen, get_all, module = "trackway")]
pub struct GapInfo {
    thread: u32,
    process: u32,
    before_chunk: u64,
    dropped_buffers: u64,
    reason: &'static str,
    first_ns: u64,
    last_ns: u64,
}

/// What is known of a trace without decoding its records.
#[pyclass(frozen, get_all, module = "trackway")]
pub struct TraceInfo {
    path: String,
    identity: String,
    program: String,
    arguments: Vec<String>,
    working_directory: String,
    host: String,
    build_id: Option<String>,
    processor: String,
    trackway_version: String,
    start_unix_ns: u64,
    start_monotonic_ns: u64,
    duration_ns: Option<u64>,
    clock: String,
    exit_status: Option<i32>,
    signal: Option<i32>,
    ending: Option<String>,
    threads: Vec<u32>,
    processes: usize,
    chunks: usize,
    file_bytes: u64,
    record_bytes: u64,
    functions: usize,
    sites: usize,
    has_accesses: bool,
    has_samples: bool,
    has_allocations: bool,
    has_counts: bool,
    gaps: Vec<Py<GapInfo>>,
    damage: Vec<String>,
}

impl TraceInfo {
    pub fn of(trace: &Trace, py: Python) -> PyResult<TraceInfo> {
        let (start, end) = (trace.meta(), trace.end());
        let streams = trace.streams();
        let records = || streams.iter().flat_map(|stream| &stream.chunks);
        let processes: BTreeSet<u32> = trace.processes().iter().map(|(number, _)| *number).collect();
        Ok(TraceInfo {
            path: trace.path().display().to_string(),
            identity: trackway_trace::hexadecimal(&trace.identity()),
            program: start.program.clone(),
            arguments: start.arguments.clone(),
            working_directory: start.working_directory.clone(),
            host: start.host.clone(),
            build_id: build_id(trace),
            processor: start.cpu_model.clone(),
            trackway_version: start.trackway_version.clone(),
            start_unix_ns: start.start_unix_ns,
            start_monotonic_ns: start.start_monotonic_ns,
            duration_ns: end.map(|end| end.end_monotonic_ns.saturating_sub(start.start_monotonic_ns)),
            clock: trace.clock().source,
            exit_status: end.and_then(|end| end.exit_status),
            signal: end.and_then(|end| end.signal),
            ending: end.map(|end| end.reason.clone()),
            threads: streams.iter().map(|stream| stream.id).collect(),
            processes: processes.len(),
            chunks: trace.chunks_of(ChunkKind::Records).count(),
            file_bytes: trace.file_length(),
            record_bytes: ChunkRef::raw_bytes(records()),
            functions: trace.program().functions.len(),
            sites: trace.program().sites.len(),
            has_accesses: records().next().is_some(),
            has_samples: trace.is_sampled(),
            has_allocations: !trace.allocation_streams().is_empty(),
            has_counts: !trace.counting_threads().is_empty(),
            gaps: trace
                .gaps()
                .iter()
                .map(|gap| Py::new(py, GapInfo::of(gap)))
                .collect::<PyResult<_>>()?,
            damage: trace
                .damage()
                .iter()
                .map(|damage| damage.error.to_string())
                .collect(),
        })
    }
}

impl GapInfo {
    fn of(gap: &Gap) -> GapInfo {
        GapInfo {
            thread: gap.stream,
            process: gap.process,
            before_chunk: gap.before_sequence,
            dropped_buffers: gap.dropped_buffers,
            reason: match gap.reason {
                GapReason::RingFull => "ring full",
                GapReason::WriteFailed => "write failed",
                GapReason::RecordingStopped => "recording stopped",
                GapReason::Damaged => "damaged",
                GapReason::Other(_) => "other",
            },
            first_ns: gap.first_ns,
            last_ns: gap.last_ns,
        }
    }
}
