//! Takes the buffers that the program hands over and queues them as chunks.

mod call_stacks;
mod definitions;
mod mapped_objects;
mod naming;
mod nodes;
mod samples;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use trackway_names::ExecutedCode;
use trackway_trace::chunk::{FLAG_LAST, FLAG_TAIL};
use trackway_trace::{ChunkFields, ChunkKind, GapReason, ProcessEvent, ProcessInfo, StartInfo};

use self::call_stacks::CallStacks;
use self::definitions::{modules_of, Objects};
use crate::abi::{self, Buffer};
use crate::clock::RecordingClock;
use crate::encoding::{Payload, Queue};
use crate::processes::{Image, Processes};
use crate::ring::Ring;
use crate::{CountsSummary, ProgramEnd};

/// What was collected.
#[derive(Default)]
pub struct Totals {
    pub modules: u64,
    pub record_bytes: u64,
    pub allocation_bytes: u64,
    pub streams: u64,
    pub processes: u64,
    pub dropped: u64,
    pub counts: CountsSummary,
}

pub struct Collector<'scope> {
    ring: &'scope Ring,
    queue: Queue,
    clock: &'scope RecordingClock,
    pub processes: Processes,
    streams: HashMap<u32, StreamState>,
    /// By first segment id: the payload as far as it has come.
    modules: HashMap<u32, Vec<u8>>,
    code: HashMap<Image, CodeState>,
    /// Of all images.
    executed: ExecutedCode,
    call_stacks: CallStacks,
    /// Stream slots whose process was noticed.
    noticed: usize,
    sequences: HashMap<u8, u64>,
    /// Names of the regions that were counted.
    regions: HashSet<Vec<u8>>,
    pub totals: Totals,
}

#[derive(Default)]
struct StreamState {
    process: u32,
    /// Sequence of the next buffer of records, of the oracle's, and of calls of allocators.
    next_records: u64,
    next_oracle: u64,
    next_allocations: u64,
    /// Nodes that were taken.
    nodes: u64,
    gaps: u64,
    dropped: u64,
}

/// What a process image has told of its code.
#[derive(Default)]
struct CodeState {
    next_definitions: u64,
    objects: Objects,
}

impl StreamState {
    /// Nothing is missing where it ends: what was counted by then stands in its nodes.
    fn only_counts(&self) -> bool {
        self.nodes > 0 && self.next_records == 0 && self.next_oracle == 0 && self.next_allocations == 0
    }
}

/// What a buffer says of itself, read once.
struct Description {
    kind: u32,
    stream: u32,
    image: Image,
    parent_pid: u32,
    flags: u32,
    sequence: u64,
    first_ns: u64,
    last_ns: u64,
    length: usize,
    dropped_before: u32,
}

impl Description {
    fn read(buffer: &Buffer, clock: &RecordingClock) -> Self {
        let flags = buffer.flags.load(Relaxed);
        let ns = |stamp: &AtomicU64| match flags & abi::FLAG_MONOTONIC {
            0 => clock.ns(stamp.load(Relaxed)),
            _ => stamp.load(Relaxed),
        };
        Self {
            kind: buffer.kind.load(Relaxed),
            stream: buffer.stream.load(Relaxed),
            image: image_of(buffer),
            parent_pid: buffer.parent_pid.load(Relaxed),
            flags,
            sequence: buffer.sequence.load(Relaxed),
            first_ns: ns(&buffer.first_ticks),
            last_ns: ns(&buffer.last_ticks),
            length: buffer.length.load(Relaxed) as usize,
            dropped_before: buffer.dropped_before.load(Relaxed),
        }
    }

    fn tells_of_code(&self) -> bool {
        matches!(self.kind, abi::KIND_MODULE | abi::KIND_DEFINITIONS)
    }

    fn is_abandoned(&self) -> bool {
        self.flags & abi::FLAG_ABANDONED != 0
    }

    fn chunk_flags(&self) -> u16 {
        let last = if self.flags & abi::FLAG_LAST != 0 {
            FLAG_LAST
        } else {
            0
        };
        let tail = if self.is_abandoned() { FLAG_TAIL } else { 0 };
        last | tail
    }
}

pub fn image_of(buffer: &Buffer) -> Image {
    Image {
        pid: buffer.pid.load(Acquire),
        image: buffer.image.load(Relaxed),
    }
}

impl<'scope> Collector<'scope> {
    pub fn new(ring: &'scope Ring, queue: Queue, clock: &'scope RecordingClock) -> Self {
        Self {
            ring,
            queue,
            clock,
            processes: Processes::default(),
            streams: HashMap::new(),
            modules: HashMap::new(),
            code: HashMap::new(),
            executed: ExecutedCode::default(),
            call_stacks: CallStacks::default(),
            noticed: 0,
            sequences: HashMap::new(),
            regions: HashSet::new(),
            totals: Totals::default(),
        }
    }

    pub fn start(&mut self, info: &StartInfo) {
        self.push_json(ChunkKind::Start, 0, info);
    }

    /// Takes every full buffer whose turn in its stream it is. Returns their number.
    pub fn collect(&mut self) -> usize {
        self.notice_streams();
        let mut full = self.full_buffers(|_| true);
        // What tells of code was handed over before the records that need it, but perhaps behind our back.
        let seen: HashSet<usize> = full.iter().map(|(index, _)| *index).collect();
        full.extend(
            self.full_buffers(|index| !seen.contains(&index))
                .into_iter()
                .filter(|(_, buffer)| buffer.tells_of_code()),
        );
        // Modules first: should the file be cut off, the records before the cut can be decoded.
        full.sort_by_key(|(_, buffer)| {
            (
                !buffer.tells_of_code(),
                buffer.stream,
                buffer.kind,
                buffer.sequence,
            )
        });
        full.retain(|(index, buffer)| self.take_in_turn(*index, buffer));
        full.len()
    }

    fn full_buffers(&self, wanted: impl Fn(usize) -> bool) -> Vec<(usize, Description)> {
        let buffers = self.ring.buffers();
        (0..buffers.len())
            .filter(|&index| wanted(index) && buffers[index].state.load(Acquire) == abi::FULL)
            .map(|index| (index, Description::read(&buffers[index], self.clock)))
            .collect()
    }

    /// Processes whose stream has begun, even if no buffer of theirs comes for a long time.
    fn notice_streams(&mut self) {
        for slot in &self.ring.streams()[self.noticed..] {
            let image = Image {
                pid: slot.pid.load(Acquire),
                image: slot.image.load(Relaxed),
            };
            if image.pid == 0 {
                break; // it is about to say
            }
            self.processes.notice(image);
            self.noticed += 1;
        }
    }

    /// False if an earlier buffer of the stream has become full behind the back of `collect`.
    fn take_in_turn(&mut self, index: usize, buffer: &Description) -> bool {
        if buffer.kind == abi::KIND_COUNTS && self.earlier_node_is_full(buffer) {
            return false;
        }
        let next = match (buffer.kind, self.streams.get(&buffer.stream)) {
            (abi::KIND_RECORDS, state) => state.map_or(0, |state| state.next_records),
            (abi::KIND_ORACLE_RECORDS, state) => state.map_or(0, |state| state.next_oracle),
            (abi::KIND_ALLOCATIONS, state) => state.map_or(0, |state| state.next_allocations),
            (abi::KIND_DEFINITIONS, _) => self
                .code
                .get(&buffer.image)
                .map_or(0, |code| code.next_definitions),
            _ => buffer.sequence,
        };
        if buffer.sequence > next {
            return false;
        }
        self.ring.buffers()[index].state.store(abi::TAKEN, Relaxed);
        match buffer.kind {
            abi::KIND_MODULE => self.take_module(index, buffer),
            abi::KIND_RECORDS | abi::KIND_ORACLE_RECORDS | abi::KIND_ALLOCATIONS => {
                self.take_stream(index, buffer)
            }
            abi::KIND_COUNTS => self.take_node(index, buffer),
            abi::KIND_MAPPINGS => self.take_mappings(index, buffer),
            abi::KIND_DEFINITIONS => self.take_definitions(index, buffer),
            _ => self.ring.free(index, self.ring.buffer_size()),
        }
        true
    }

    fn take_module(&mut self, index: usize, buffer: &Description) {
        let process = self.process_number(buffer);
        let payload = self.modules.entry(buffer.stream).or_default();
        payload.extend_from_slice(self.ring.bytes(index, buffer.length));
        self.ring.free(index, buffer.length);
        if buffer.is_abandoned() {
            self.modules.remove(&buffer.stream); // nothing was recorded with it yet
        } else if buffer.flags & abi::FLAG_LAST != 0 {
            let payload = self.modules.remove(&buffer.stream).unwrap_or_default();
            self.push_module(buffer, process, payload);
        }
    }

    fn take_definitions(&mut self, index: usize, buffer: &Description) {
        let process = self.process_number(buffer);
        // Zeros end them.
        let length = match buffer.is_abandoned() {
            true => self.ring.buffer_size(),
            false => buffer.length,
        };
        let code = self.code.entry(buffer.image).or_default();
        code.next_definitions = buffer.sequence + 1;
        let modules = modules_of(
            self.ring.bytes(index, length),
            &mut code.objects,
            &mut self.executed,
        );
        self.ring.free(index, length);
        for payload in modules {
            self.push_module(buffer, process, payload);
        }
    }

    fn push_module(&mut self, buffer: &Description, process: u32, payload: Vec<u8>) {
        let fields = ChunkFields {
            process,
            sequence: self.next_sequence(ChunkKind::Module),
            first_ns: buffer.first_ns,
            last_ns: buffer.last_ns,
            ..ChunkFields::new(ChunkKind::Module)
        };
        self.totals.modules += 1;
        self.queue.push(fields, Payload::Bytes(payload));
    }

    fn take_stream(&mut self, index: usize, buffer: &Description) {
        let written = match buffer.is_abandoned() {
            true => self.ring.written_length(index),
            false => buffer.length,
        };
        let process = self.process_number(buffer);
        let kind = match buffer.kind {
            abi::KIND_RECORDS => ChunkKind::Records,
            abi::KIND_ALLOCATIONS => ChunkKind::Allocations,
            _ => ChunkKind::OracleRecords,
        };
        let state = self.stream_state(buffer.stream, process);
        match kind {
            ChunkKind::Records => state.next_records = buffer.sequence + 1,
            ChunkKind::Allocations => state.next_allocations = buffer.sequence + 1,
            _ => state.next_oracle = buffer.sequence + 1,
        }
        self.note_dropped(buffer, process);
        if written == 0 && buffer.is_abandoned() {
            return self.ring.free(index, 0);
        }
        match kind {
            ChunkKind::Records => self.totals.record_bytes += written as u64,
            ChunkKind::Allocations => {
                self.totals.allocation_bytes += written as u64;
                self.note_call_stacks(index, written, buffer);
            }
            _ => {}
        }
        let length = if buffer.is_abandoned() {
            self.tail_length(kind, written)
        } else {
            written
        };
        let fields = ChunkFields {
            kind,
            flags: buffer.chunk_flags(),
            process,
            stream: buffer.stream,
            sequence: buffer.sequence,
            first_ns: buffer.first_ns,
            last_ns: if buffer.is_abandoned() {
                self.clock.now_ns()
            } else {
                buffer.last_ns
            },
        };
        if buffer.is_abandoned() {
            // Its thread may live, and go on writing, if the user ends the recording.
            let bytes = self.ring.bytes(index, length).to_vec();
            self.queue.push(fields, Payload::Bytes(bytes));
            return self.ring.free(index, length);
        }
        self.queue.push(fields, Payload::Buffer { index, length });
    }

    /// What the stream lost just before this buffer.
    fn note_dropped(&mut self, buffer: &Description, process: u32) {
        let dropped = u64::from(buffer.dropped_before);
        self.stream_state(buffer.stream, process).dropped += dropped;
        if dropped > 0 {
            self.push_gap(buffer.stream, dropped, GapReason::RingFull);
        }
    }

    /// The last record may end in zeros, and a zero must follow it.
    fn tail_length(&self, kind: ChunkKind, written: usize) -> usize {
        let length = match kind {
            ChunkKind::Records => written + abi::SLACK,
            ChunkKind::Allocations => written.next_multiple_of(16),
            _ => written.next_multiple_of(32),
        };
        length.min(self.ring.buffer_size())
    }

    fn stream_state(&mut self, stream: u32, process: u32) -> &mut StreamState {
        let totals = &mut self.totals;
        self.streams.entry(stream).or_insert_with(|| {
            totals.streams += 1;
            StreamState {
                process,
                ..StreamState::default()
            }
        })
    }

    /// A child may hand over a buffer before its parent has filled its first one, and a program before what the process
    /// ran until exec.
    fn number_earlier(&mut self, buffer: &Description) {
        let Image { pid, image } = buffer.image;
        let is_earlier = |other: &Image| match other.image == image {
            true => other.pid == buffer.parent_pid && other.pid != pid,
            false => other.pid == pid,
        };
        let buffers = self.ring.buffers().iter();
        let earlier: Vec<Description> = buffers
            .filter(|other| is_earlier(&image_of(other)))
            .map(|other| Description::read(other, self.clock))
            .filter(|other| other.first_ns < buffer.first_ns && !self.processes.is_numbered(other.image))
            .collect();
        for description in earlier {
            self.process_number(&description);
        }
    }

    fn process_number(&mut self, buffer: &Description) -> u32 {
        if !self.processes.is_numbered(buffer.image) {
            self.number_earlier(buffer);
        }
        let process = self.processes.number(buffer.image, buffer.parent_pid);
        if process.is_new {
            let info = ProcessInfo {
                pid: buffer.image.pid,
                parent: process.parent,
                event: ProcessEvent::Start,
                exit_status: None,
                signal: None,
                monotonic_ns: buffer.first_ns,
            };
            self.push_json(ChunkKind::Process, process.number, &info);
            self.note_origin(buffer, process.parent.is_some());
        }
        process.number
    }

    /// `end`: known only of the program that the recorder started.
    pub fn push_process_end(&mut self, pid: u32, number: u32, end: Option<ProgramEnd>) {
        let (exit_status, signal) = end.map_or((None, None), ProgramEnd::parts);
        let info = ProcessInfo {
            pid,
            parent: None,
            event: ProcessEvent::Exit,
            exit_status,
            signal,
            monotonic_ns: self.clock.now_ns(),
        };
        self.push_json(ChunkKind::Process, number, &info);
    }

    fn push_gap(&mut self, stream: u32, dropped_buffers: u64, reason: GapReason) {
        let state = self.streams.entry(stream).or_default();
        let fields = ChunkFields {
            process: state.process,
            stream,
            sequence: state.gaps,
            last_ns: self.clock.now_ns(),
            ..ChunkFields::new(ChunkKind::Gap)
        };
        state.gaps += 1;
        let payload = [dropped_buffers.to_le_bytes(), u64::from(reason).to_le_bytes()].concat();
        self.queue.push(fields, Payload::Bytes(payload));
    }

    fn push_json(&mut self, kind: ChunkKind, process: u32, info: &impl serde::Serialize) {
        let sequence = self.next_sequence(kind);
        let fields = ChunkFields {
            process,
            sequence,
            ..ChunkFields::new(kind)
        };
        // These types hold strings and numbers only, which JSON always can.
        self.queue.push(
            fields,
            Payload::Bytes(serde_json::to_vec(info).unwrap_or_default()),
        );
    }

    fn next_sequence(&mut self, kind: ChunkKind) -> u64 {
        let next = self.sequences.entry(kind.into()).or_default();
        *next += 1;
        *next - 1
    }

    /// The program that the recorder started has ended.
    pub fn push_program_end(&mut self, pid: u32, end: Option<ProgramEnd>) {
        if let Some(number) = self.processes.latest_number(pid) {
            self.push_process_end(pid, number, end);
        }
    }

    /// Streams of living processes go on unrecorded.
    pub fn note_unrecorded(&mut self) {
        let slots = self.ring.streams();
        for (stream, slot) in (0..).zip(slots) {
            let image = Image {
                pid: slot.pid.load(Acquire),
                image: slot.image.load(Relaxed),
            };
            let is_recorded = self
                .streams
                .get(&stream)
                .is_some_and(|state| !state.only_counts());
            if is_recorded && self.processes.lives(image.pid) {
                self.push_gap(stream, 0, GapReason::RecordingStopped);
            }
        }
    }

    /// Notes what streams dropped at their end, and what the oracle counted. Nothing can be collected any more.
    pub fn finish(mut self, reason: GapReason) -> Totals {
        let mut summary = Vec::new();
        for (stream, slot) in (0..).zip(self.ring.streams()) {
            let dropped = slot.dropped.load(Relaxed);
            self.totals.dropped += dropped;
            let noted = self.streams.get(&stream).map_or(0, |state| state.dropped);
            if dropped > noted {
                let image = Image {
                    pid: slot.pid.load(Acquire),
                    image: slot.image.load(Relaxed),
                };
                let process = self.processes.number(image, 0).number;
                self.stream_state(stream, process);
                self.push_gap(stream, dropped - noted, reason);
            }
            let count = slot.oracle_count.load(Relaxed);
            if count > 0 {
                summary.extend_from_slice(&u64::from(stream).to_le_bytes());
                summary.extend_from_slice(&count.to_le_bytes());
                summary.extend_from_slice(&slot.oracle_hash.load(Relaxed).to_le_bytes());
            }
        }
        if !summary.is_empty() {
            self.queue.push(
                ChunkFields::new(ChunkKind::OracleSummary),
                Payload::Bytes(summary),
            );
        }
        self.totals.processes = self.processes.numbered().into();
        self.totals
    }
}
