//! A flight recorder: the newest records stay in memory, and go to a trace of their own when something is worth it.

mod memory;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use trackway_trace::chunk::FLAG_TAIL;
use trackway_trace::{
    encode_marks, Chunk, ChunkEncoder, ChunkFields, ChunkHeader, ChunkKind, Codec, EndInfo, MarkInfo,
    MarkKind, TraceError, TraceWriter,
};

use super::file::FileSink;
use super::first_part::FirstPart;
use super::{ChunkSink, SinkError};
use crate::options::Flight;
use memory::{cost_of, Held, Memory};

/// What is to be written, and why.
#[derive(Debug, Clone)]
pub struct SnapshotRequest {
    pub path: PathBuf,
    /// A word for the trace's marks: `control`, `program`, `slow` or `end`.
    pub cause: String,
    /// Why, for people.
    pub reason: String,
    /// When recording began and when the snapshot was asked for, CLOCK_MONOTONIC nanoseconds.
    pub begin_ns: u64,
    pub end_ns: u64,
    pub exit_status: Option<i32>,
    pub signal: Option<i32>,
}

/// A trace that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub path: PathBuf,
    /// Why, for people.
    pub reason: String,
    /// Bytes of the file, or why there is none.
    pub written: Result<u64, String>,
    /// Nanoseconds of which all records are there.
    pub covered_ns: u64,
}

/// What has become of the snapshots, for those who ask and for the sink.
#[derive(Debug, Default)]
pub struct SnapshotBoard {
    state: Mutex<BoardState>,
}

#[derive(Debug, Default)]
struct BoardState {
    is_writing: bool,
    done: Vec<Snapshot>,
}

impl SnapshotBoard {
    fn lock(&self) -> MutexGuard<'_, BoardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_writing(&self) -> bool {
        self.lock().is_writing
    }

    pub fn done(&self) -> Vec<Snapshot> {
        self.lock().done.clone()
    }

    fn begin(&self) {
        self.lock().is_writing = true;
    }

    fn end(&self, snapshot: Snapshot) {
        let mut state = self.lock();
        state.is_writing = false;
        state.done.push(snapshot);
    }
}

/// What each snapshot has, whatever its records: the start, modules and processes.
type Lasting = (ChunkHeader, Arc<[u8]>);

/// What a chunk of these takes beside its payload.
const LASTING_COST: u64 = 128;
/// The user hears when what all records need takes more than this part of the limit.
const TOO_LARGE_A_PART: u64 = 2;

pub struct FlightSink {
    limits: Flight,
    force: bool,
    codec: Codec,
    lasting: Vec<Lasting>,
    /// Bytes of memory that these take.
    lasting_bytes: u64,
    newest: VecDeque<Arc<Held>>,
    /// Bytes of memory that these take.
    newest_bytes: u64,
    /// Streams with chunks that are copies of what is to come.
    copied: HashSet<u32>,
    memory: Arc<Memory>,
    /// The end of the newest records that were let go.
    let_go_ns: u64,
    writing: Option<JoinHandle<()>>,
    board: Arc<SnapshotBoard>,
    notify: fn(&str),
    /// What is stored before only the newest records are kept; none: nothing.
    first_part: Option<FirstPart>,
}

impl FlightSink {
    pub fn new(limits: Flight, force: bool, codec: Codec, notify: fn(&str)) -> Self {
        Self {
            limits,
            force,
            codec,
            lasting: Vec::new(),
            lasting_bytes: 0,
            newest: VecDeque::new(),
            newest_bytes: 0,
            copied: HashSet::new(),
            memory: Arc::default(),
            let_go_ns: 0,
            writing: None,
            board: Arc::default(),
            notify,
            first_part: None,
        }
    }

    /// All goes to that file until another part begins.
    pub fn with_first_part(mut self, file: FileSink) -> Self {
        self.first_part = Some(FirstPart::new(file));
        self
    }

    /// What is written meanwhile is limited by the same bytes: the program waits for it.
    fn hold(&mut self, chunk: &Chunk) {
        self.forget_copy_of(&chunk.header);
        let cost = cost_of(chunk.stored.len());
        let before = self.newest.back().map_or(self.let_go_ns, |held| held.end_ns);
        let end_ns = match chunk.header.last_ns {
            0 => before,
            end_ns => end_ns,
        };
        self.newest.push_back(Held::new(chunk, end_ns, &self.memory));
        self.newest_bytes += cost;
        self.let_old_go(end_ns);
        if self.writing.is_some() {
            let most = self.newest_bytes.max(self.most_of_newest());
            self.memory.wait_until_at_most(most + cost);
        }
    }

    fn most_of_newest(&self) -> u64 {
        self.limits.most_bytes.saturating_sub(self.lasting_bytes)
    }

    /// What each snapshot needs counts against the limit, too. It isn't let go, so the user hears of it in time.
    fn keep(&mut self, chunk: &Chunk) {
        let part = self.limits.most_bytes / TOO_LARGE_A_PART;
        let was_small = self.lasting_bytes <= part;
        self.lasting.push((chunk.header, chunk.stored.into()));
        self.lasting_bytes += LASTING_COST + chunk.stored.len() as u64;
        if was_small && self.lasting_bytes > part {
            (self.notify)(&format!(
                "what all records need (modules, processes) takes {} bytes of the {} that --flight allows; a larger limit \
                 leaves more room for accesses",
                self.lasting_bytes, self.limits.most_bytes
            ));
        }
    }

    /// The beginning of a buffer that its thread kept may have been held for a snapshot. The whole comes now.
    fn forget_copy_of(&mut self, whole: &ChunkHeader) {
        let key = |header: &ChunkHeader| (header.kind, header.stream, header.sequence);
        if whole.kind == ChunkKind::Records && self.copied.remove(&whole.stream) {
            self.newest.retain(|held| key(&held.header) != key(whole));
            self.newest_bytes = self.newest.iter().map(|held| held.cost()).sum();
        }
        if whole.flags & FLAG_TAIL != 0 {
            self.copied.insert(whole.stream);
        }
    }

    fn let_old_go(&mut self, now_ns: u64) {
        let longest = self.limits.longest.map(|longest| longest.as_nanos() as u64);
        let oldest_ns = longest.map_or(0, |longest| now_ns.saturating_sub(longest));
        while let Some(first) = self.newest.front() {
            let is_old = first.end_ns < oldest_ns;
            // The limit is reached rather than kept, or a chunk that is larger would never be held.
            let without_it = self.newest_bytes - first.cost();
            let is_last = self.newest.len() == 1;
            if (without_it < self.most_of_newest() || is_last) && !is_old {
                break;
            }
            self.newest_bytes = without_it;
            if first.header.kind != ChunkKind::Marks {
                self.let_go_ns = self.let_go_ns.max(first.header.last_ns);
            }
            self.newest.pop_front();
        }
    }

    fn wait_for_writer(&mut self) {
        if let Some(thread) = self.writing.take() {
            // It doesn't panic, and says itself what failed.
            let _ = thread.join();
        }
    }
}

impl ChunkSink for FlightSink {
    fn append(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        if let Some(first_part) = &mut self.first_part {
            let share = first_part.share(&chunk.header);
            if share.first_part {
                first_part.append(chunk)?;
            }
            if !share.flight {
                return Ok(());
            }
        }
        match chunk.header.kind {
            ChunkKind::Records | ChunkKind::Allocations | ChunkKind::Gap | ChunkKind::Marks => {
                self.hold(chunk)
            }
            // The oracle counts the whole run, and the end is that of a snapshot.
            ChunkKind::OracleRecords | ChunkKind::OracleSummary | ChunkKind::End => {}
            _ => self.keep(chunk),
        }
        Ok(())
    }

    fn snapshots(&self) -> Option<Arc<SnapshotBoard>> {
        Some(Arc::clone(&self.board))
    }

    fn snapshot(&mut self, request: SnapshotRequest) {
        self.wait_for_writer();
        self.let_old_go(request.end_ns);
        self.board.begin();
        let contents = Contents {
            lasting: self.lasting.clone(),
            newest: self.newest.clone(),
            begin_ns: self.let_go_ns.clamp(request.begin_ns, request.end_ns),
        };
        let (force, codec) = (self.force, self.codec);
        let (board, notify) = (Arc::clone(&self.board), self.notify);
        self.writing = Some(std::thread::spawn(move || {
            let covered_ns = request.end_ns - contents.begin_ns;
            let written = contents.write(&request, force, codec);
            if let Err(error) = &written {
                notify(&format!("a snapshot is lost: {error}"));
            }
            board.end(Snapshot {
                path: request.path,
                reason: request.reason,
                written: written.map_err(|error| error.to_string()),
                covered_ns,
            });
        }));
    }

    fn begin_part(&mut self, from_ns: u64) {
        if let Some(first_part) = &mut self.first_part {
            first_part.end_at(from_ns);
        }
    }

    fn end(&mut self, end: &EndInfo, encoder: &mut ChunkEncoder) -> Result<(), SinkError> {
        match &mut self.first_part {
            Some(first_part) => first_part.end(end, encoder),
            None => Ok(()), // each snapshot has an end of its own
        }
    }

    fn finish(&mut self) -> Result<u64, SinkError> {
        self.wait_for_writer();
        let first_part = self.first_part.as_mut().map(FirstPart::finish);
        let done = self.board.done();
        let snapshots = done.iter().filter_map(|snapshot| snapshot.written.as_ref().ok());
        Ok(snapshots.sum::<u64>() + first_part.transpose()?.unwrap_or(0))
    }

    fn cancel(&mut self) {
        if let Some(first_part) = &mut self.first_part {
            first_part.cancel();
        }
    }
}

/// What a snapshot holds.
struct Contents {
    lasting: Vec<Lasting>,
    newest: VecDeque<Arc<Held>>,
    /// From then on all records are there.
    begin_ns: u64,
}

impl Contents {
    /// Returns the length of the file, bytes. Each chunk is given back when it is written.
    fn write(mut self, request: &SnapshotRequest, force: bool, codec: Codec) -> Result<u64, TraceError> {
        let mut writer = TraceWriter::create_when_whole(&request.path, force, codec)?;
        for (header, stored) in &self.lasting {
            let header = *header;
            writer.append(&Chunk { header, stored })?;
        }
        let mut totals = EndInfo {
            exit_status: request.exit_status,
            signal: request.signal,
            end_monotonic_ns: request.end_ns,
            reason: request.reason.clone(),
            ..EndInfo::default()
        };
        let mut next: HashMap<(u32, ChunkKind), u64> = HashMap::new();
        let mut stored = Vec::new();
        while let Some(held) = self.newest.pop_front() {
            // Streams have no holes: what came before isn't missing in this trace.
            let sequence = next.entry((held.header.stream, held.header.kind)).or_default();
            let header = ChunkHeader {
                sequence: *sequence,
                ..held.header
            };
            *sequence += 1;
            if header.kind == ChunkKind::Records {
                totals.record_bytes += u64::from(header.raw_length);
            }
            held.copy_to(&mut stored);
            drop(held);
            writer.append(&Chunk {
                header,
                stored: &stored,
            })?;
        }
        let streams = next.keys().filter(|(_, kind)| *kind == ChunkKind::Records);
        totals.streams = streams.count() as u64;
        let marks = next.get(&(0, ChunkKind::Marks)).copied().unwrap_or_default();
        self.write_window(&mut writer, request, marks)?;
        writer.finish(&totals)?;
        Ok(file_length(&request.path))
    }

    /// `sequence`: how many chunks of marks came before.
    fn write_window(
        &self,
        writer: &mut TraceWriter,
        request: &SnapshotRequest,
        sequence: u64,
    ) -> Result<(), TraceError> {
        let mark = |kind, ns, cause: &str| MarkInfo {
            ns,
            kind,
            window: Some(1),
            cause: cause.to_owned(),
            ..MarkInfo::default()
        };
        let marks = [
            mark(MarkKind::Opens, self.begin_ns, "flight"),
            mark(MarkKind::Closes, request.end_ns, &request.cause),
        ];
        let fields = ChunkFields {
            sequence,
            ..ChunkFields::new(ChunkKind::Marks)
        };
        writer.write_chunk(&fields, &encode_marks(&marks))
    }
}

fn file_length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

/// `server-3.trackway` for the third snapshot of `server.trackway`.
pub fn numbered(path: &Path, number: u32) -> PathBuf {
    let name = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_owned();
    let mut numbered = name(path.file_stem());
    numbered.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        numbered.push(".");
        numbered.push(extension);
    }
    path.with_file_name(numbered)
}

#[cfg(test)]
mod tests;
