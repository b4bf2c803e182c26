//! Feeds an analysis from a trace, on several threads.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;

use trackway_trace::{Batch, Batches, ChunkRef, Decoder, MergedStreams, Trace, TraceError};

use crate::order_audit::order_table;
use crate::{share_out, Analysis, Findings, Order, Part};

/// Told after each chunk: number of its accesses, bytes that it takes in the file. Called from several threads.
pub type Progress<'p> = &'p (dyn Fn(u64, u64) + Sync);

/// What a run went through.
#[derive(Debug, Default)]
pub struct RunSummary {
    pub accesses: u64,
    /// Allocations, function entries and the like.
    pub events: u64,
    pub chunks: u64,
    /// Accesses of threads that were stopped in the middle of a record: they were about to happen.
    pub uncertain_accesses: u64,
    /// Chunks, or ends of chunks, that could not be decoded, in the order of the file.
    pub damage: Vec<TraceError>,
}

impl RunSummary {
    fn add_batch(&mut self, batch: &Batch) {
        self.accesses += batch.access_count();
        self.events += batch.marks.len() as u64;
        self.uncertain_accesses += batch.uncertain_count();
    }

    fn add(&mut self, other: RunSummary) {
        self.accesses += other.accesses;
        self.events += other.events;
        self.chunks += other.chunks;
        self.uncertain_accesses += other.uncertain_accesses;
        self.damage.extend(other.damage);
    }
}

/// Runs the analysis over all records of the trace on up to `threads` threads. Damaged chunks are left out and listed.
pub fn run<A: Analysis>(
    analysis: &A,
    trace: &Trace,
    threads: NonZeroUsize,
    progress: Progress,
) -> (Findings, RunSummary) {
    if analysis.order() == Order::AcrossThreads {
        return run_across_threads(analysis, trace, progress);
    }
    let jobs = jobs(analysis, trace, threads);
    let total = Mutex::new((analysis.start_shard(), RunSummary::default()));
    share_out(&jobs, threads, |jobs| {
        let mut worker = Worker::new(analysis, trace, progress);
        jobs.for_each(|job| worker.run_job(job));
        worker.deliver(&total);
    });
    let (shard, mut summary) = total
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    summary.damage.sort_by_key(TraceError::offset);
    (analysis.finish(shard, trace), summary)
}

/// Runs the analysis over the merged streams of the trace.
fn run_across_threads<A: Analysis>(
    analysis: &A,
    trace: &Trace,
    progress: Progress,
) -> (Findings, RunSummary) {
    let mut shard = start_shard(analysis, trace);
    let mut summary = RunSummary::default();
    let mut merged = MergedStreams::new(trace);
    let mut latest = HashMap::new();
    loop {
        match merged.next_batch() {
            Ok(Some(batch)) => {
                analysis.take_batch(&mut shard, batch);
                summary.add_batch(batch);
                let is_new = latest.insert(batch.stream, batch.sequence) != Some(batch.sequence);
                let bytes = if is_new { stored_bytes(trace, batch) } else { 0 };
                summary.chunks += u64::from(is_new);
                progress(batch.access_count(), bytes);
            }
            Ok(None) => break,
            Err(error) => summary.damage.push(error),
        }
    }
    let mut findings = analysis.finish(shard, trace);
    findings.tables.push(order_table(merged.exactness(), trace));
    (findings, summary)
}

/// Of the chunk from which the batch comes.
fn stored_bytes(trace: &Trace, batch: &Batch) -> u64 {
    let stream = trace.stream(batch.stream);
    let chunk = stream.and_then(|stream| {
        let chunks = &stream.chunks;
        let position = chunks.binary_search_by_key(&batch.sequence, |chunk| chunk.header.sequence);
        Some(&chunks[position.ok()?])
    });
    chunk.map_or(0, |chunk| chunk.header.stored_length.into())
}

/// What one shard takes from start to end: a chunk, or a part of the work on all chunks of a stream.
struct Job<'t> {
    chunks: &'t [ChunkRef],
    part: Part,
}

/// The largest come first, so that the threads end at about the same time.
fn jobs<'t>(analysis: &impl Analysis, trace: &'t Trace, threads: NonZeroUsize) -> Vec<Job<'t>> {
    let streams = trace.streams().iter().map(|stream| stream.chunks.as_slice());
    let mut pieces: Vec<&[ChunkRef]> = match analysis.order() {
        Order::Any => streams.flat_map(|chunks| chunks.chunks(1)).collect(),
        Order::PerStream | Order::AcrossThreads => streams.filter(|chunks| !chunks.is_empty()).collect(),
    };
    pieces.sort_by_cached_key(|chunks| std::cmp::Reverse(raw_bytes(chunks)));
    let count = parts(analysis, &pieces, threads);
    let of_piece = |chunks| {
        (0..count).map(move |number| Job {
            chunks,
            part: Part { number, count },
        })
    };
    pieces.into_iter().flat_map(of_piece).collect()
}

/// One, unless the largest piece of work would keep one thread busy when the others have nothing left.
fn parts(analysis: &impl Analysis, pieces: &[&[ChunkRef]], threads: NonZeroUsize) -> u32 {
    let threads = threads.get() as u64;
    let total: u64 = pieces.iter().map(|chunks| raw_bytes(chunks)).sum();
    let largest = pieces.first().map_or(0, |chunks| raw_bytes(chunks));
    if analysis.order() != Order::PerStream || largest.saturating_mul(threads) <= total {
        return 1;
    }
    let wanted = u32::try_from(threads).unwrap_or(u32::MAX);
    1 << analysis.most_parts().min(wanted).max(1).ilog2()
}

fn raw_bytes(chunks: &[ChunkRef]) -> u64 {
    chunks
        .iter()
        .map(|chunk| u64::from(chunk.header.raw_length))
        .sum()
}

/// One thread's part.
struct Worker<'r, 't, A: Analysis> {
    analysis: &'r A,
    trace: &'t Trace,
    decoder: Decoder<'t>,
    progress: Progress<'r>,
    /// For [`Order::Any`], one shard for all jobs; else what the finished shards have come to.
    shard: Option<A::Shard>,
    summary: RunSummary,
}

impl<'r, 't, A: Analysis> Worker<'r, 't, A> {
    fn new(analysis: &'r A, trace: &'t Trace, progress: Progress<'r>) -> Self {
        Worker {
            analysis,
            trace,
            decoder: decoder_for(analysis, trace),
            progress,
            shard: None,
            summary: RunSummary::default(),
        }
    }

    fn run_job(&mut self, job: &Job) {
        let reusable = self.analysis.order() == Order::Any;
        let earlier = self.shard.take();
        let (mut shard, finished) = match earlier {
            Some(shard) if reusable => (shard, None),
            earlier => (start_part(self.analysis, self.trace, job.part), earlier),
        };
        for chunk in job.chunks {
            self.run_chunk(chunk, job.part, &mut shard);
        }
        if let Some(finished) = finished {
            self.analysis.merge(&mut shard, finished);
        }
        self.shard = Some(shard);
    }

    fn run_chunk(&mut self, chunk: &ChunkRef, part: Part, shard: &mut A::Shard) {
        let mut summary = RunSummary::default();
        if let Err(error) = self.decode_chunk(chunk, shard, &mut summary) {
            summary.damage.push(error);
        }
        summary.chunks = 1;
        if part.is_first() {
            (self.progress)(summary.accesses, chunk.header.stored_length.into());
            self.summary.add(summary);
        }
    }

    fn decode_chunk(
        &mut self,
        chunk: &ChunkRef,
        shard: &mut A::Shard,
        summary: &mut RunSummary,
    ) -> Result<(), TraceError> {
        let mut batches = self.decoder.decode(chunk)?;
        feed(self.analysis, &mut batches, shard, summary)
    }

    fn deliver(self, total: &Mutex<(A::Shard, RunSummary)>) {
        let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(shard) = self.shard {
            self.analysis.merge(&mut total.0, shard);
        }
        total.1.add(self.summary);
    }
}

/// A shard that knows the program.
pub(crate) fn start_shard<A: Analysis>(analysis: &A, trace: &Trace) -> A::Shard {
    start_part(analysis, trace, Part::WHOLE)
}

fn start_part<A: Analysis>(analysis: &A, trace: &Trace, part: Part) -> A::Shard {
    let mut shard = match part {
        Part::WHOLE => analysis.start_shard(),
        part => analysis.start_part(part),
    };
    analysis.take_program(&mut shard, trace.program());
    shard
}

/// A decoder that yields runs if the analysis takes them.
pub(crate) fn decoder_for<'t, A: Analysis>(analysis: &A, trace: &'t Trace) -> Decoder<'t> {
    match analysis.takes_runs() {
        true => Decoder::new(trace).with_runs(),
        false => Decoder::new(trace),
    }
}

/// Gives a shard all batches of a chunk.
pub(crate) fn feed<A: Analysis>(
    analysis: &A,
    batches: &mut Batches,
    shard: &mut A::Shard,
    summary: &mut RunSummary,
) -> Result<(), TraceError> {
    while let Some(batch) = batches.next_batch()? {
        analysis.take_batch(shard, batch);
        summary.add_batch(batch);
    }
    Ok(())
}
