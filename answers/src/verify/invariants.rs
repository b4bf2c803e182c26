//! The rules of the format.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use trackway_analysis::share_out;
use trackway_report::{counted, grouped};
use trackway_trace::check::{check_structure, Decoded, Interpreter};
use trackway_trace::{ChunkRef, Trace};

use super::{samples, Verdict};

#[derive(Default)]
struct Findings {
    accesses: u64,
    chunks: u64,
    nodes: u64,
    samples: u64,
    /// Findings with the offset of the chunk, to sort by.
    texts: Vec<(u64, String)>,
}

pub fn check(trace: &Trace, threads: NonZeroUsize) -> Verdict {
    let chunks: Vec<ChunkRef> = trace
        .streams()
        .iter()
        .flat_map(|stream| &stream.chunks)
        .copied()
        .collect();
    let total = Mutex::new(Findings::default());
    share_out(&chunks, threads, |chunks| {
        let mut interpreter = Interpreter::new(trace);
        for chunk in chunks {
            let found = check_chunk(trace, &mut interpreter, chunk);
            total
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .add(found);
        }
    });
    let mut findings = total
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    findings.add(check_counts(trace));
    let samples = samples::check(trace);
    findings.samples = samples.samples;
    findings.texts.extend(samples.texts);
    let damage = trace
        .damage()
        .iter()
        .map(|damage| (damage.offset, damage.error.to_string()));
    findings.texts.extend(damage);
    let structure = check_structure(trace).into_iter();
    findings
        .texts
        .extend(structure.map(|violation| (violation.chunk_offset, violation.text(trace.program()))));
    if trace.end().is_none() {
        let what = format!(
            "the trace ends at offset {} without an end chunk",
            trace.file_length()
        );
        findings.texts.push((trace.file_length(), what));
    }
    findings.texts.sort();
    verdict(findings)
}

fn check_chunk(trace: &Trace, interpreter: &mut Interpreter, chunk: &ChunkRef) -> Findings {
    let mut accesses = 0;
    let mut count = |decoded| accesses += u64::from(matches!(decoded, Decoded::Access { .. }));
    let texts = match interpreter.run(chunk, &mut count) {
        Ok(violations) => violations
            .iter()
            .map(|violation| (violation.chunk_offset, violation.text(trace.program())))
            .collect(),
        Err(error) => vec![(chunk.offset, error.to_string())],
    };
    Findings {
        accesses,
        chunks: 1,
        texts,
        ..Findings::default()
    }
}

/// Checks only that counts can be read.
fn check_counts(trace: &Trace) -> Findings {
    let mut findings = Findings::default();
    for thread in trace.counting_threads() {
        let (nodes, damage) = trace.read_nodes(thread);
        findings.nodes += nodes.len() as u64;
        let texts = damage
            .iter()
            .map(|error| (error.offset().unwrap_or(0), error.to_string()));
        findings.texts.extend(texts);
    }
    findings
}

impl Findings {
    fn add(&mut self, other: Findings) {
        self.accesses += other.accesses;
        self.chunks += other.chunks;
        self.nodes += other.nodes;
        self.texts.extend(other.texts);
    }
}

fn verdict(findings: Findings) -> Verdict {
    let mut extent = format!(
        "{} accesses in {}",
        grouped(findings.accesses),
        counted(findings.chunks, "chunk")
    );
    if findings.nodes > 0 {
        extent = format!("{extent}, and {} of counts", counted(findings.nodes, "node"));
    }
    if findings.samples > 0 {
        extent = format!("{extent}, and {}", counted(findings.samples, "sample"));
    }
    let summary = match findings.texts.len() {
        0 => format!("invariants: hold for {extent}"),
        broken => format!("invariants: {} for {extent}", counted(broken as u64, "violation")),
    };
    Verdict {
        findings: findings.texts.into_iter().map(|(_, text)| text).collect(),
        summary,
    }
}
