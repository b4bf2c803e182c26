//! An opened trace.

mod definitions;
mod follower;
mod gap;
mod growing;
mod streams;

pub use follower::Follower;
pub use gap::{Gap, GapReason};
pub use growing::GrowingTrace;
pub use streams::Stream;

use std::collections::HashMap;
use std::fs::File;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use memmap2::{Advice, Mmap, UncheckedAdvice};
use xxhash_rust::xxh3::xxh3_64;

use crate::allocations::AllocationStream;
use crate::code::Code;
use crate::columns::ColumnReader;
use crate::index;
use crate::marks::{windows, MarkList};
use crate::merge::Loaded;
use crate::payload::decompress;
use crate::slice::Sliced;
use crate::{
    ChunkKind, ChunkRef, Clock, CountingThread, EndInfo, MarkInfo, ProcessInfo, Program, StartInfo,
    TraceError, Window,
};

/// The kernel maps so many bytes at once, aligned: also those before a chunk, which were given back already.
const FAULTED_BYTES: usize = 64 << 10;

/// A trace file: its program, its streams and where their chunks are. Chunks are read when they are decoded.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    /// Shared with slices of the trace.
    bytes: Arc<Bytes>,
    identity: [u8; 16],
    chunks: Vec<ChunkRef>,
    start: StartInfo,
    end: Option<EndInfo>,
    processes: Vec<(u32, ProcessInfo)>,
    marks: MarkList,
    stacks: HashMap<u32, u64>,
    pub(crate) program: Program,
    loaded: Loaded,
    columns: ColumnReader,
    code: OnceLock<Code>,
    pub(crate) streams: Vec<Stream>,
    counting_threads: Vec<CountingThread>,
    allocation_streams: Vec<AllocationStream>,
    pub(crate) gaps: Vec<Gap>,
    /// The gaps of the slice, if there is one.
    pub(crate) gaps_inside: Option<Vec<Gap>>,
    damage: Vec<Damage>,
    /// Boxed, so that it costs nothing where there is none.
    pub(crate) slice: Option<Box<Sliced>>,
}

/// The bytes of the file.
#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

impl Bytes {
    /// Gives back memory that holds a part of the file. What is read there later comes from the file again.
    fn release(&self, range: Range<usize>) {
        if let Bytes::Mapped(map) = self {
            // SAFETY: the map is of a file and is never written to, so nothing is lost.
            let _ =
                unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len()) };
        }
    }
}

/// A part of the file that could not be read. The rest is as usable as ever.
#[derive(Debug)]
pub struct Damage {
    /// Offset in the file, bytes.
    pub offset: u64,
    pub error: TraceError,
}

impl Trace {
    /// Opens a trace and reads all of it but the records. A damaged part goes to [`Trace::damage`]; an error means
    /// that the file is not a trace or cannot be read at all.
    pub fn open(path: &Path) -> Result<Trace, TraceError> {
        let file = File::open(path).map_err(TraceError::io(path, "open the file"))?;
        let metadata = file
            .metadata()
            .map_err(TraceError::io(path, "inspect the file"))?;
        if !metadata.is_file() || metadata.len() < index::FILE_HEADER_LENGTH as u64 {
            let what = "it is no file, or shorter than a trace's header";
            return Err(TraceError::NotATrace {
                file: path.to_path_buf(),
                what,
            });
        }
        // SAFETY: the map is only read. That nobody shortens the file meanwhile is a condition of every mapping; the
        // writer replaces a trace by a new file instead of rewriting it.
        let map = unsafe { Mmap::map(&file) }.map_err(TraceError::io(path, "map the file"))?;
        let _ = map.advise(Advice::Sequential);
        Trace::read(path, Arc::new(Bytes::Mapped(map)))
    }

    /// Reads a trace from memory; `name` stands for the file in messages.
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> Result<Trace, TraceError> {
        Trace::read(name, Arc::new(Bytes::Owned(bytes)))
    }

    /// Reads the same bytes once more, without the slice.
    pub fn again(&self) -> Result<Trace, TraceError> {
        Trace::read(&self.path, Arc::clone(&self.bytes))
    }

    fn read(path: &Path, bytes: Arc<Bytes>) -> Result<Trace, TraceError> {
        let identity = index::check_file_header(path, &bytes)?;
        let (chunks, damage) = index::find_chunks(path, &bytes);
        let mut trace = Trace::without_content(path, identity);
        trace.bytes = bytes;
        trace.chunks = chunks;
        if let Some(error) = damage {
            trace.report(error);
        }
        trace.read_definitions();
        trace.read_streams();
        Ok(trace)
    }

    fn without_content(path: &Path, identity: [u8; 16]) -> Trace {
        Trace {
            path: path.to_path_buf(),
            bytes: Arc::new(Bytes::Owned(Vec::new())),
            identity,
            chunks: Vec::new(),
            start: StartInfo::default(),
            end: None,
            processes: Vec::new(),
            marks: MarkList::default(),
            stacks: HashMap::new(),
            program: Program::default(),
            loaded: Loaded::default(),
            columns: ColumnReader::default(),
            code: OnceLock::new(),
            streams: Vec::new(),
            counting_threads: Vec::new(),
            allocation_streams: Vec::new(),
            gaps: Vec::new(),
            gaps_inside: None,
            damage: Vec::new(),
            slice: None,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Random identity of the trace.
    pub fn identity(&self) -> [u8; 16] {
        self.identity
    }

    /// Length of the file, bytes.
    pub fn file_length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// What was recorded, where and how; all empty if that chunk is missing.
    pub fn meta(&self) -> &StartInfo {
        &self.start
    }

    /// The clock of all stamps; nanoseconds where the trace doesn't name one.
    pub fn clock(&self) -> Clock {
        self.start.clock.clone().unwrap_or_default()
    }

    /// How the recording ended; none if the recorder was killed.
    pub fn end(&self) -> Option<&EndInfo> {
        self.end.as_ref()
    }

    /// The processes that began and ended, with their numbers in the trace.
    pub fn processes(&self) -> &[(u32, ProcessInfo)] {
        &self.processes
    }

    /// All marks in the order of time.
    pub fn marks(&self) -> &[MarkInfo] {
        self.marks.as_slice()
    }

    /// An address in the stack on which each stream began, by its number, as far as the trace says.
    pub fn stacks(&self) -> &HashMap<u32, u64> {
        &self.stacks
    }

    /// The times in which recording was on, in the order of their beginning. None if the trace has no marks: then it
    /// was recorded as a whole.
    pub fn windows(&self) -> Vec<Window> {
        windows(self.marks(), self.span_ns().1)
    }

    /// The first and the last moment that the trace knows of, CLOCK_MONOTONIC nanoseconds.
    pub fn span_ns(&self) -> (u64, u64) {
        let recorded = self
            .chunks
            .iter()
            .filter(|chunk| matches!(chunk.header.kind, ChunkKind::Records | ChunkKind::Allocations));
        let times = recorded.flat_map(|chunk| [chunk.header.first_ns, chunk.header.last_ns]);
        let bounds = [
            self.start.start_monotonic_ns,
            self.end.as_ref().map_or(0, |end| end.end_monotonic_ns),
        ];
        // 0 stands for an unknown time.
        let known = || times.clone().chain(bounds).filter(|time_ns| *time_ns > 0);
        (known().min().unwrap_or(0), known().max().unwrap_or(0))
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// All streams, in the order of their numbers.
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    pub fn stream(&self, id: u32) -> Option<&Stream> {
        let position = self.streams.binary_search_by_key(&id, |stream| stream.id).ok()?;
        Some(&self.streams[position])
    }

    /// The streams of threads that counted, in the order of their numbers; their counts are read by
    /// [`Trace::read_nodes`].
    pub fn counting_threads(&self) -> &[CountingThread] {
        &self.counting_threads
    }

    /// The streams of calls of allocators, in the order of their numbers;
    /// [`AllocationEvents`](crate::allocations::AllocationEvents) reads them.
    pub fn allocation_streams(&self) -> &[AllocationStream] {
        &self.allocation_streams
    }

    /// Whether it has calls of allocators, and neither records nor counts.
    pub fn holds_only_allocations(&self) -> bool {
        !self.allocation_streams.is_empty()
            && self.counting_threads.is_empty()
            && self.streams.iter().all(|stream| stream.chunks.is_empty())
    }

    /// Whether the trace is from a program that counts, and has no records.
    pub fn holds_only_counts(&self) -> bool {
        let mut modules = self.program.modules.iter();
        let counts =
            !self.counting_threads.is_empty() || modules.any(|module| module.counter_count.is_some());
        counts && self.streams.iter().all(|stream| stream.chunks.is_empty())
    }

    /// All places where records are missing; of a slice, those within its times and threads.
    pub fn gaps(&self) -> &[Gap] {
        self.gaps_inside.as_deref().unwrap_or(&self.gaps)
    }

    /// The same, in the slice or outside.
    pub(crate) fn all_gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Whether records are missing before this chunk of the stream, in the slice or outside.
    pub fn has_gap_before(&self, stream: u32, sequence: u64) -> bool {
        let mut gaps = self.gaps.iter();
        gaps.any(|gap| gap.stream == stream && gap.before_sequence == sequence)
    }

    /// The parts of the file that could not be read.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// All chunks but the index, in the order of the file.
    pub fn chunks(&self) -> &[ChunkRef] {
        &self.chunks
    }

    /// The chunks of one kind, in the order of the file.
    pub fn chunks_of(&self, kind: ChunkKind) -> impl Iterator<Item = &ChunkRef> + '_ {
        self.chunks.iter().filter(move |chunk| chunk.header.kind == kind)
    }

    /// Replaces the content of `payload` by the chunk's payload, checked and decompressed.
    pub fn read_payload(&self, chunk: &ChunkRef, payload: &mut Vec<u8>) -> Result<(), TraceError> {
        let unpacked = self.unpack_payload(chunk, self.stored_payload(chunk)?, 0, payload);
        self.release(chunk);
        unpacked
    }

    /// Gives back the memory that holds a chunk as it is stored.
    pub(crate) fn release(&self, chunk: &ChunkRef) {
        let end = chunk.offset.saturating_add(chunk.header.chunk_length());
        let end = end.min(self.file_length()) as usize;
        let start = (chunk.offset as usize).min(end);
        self.bytes.release(start / FAULTED_BYTES * FAULTED_BYTES..end);
    }

    /// Replaces the content of `payload` by the decompressed payload of a chunk, followed by `padding` zero bytes.
    pub(crate) fn unpack_payload(
        &self,
        chunk: &ChunkRef,
        stored: &[u8],
        padding: usize,
        payload: &mut Vec<u8>,
    ) -> Result<(), TraceError> {
        decompress(&chunk.header, stored, &self.columns, padding, payload)
            .map_err(|what| self.bad_compression(chunk, what))
    }

    /// The error for a stored payload that can't be a result of compression.
    pub(crate) fn bad_compression(&self, chunk: &ChunkRef, what: String) -> TraceError {
        TraceError::BadCompression {
            file: self.path.clone(),
            offset: chunk.offset,
            what,
        }
    }

    /// The reader that joins records that were split.
    pub(crate) fn columns(&self) -> &ColumnReader {
        &self.columns
    }

    pub(crate) fn stored_payload(&self, chunk: &ChunkRef) -> Result<&[u8], TraceError> {
        let (header, stored) = index::chunk_at(&self.bytes, chunk.offset as usize)
            .map_err(|problem| problem.into_error(&self.path, chunk.offset))?;
        let damaged = |what| TraceError::BadChecksum {
            file: self.path.clone(),
            offset: chunk.offset,
            what,
        };
        if header != chunk.header {
            return Err(damaged("the index has another header for it"));
        }
        if xxh3_64(stored) != header.payload_checksum {
            return Err(damaged("its checksum is wrong"));
        }
        Ok(stored)
    }

    /// The segments of all modules in the decoder's form; made when first asked for.
    pub(crate) fn code(&self) -> &Code {
        self.code
            .get_or_init(|| Code::compile(&self.loaded, &self.program, self.clock()))
    }

    pub(crate) fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    fn report(&mut self, error: TraceError) {
        let offset = error.offset().unwrap_or(0);
        self.damage.push(Damage { offset, error });
    }

    pub(crate) fn bad_record(&self, chunk: &ChunkRef, position: u64, what: String) -> TraceError {
        TraceError::BadRecord {
            file: self.path.clone(),
            offset: chunk.offset,
            position,
            what,
        }
    }

    /// Reads a payload that is an array of `unit` bytes each.
    pub(crate) fn read_units(
        &self,
        chunk: &ChunkRef,
        unit: usize,
        payload: &mut Vec<u8>,
    ) -> Result<(), TraceError> {
        self.read_payload(chunk, payload)?;
        match payload.len().is_multiple_of(unit) {
            true => Ok(()),
            false => Err(self.bad_length(chunk, payload.len(), unit)),
        }
    }

    fn bad_length(&self, chunk: &ChunkRef, length: usize, unit: usize) -> TraceError {
        let file = self.path.clone();
        TraceError::BadLength {
            file,
            offset: chunk.offset,
            length: length as u64,
            unit: unit as u64,
        }
    }
}
