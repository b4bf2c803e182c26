//! Feeds an analysis from a program that is still running.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use trackway_trace::chunk::{FLAG_LAST, HEADER_LENGTH};
use trackway_trace::{ChunkHeader, ChunkKind, ChunkRef, Decoder, GrowingTrace, Trace, TraceError};

use crate::engine::{decoder_for, feed, start_shard};
use crate::{Analysis, Findings, Observer, Order, RunSummary};

/// The shard of an ended thread waits this long for more chunks. Late destructors record after the thread's last chunk;
/// the recorder finds that only when it looks for abandoned buffers.
const AFTERLIFE_NS: u64 = 2_000_000_000;
/// If more ended threads wait, the earliest ones stop waiting. Their late accesses then start with empty caches.
const MOST_ENDED_SHARDS: usize = 4096;

/// A chunk as it would stand in the file.
pub struct LiveChunk {
    pub header: ChunkHeader,
    /// Header and stored payload.
    pub bytes: Vec<u8>,
}

/// The result of a live run.
pub struct LiveRun {
    pub findings: Findings,
    pub summary: RunSummary,
    /// What is known of the program and its recording. The records are gone.
    pub trace: GrowingTrace,
}

/// Runs an analysis over chunks as they come, in the order of the file, until there are no more. The findings equal
/// those of [`crate::run`] over the file. `start` makes the analysis once the first records are there; modules may be
/// loaded later. `name` stands for the file in messages.
///
/// # Panics
/// If the analysis needs [`Order::AcrossThreads`], which only a whole trace has.
pub fn run_live<A: Analysis, E>(
    name: &Path,
    chunks: &mut dyn Iterator<Item = LiveChunk>,
    start: impl FnOnce(&GrowingTrace) -> Result<A, E>,
    observer: &dyn Observer,
) -> Result<LiveRun, E> {
    let mut trace = GrowingTrace::new(name);
    let mut next = take_definitions(&mut trace, chunks);
    let analysis = start(&trace)?;
    assert!(
        analysis.order() != Order::AcrossThreads,
        "streams can't be merged while they grow"
    );
    let mut shards = Shards::new(&analysis, observer);
    while let Some(chunk) = next {
        let (headers, following) = shards.take_records(&trace, chunk, chunks);
        headers.iter().for_each(|header| trace.push(header, &[]));
        next = match following {
            Some(definition) => {
                trace.push(&definition.header, &definition.bytes);
                take_definitions(&mut trace, chunks)
            }
            None => None,
        };
    }
    let (shard, summary) = shards.merged();
    let findings = analysis.finish(shard, trace.trace());
    Ok(LiveRun {
        findings,
        summary,
        trace,
    })
}

/// Takes all chunks up to the next one of records, and returns that.
fn take_definitions(
    trace: &mut GrowingTrace,
    mut chunks: &mut dyn Iterator<Item = LiveChunk>,
) -> Option<LiveChunk> {
    Iterator::find(&mut chunks, |chunk| {
        let is_records = chunk.header.kind == ChunkKind::Records;
        if !is_records {
            trace.push(&chunk.header, &chunk.bytes);
        }
        is_records
    })
}

/// A shard for each stream.
struct Shards<'r, A: Analysis> {
    analysis: &'r A,
    observer: &'r dyn Observer,
    of_stream: HashMap<u32, A::Shard>,
    /// Streams whose thread has ended, and when; the earliest first.
    ended: VecDeque<(u32, u64)>,
    /// The time of the program, as far as chunks tell.
    now_ns: u64,
    merged: A::Shard,
    summary: RunSummary,
}

impl<'r, A: Analysis> Shards<'r, A> {
    fn new(analysis: &'r A, observer: &'r dyn Observer) -> Self {
        Shards {
            analysis,
            observer,
            of_stream: HashMap::new(),
            ended: VecDeque::new(),
            now_ns: 0,
            merged: analysis.start_shard(),
            summary: RunSummary::default(),
        }
    }

    /// Takes `first` and all further chunks of records. Returns their headers, and the chunk that follows them.
    fn take_records(
        &mut self,
        trace: &GrowingTrace,
        first: LiveChunk,
        chunks: &mut dyn Iterator<Item = LiveChunk>,
    ) -> (Vec<ChunkHeader>, Option<LiveChunk>) {
        let mut decoder = decoder_for(self.analysis, trace.trace());
        for shard in self.of_stream.values_mut() {
            self.analysis.take_program(shard, trace.trace().program());
        }
        let mut position = trace.position();
        let mut headers = Vec::new();
        let mut next = Some(first);
        while let Some(chunk) = next.take_if(|chunk| chunk.header.kind == ChunkKind::Records) {
            self.take_chunk(trace.trace(), &mut decoder, position, &chunk);
            position += chunk.header.chunk_length();
            headers.push(chunk.header);
            next = chunks.next();
        }
        (headers, next)
    }

    fn take_chunk(&mut self, trace: &Trace, decoder: &mut Decoder, position: u64, chunk: &LiveChunk) {
        let before = self.summary.accesses;
        if let Err(error) = self.decode(trace, decoder, position, chunk) {
            self.summary.damage.push(error);
        }
        self.summary.chunks += 1;
        self.observer
            .advance(self.summary.accesses - before, chunk.header.raw_length.into());
        self.now_ns = self.now_ns.max(chunk.header.last_ns);
        if chunk.header.flags & FLAG_LAST != 0 {
            self.ended.push_back((chunk.header.stream, self.now_ns));
        }
        self.merge_ended();
    }

    fn decode(
        &mut self,
        trace: &Trace,
        decoder: &mut Decoder,
        position: u64,
        chunk: &LiveChunk,
    ) -> Result<(), TraceError> {
        let header = chunk.header;
        let stored = chunk.bytes.get(HEADER_LENGTH..).unwrap_or_default();
        let mut batches = decoder.decode_stored(
            &ChunkRef {
                header,
                offset: position,
            },
            stored,
        )?;
        let shard = self
            .of_stream
            .entry(header.stream)
            .or_insert_with(|| start_shard(self.analysis, trace));
        feed(self.analysis, &mut batches, shard, &mut self.summary)
    }

    /// Thousands of threads may come and go, so the memory of ended ones is freed.
    fn merge_ended(&mut self) {
        let now_ns = self.now_ns;
        let is_over = |ended: &VecDeque<(u32, u64)>| {
            let first = ended.front();
            let waited = first.is_some_and(|(_, since_ns)| now_ns - since_ns > AFTERLIFE_NS);
            waited || ended.len() > MOST_ENDED_SHARDS
        };
        while is_over(&self.ended) {
            let stream = self.ended.pop_front().map(|(stream, _)| stream);
            if let Some(shard) = stream.and_then(|stream| self.of_stream.remove(&stream)) {
                self.analysis.merge(&mut self.merged, shard);
            }
        }
    }

    fn merged(mut self) -> (A::Shard, RunSummary) {
        for shard in self.of_stream.into_values() {
            self.analysis.merge(&mut self.merged, shard);
        }
        self.summary.damage.sort_by_key(TraceError::offset);
        (self.merged, self.summary)
    }
}
