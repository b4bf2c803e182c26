//! Feeds an analysis from a trace, on several threads.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;

use trackway_report::Table;
use trackway_trace::{Batch, Batches, ChunkRef, Decoder, MergedStreams, Trace, TraceError};

use crate::engine::order_audit::order_table;
use crate::engine::team::Team;
use crate::{share_out, Analysis, Findings, Order, WorkPart};

/// Follows a run, and may stop it. Asked from several threads.
pub trait Observer: Sync {
    /// Called when a pass, or several passes, over this many bytes of records begins. An answer may take several.
    fn begin(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Called after each chunk with the number of its accesses, and its bytes after decompression: the time that a chunk takes
    /// goes rather by these than by what it takes in the file.
    fn advance(&self, accesses: u64, bytes: u64);

    /// Called when this many of those bytes won't be read, for there is nothing to look for.
    fn skip(&self, bytes: u64) {
        self.advance(0, bytes);
    }

    /// Whether to stop reading the trace, because the findings are no longer wanted.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// An observer that only counts.
impl<F: Fn(u64, u64) + Sync> Observer for F {
    fn advance(&self, accesses: u64, bytes: u64) {
        self(accesses, bytes);
    }
}

/// What a run went through.
#[derive(Debug, Default)]
pub struct RunSummary {
    pub accesses: u64,
    /// Those that functions of libraries made.
    pub by_library: u64,
    /// Allocations, function entries and the like.
    pub events: u64,
    pub chunks: u64,
    /// Accesses of threads that were stopped in the middle of a record: they were about to happen.
    pub uncertain_accesses: u64,
    /// Chunks, or ends of chunks, that could not be decoded, in the order of the file.
    pub damage: Vec<TraceError>,
}

impl RunSummary {
    pub(crate) fn add_batch(&mut self, batch: &Batch) {
        self.accesses = self.accesses.saturating_add(batch.access_count());
        self.by_library += batch.by_library.len() as u64;
        self.events += batch.marks.len() as u64;
        self.uncertain_accesses = self.uncertain_accesses.saturating_add(batch.uncertain_count());
    }

    pub(crate) fn add(&mut self, other: RunSummary) {
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.by_library += other.by_library;
        self.events += other.events;
        self.chunks += other.chunks;
        self.uncertain_accesses = self.uncertain_accesses.saturating_add(other.uncertain_accesses);
        self.damage.extend(other.damage);
    }
}

/// Runs the analysis over all records of the trace on up to `threads` threads. Damaged chunks are left out and listed.
pub fn run<A: Analysis>(
    analysis: &A,
    trace: &Trace,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> (Findings, RunSummary) {
    let (shard, summary, order) = gather(analysis, trace, threads, observer);
    let mut findings = analysis.finish(shard, trace);
    findings.tables.extend(order);
    (findings, summary)
}

/// The same without its end: the shard that all others were merged into, for what is no table yet.
pub fn run_unfinished<A: Analysis>(
    analysis: &A,
    trace: &Trace,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> (A::Shard, RunSummary) {
    let (shard, summary, _) = gather(analysis, trace, threads, observer);
    (shard, summary)
}

/// Also says how exact the order of threads was, if it mattered.
fn gather<A: Analysis>(
    analysis: &A,
    trace: &Trace,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> (A::Shard, RunSummary, Option<Table>) {
    if analysis.order() == Order::AcrossThreads {
        let (shard, summary, order) = gather_across_threads(analysis, trace, threads, observer);
        return (shard, summary, Some(order));
    }
    let total = Mutex::new((None, RunSummary::default()));
    let work = Work::new(analysis, trace, threads);
    for chunks in work.divided {
        Worker::new(analysis, trace, observer).run_in_parts(chunks, work.parts, threads, &total);
    }
    share_out(&work.whole, threads, |jobs| {
        let mut worker = Worker::new(analysis, trace, observer);
        jobs.for_each(|chunks| worker.run_job(chunks));
        worker.deliver(&total);
    });
    let (shard, mut summary) = total
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    summary.damage.sort_by_key(TraceError::offset);
    // A trace without records has a program nevertheless.
    let shard = shard.unwrap_or_else(|| start_shard(analysis, trace));
    (shard, summary, None)
}

/// Runs the analysis over the merged streams of the trace.
fn gather_across_threads<A: Analysis>(
    analysis: &A,
    trace: &Trace,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> (A::Shard, RunSummary, Table) {
    let mut merged = match analysis.follows_blocks() {
        true => MergedStreams::from_start(trace),
        false => MergedStreams::new(trace),
    };
    let parts = match analysis.divides_merged() && threads.get() > 1 {
        true => divided_by(analysis, threads),
        false => 1,
    };
    let (shard, summary) = match parts {
        // To copy short batches for another thread takes as long as many an analysis.
        1 => {
            let mut shard = start_shard(analysis, trace);
            let take = |batch: &mut Batch| analysis.take_batch(&mut shard, batch);
            let summary = take_merged(&mut merged, trace, observer, take);
            (shard, summary)
        }
        parts => run_merged_in_parts(analysis, &mut merged, trace, (parts, threads), observer),
    };
    let order = order_table(merged.exactness(), trace);
    (shard, summary, order)
}

/// One thread merges, and all share the work on what comes of it.
fn run_merged_in_parts<A: Analysis>(
    analysis: &A,
    merged: &mut MergedStreams,
    trace: &Trace,
    (parts, threads): (u32, NonZeroUsize),
    observer: &dyn Observer,
) -> (A::Shard, RunSummary) {
    let mut summary = RunSummary::default();
    let team = Team::new(analysis, parts, |part| start_part(analysis, trace, part));
    let shards = team.run(threads, |feed| {
        summary = take_merged(merged, trace, observer, |batch| feed.push(batch));
    });
    let whole = merged_shard(analysis, shards);
    (whole.unwrap_or_else(|| start_shard(analysis, trace)), summary)
}

/// What the shards of all parts know together.
fn merged_shard<A: Analysis>(analysis: &A, shards: Vec<A::Shard>) -> Option<A::Shard> {
    shards.into_iter().reduce(|mut into, from| {
        analysis.merge(&mut into, from);
        into
    })
}

/// Gives all batches to `take`, in the merged order. It may exchange them for others.
pub(crate) fn take_merged(
    merged: &mut MergedStreams,
    trace: &Trace,
    observer: &dyn Observer,
    mut take: impl FnMut(&mut Batch),
) -> RunSummary {
    let mut summary = RunSummary::default();
    let mut latest = HashMap::new();
    while !observer.is_stopped() {
        match merged.next_batch() {
            Ok(Some(batch)) => {
                summary.add_batch(batch);
                let is_new = latest.insert(batch.stream, batch.sequence) != Some(batch.sequence);
                let bytes = if is_new { raw_bytes(trace, batch) } else { 0 };
                summary.chunks += u64::from(is_new);
                observer.advance(batch.access_count(), bytes);
                take(batch);
            }
            Ok(None) => break,
            Err(error) => summary.damage.push(error),
        }
    }
    summary
}

/// Bytes of the chunk from which the batch comes, after decompression.
fn raw_bytes(trace: &Trace, batch: &Batch) -> u64 {
    let stream = trace.stream(batch.stream);
    let chunk = stream.and_then(|stream| {
        let chunks = stream.chunks_from_start();
        let position = chunks.binary_search_by_key(&batch.sequence, |chunk| chunk.header.sequence);
        Some(&chunks[position.ok()?])
    });
    chunk.map_or(0, |chunk| chunk.header.raw_length.into())
}

/// A stream whose work can't be divided is decoded by a thread of its own if all others have less than one of so many
/// parts of its bytes: then they are as good as none.
const MOST_BESIDE: u64 = 8;

/// Chunks, or streams, the largest first, so that the threads end at about the same time.
struct Work<'t> {
    /// What is decoded by one thread while others work on it, part by part.
    divided: Vec<&'t [ChunkRef]>,
    parts: u32,
    /// What one shard takes from start to end.
    whole: Vec<&'t [ChunkRef]>,
}

impl<'t> Work<'t> {
    fn new(analysis: &impl Analysis, trace: &'t Trace, threads: NonZeroUsize) -> Work<'t> {
        let streams = trace
            .streams()
            .iter()
            .map(|stream| match analysis.follows_blocks() {
                true => stream.chunks_from_start(),
                false => &stream.chunks,
            });
        let mut pieces: Vec<&[ChunkRef]> = match analysis.order() {
            Order::Any => streams.flat_map(|chunks| chunks.chunks(1)).collect(),
            Order::PerStream | Order::AcrossThreads => streams.filter(|chunks| !chunks.is_empty()).collect(),
        };
        pieces.sort_by_cached_key(|chunks| std::cmp::Reverse(ChunkRef::raw_bytes(*chunks)));
        let parts = parts(analysis, threads);
        let total: u64 = pieces.iter().map(|chunks| ChunkRef::raw_bytes(*chunks)).sum();
        // It would keep one thread busy when the others have nothing left.
        let is_long = |chunks: &&[ChunkRef]| {
            let bytes = ChunkRef::raw_bytes(*chunks);
            match parts {
                1 => bytes / MOST_BESIDE > total - bytes,
                _ => bytes.saturating_mul(threads.get() as u64) > total,
            }
        };
        let can_divide = threads.get() > 1 && analysis.order() == Order::PerStream;
        let divided = pieces.partition_point(|chunks| can_divide && is_long(chunks));
        let whole = pieces.split_off(divided);
        Work {
            divided: pieces,
            parts,
            whole,
        }
    }
}

/// Into how many parts the work on a stream is divided.
fn parts(analysis: &impl Analysis, threads: NonZeroUsize) -> u32 {
    match analysis.order() {
        Order::PerStream => divided_by(analysis, threads),
        Order::Any | Order::AcrossThreads => 1,
    }
}

/// As many parts as there are threads, or as the analysis has at least, as far as it allows; a power of two.
fn divided_by(analysis: &impl Analysis, threads: NonZeroUsize) -> u32 {
    let threads = u32::try_from(threads.get()).unwrap_or(u32::MAX);
    let wanted = threads.max(analysis.least_parts());
    1 << analysis.most_parts().min(wanted).max(1).ilog2()
}

/// What the workers have delivered so far.
type Total<A> = (Option<<A as Analysis>::Shard>, RunSummary);

/// One thread's part.
struct Worker<'r, 't, A: Analysis> {
    analysis: &'r A,
    trace: &'t Trace,
    decoder: Decoder<'t>,
    observer: &'r dyn Observer,
    /// For [`Order::Any`], the shard of all jobs; otherwise, what the finished shards have come to.
    shard: Option<A::Shard>,
    summary: RunSummary,
}

impl<'r, 't, A: Analysis> Worker<'r, 't, A> {
    fn new(analysis: &'r A, trace: &'t Trace, observer: &'r dyn Observer) -> Self {
        Worker {
            analysis,
            trace,
            decoder: decoder_for(analysis, trace),
            observer,
            shard: None,
            summary: RunSummary::default(),
        }
    }

    fn run_job(&mut self, chunks: &[ChunkRef]) {
        let reusable = self.analysis.order() == Order::Any;
        let earlier = self.shard.take();
        let (mut shard, finished) = match earlier {
            Some(shard) if reusable => (shard, None),
            earlier => (start_shard(self.analysis, self.trace), earlier),
        };
        let analysis = self.analysis;
        let observer = self.observer;
        for chunk in chunks.iter().take_while(|_| !observer.is_stopped()) {
            self.run_chunk(chunk, |batches, summary| {
                feed(analysis, batches, &mut shard, summary)
            });
        }
        if let Some(finished) = finished {
            self.analysis.merge(&mut shard, finished);
        }
        self.shard = Some(shard);
    }

    /// Decodes for all threads, and shares the work on what was decoded with them.
    fn run_in_parts(
        mut self,
        chunks: &[ChunkRef],
        parts: u32,
        threads: NonZeroUsize,
        total: &Mutex<Total<A>>,
    ) {
        let (analysis, trace) = (self.analysis, self.trace);
        let observer = self.observer;
        let team = Team::new(analysis, parts, |part| start_part(analysis, trace, part));
        let mut spare = Batch::default();
        let shards = team.run(threads, |feed| {
            for chunk in chunks.iter().take_while(|_| !observer.is_stopped()) {
                self.run_chunk(chunk, |batches, summary| {
                    while let Some(mut batch) = batches.exchange_batch(&mut spare)? {
                        summary.add_batch(&batch);
                        feed.push(&mut batch);
                        spare = batch;
                    }
                    Ok(())
                });
            }
        });
        self.shard = merged_shard(analysis, shards);
        self.deliver(total);
    }

    fn run_chunk(
        &mut self,
        chunk: &ChunkRef,
        run: impl FnOnce(&mut Batches, &mut RunSummary) -> Result<(), TraceError>,
    ) {
        let mut summary = RunSummary::default();
        let batches = self.decoder.decode(chunk);
        if let Err(error) = batches.and_then(|mut batches| run(&mut batches, &mut summary)) {
            summary.damage.push(error);
        }
        summary.chunks = 1;
        self.observer
            .advance(summary.accesses, chunk.header.raw_length.into());
        self.summary.add(summary);
    }

    fn deliver(self, total: &Mutex<Total<A>>) {
        let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match (&mut total.0, self.shard) {
            (Some(sum), Some(shard)) => self.analysis.merge(sum, shard),
            (sum @ None, shard) => *sum = shard,
            (Some(_), None) => {}
        }
        total.1.add(self.summary);
    }
}

/// A shard that knows the program.
pub(crate) fn start_shard<A: Analysis>(analysis: &A, trace: &Trace) -> A::Shard {
    start_part(analysis, trace, WorkPart::WHOLE)
}

fn start_part<A: Analysis>(analysis: &A, trace: &Trace, part: WorkPart) -> A::Shard {
    let mut shard = match part {
        WorkPart::WHOLE => analysis.start_shard(),
        part => analysis.start_part(part),
    };
    analysis.take_program(&mut shard, trace.program());
    shard
}

/// A decoder that yields runs if the analysis takes them.
pub(crate) fn decoder_for<'t, A: Analysis>(analysis: &A, trace: &'t Trace) -> Decoder<'t> {
    let decoder = match analysis.takes_runs() {
        true => Decoder::new(trace).with_runs(),
        false => Decoder::new(trace),
    };
    match analysis.follows_blocks() {
        true => decoder.from_start(),
        false => decoder,
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
