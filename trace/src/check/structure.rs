//! Invariants of the file that its chunks' headers show.

use std::collections::HashMap;

use super::{Rule, Violation};
use crate::{ChunkKind, ChunkRef, Trace};

/// All violations that are visible without decoding records.
pub fn check_structure(trace: &Trace) -> Vec<Violation> {
    let mut violations = Vec::new();
    check_sequences(trace, &mut violations);
    for stream in trace.streams() {
        check_stream(stream.process, &stream.chunks, &mut violations);
    }
    for stream in trace.allocation_streams() {
        check_stream(stream.process, &stream.chunks, &mut violations);
    }
    check_chunk_count(trace, &mut violations);
    violations
}

fn violation(chunk: &ChunkRef, rule: Rule) -> Violation {
    Violation {
        chunk_offset: chunk.offset,
        stream: chunk.header.stream,
        position: 0,
        rule,
    }
}

/// Sequences run per stream and kind for what belongs to a stream, else per kind.
fn check_sequences(trace: &Trace, violations: &mut Vec<Violation>) {
    let mut next: HashMap<(u8, u32), u64> = HashMap::new();
    for chunk in trace.chunks() {
        let header = &chunk.header;
        let of_stream = matches!(
            header.kind,
            ChunkKind::Records
                | ChunkKind::OracleRecords
                | ChunkKind::Gap
                | ChunkKind::Counts
                | ChunkKind::Allocations
        );
        let stream = if of_stream { header.stream } else { 0 };
        if matches!(header.kind, ChunkKind::Other(_)) {
            continue;
        }
        let expected = next.entry((header.kind.into(), stream)).or_default();
        if header.sequence != *expected {
            let rule = Rule::Sequence {
                expected: *expected,
                found: header.sequence,
            };
            violations.push(violation(chunk, rule));
        }
        *expected = header.sequence.saturating_add(1);
    }
}

fn check_stream(process: u32, chunks: &[ChunkRef], violations: &mut Vec<Violation>) {
    let mut last_ns = 0;
    for chunk in chunks {
        let header = &chunk.header;
        if header.process != process {
            let rule = Rule::Process {
                expected: process,
                found: header.process,
            };
            violations.push(violation(chunk, rule));
        }
        for time_ns in [header.first_ns, header.last_ns] {
            if time_ns != 0 && time_ns < last_ns {
                violations.push(violation(
                    chunk,
                    Rule::Time {
                        earlier_ns: last_ns,
                        later_ns: time_ns,
                    },
                ));
            }
            last_ns = last_ns.max(time_ns);
        }
    }
}

fn check_chunk_count(trace: &Trace, violations: &mut Vec<Violation>) {
    let Some(end) = trace.end() else { return };
    let Some(position) = trace
        .chunks()
        .iter()
        .position(|chunk| chunk.header.kind == ChunkKind::End)
    else {
        return;
    };
    if end.chunks != position as u64 {
        let rule = Rule::ChunkCount {
            stated: end.chunks,
            found: position as u64,
        };
        violations.push(violation(&trace.chunks()[position], rule));
    }
}
