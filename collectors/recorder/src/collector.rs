//! Takes the buffers that the program hands over and queues them as chunks.

mod call_stacks;
mod counted_windows;
mod damage;
mod definitions;
mod description;
#[cfg(test)]
mod hostile;
mod interruptions;
mod kept;
mod mapped_objects;
mod marks;
mod modules;
mod naming;
mod nodes;
mod processes;
mod samples;
mod thread_stacks;
mod turns;

use std::collections::{HashMap, HashSet};

use trackway_names::ExecutedCode;
use trackway_trace::{ChunkFields, ChunkKind, GapReason, StartInfo};

use self::call_stacks::CallStacks;
use self::counted_windows::CountedWindows;
use self::definitions::{modules_of, Objects};
use self::description::Description;
use self::interruptions::Interruptions;
use self::marks::MarksTaken;
use self::modules::IncompleteModules;
use self::thread_stacks::ThreadStacks;
use self::turns::Turn;
use crate::abi;
use crate::clock::RecordingClock;
use crate::encoding::{BurstCount, Payload, Queue};
use crate::processes::{Image, Processes};
use crate::ring::{Ring, SlotWords};
use crate::sink::flight::SnapshotRequest;
use crate::CountsSummary;

/// Scratch buffers that a stream may have filled: it takes a microsecond to fill one.
const MOST_DROPPED: u64 = 1 << 48;

/// What was collected.
#[derive(Default)]
pub struct Totals {
    pub modules: u64,
    pub record_bytes: u64,
    pub allocation_bytes: u64,
    pub streams: u64,
    /// Streams that threads left with records that they had not handed over, in processes that didn't end in order.
    pub interrupted_streams: u64,
    /// Those of them that aren't the program's own.
    pub interrupted_in_children: u64,
    pub processes: u64,
    pub dropped: u64,
    /// Buffers that were lost since the program had overwritten words of the ring, or what they held.
    pub damaged: u64,
    /// The program has overwritten words of the ring.
    pub is_damaged: bool,
    pub counts: CountsSummary,
    /// Marks that came faster than the recorder takes them.
    pub lost_marks: u64,
}

pub struct Collector<'scope> {
    ring: &'scope Ring,
    queue: Queue<'scope>,
    clock: &'scope RecordingClock,
    pub processes: Processes,
    streams: HashMap<u32, StreamState>,
    modules: IncompleteModules,
    /// Buffers whose turn it was not when `collect` last looked, with their sequence.
    put_off: HashSet<(usize, u64)>,
    code: HashMap<Image, CodeState>,
    /// What the objects of all images take.
    object_bytes: usize,
    /// The executed code of all images.
    executed: ExecutedCode,
    call_stacks: CallStacks,
    /// Stream slots whose process was noticed.
    noticed: usize,
    /// The process whose threads' stacks are looked for: the program's.
    program: u32,
    pub thread_stacks: ThreadStacks,
    interruptions: Interruptions,
    sequences: HashMap<u8, u64>,
    marks: MarksTaken,
    /// The program goes on without the recorder.
    has_left: bool,
    counted: CountedWindows,
    /// Why the program wants snapshots.
    pub wanted_snapshots: Vec<String>,
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

/// What a process image has described of its code.
#[derive(Default)]
struct CodeState {
    next_definitions: u64,
    objects: Objects,
}

impl StreamState {
    /// Nothing is missing where the stream ends: what was counted by then stands in its nodes.
    fn only_counts(&self) -> bool {
        self.nodes > 0 && self.next_records == 0 && self.next_oracle == 0 && self.next_allocations == 0
    }
}

impl<'scope> Collector<'scope> {
    pub fn new(ring: &'scope Ring, queue: Queue<'scope>, clock: &'scope RecordingClock) -> Self {
        Self {
            ring,
            queue,
            clock,
            processes: match ring.is_session() {
                true => Processes::of_any_age(),
                false => Processes::default(),
            },
            streams: HashMap::new(),
            modules: IncompleteModules::default(),
            put_off: HashSet::new(),
            object_bytes: 0,
            code: HashMap::new(),
            executed: ExecutedCode::default(),
            call_stacks: CallStacks::default(),
            noticed: 0,
            program: 0,
            thread_stacks: ThreadStacks::default(),
            interruptions: Interruptions::default(),
            sequences: HashMap::new(),
            marks: MarksTaken::default(),
            has_left: false,
            counted: CountedWindows::default(),
            wanted_snapshots: Vec::new(),
            regions: HashSet::new(),
            totals: Totals::default(),
        }
    }

    pub fn start(&mut self, info: &StartInfo) {
        self.program = info.pid;
        self.push_json(ChunkKind::Start, 0, info);
    }

    /// Takes every full buffer whose turn in its stream it is. Returns how much news there was.
    pub fn collect(&mut self) -> usize {
        self.ring.forget_strangers();
        self.notice_streams();
        let mut full = self.full_buffers(|_| true);
        // Descriptions of code were handed over before the records that need them, but perhaps unnoticed.
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
        let put_off = full
            .iter()
            .filter(|(index, buffer)| !self.take_in_turn(*index, buffer));
        let put_off: HashSet<_> = put_off.map(|(index, buffer)| (*index, buffer.sequence)).collect();
        let news = full.len() - put_off.intersection(&self.put_off).count();
        self.put_off = put_off;
        news
    }

    /// Whether what was taken already takes so much memory that no more is to be taken yet.
    pub fn is_overloaded(&self) -> bool {
        self.queue.is_overloaded()
    }

    /// Accesses that were counted and not kept.
    pub fn passed_accesses(&self) -> u64 {
        self.queue.passed_accesses()
    }

    /// The processes that live, and the program whether it has recorded anything yet or not.
    pub fn recorded_processes(&self) -> impl Iterator<Item = u32> + '_ {
        let others = self.processes.watched().filter(|pid| *pid != self.program);
        others.chain(std::iter::once(self.program))
    }

    /// Counts the accesses of buffers that threads take from then on.
    pub fn begin_burst(&self, from_ns: u64) {
        self.queue.begin_burst(from_ns);
    }

    /// What was recorded since then, as far as it was handed over.
    pub fn burst(&self) -> BurstCount {
        self.queue.burst()
    }

    /// Another part of the recording begins at that time, with a window of its own: buffers that were taken earlier
    /// belong to the part before.
    pub fn begin_part(&mut self, from_ns: u64) {
        self.queue.push_part(from_ns);
    }

    /// Bytes of the trace so far.
    pub fn stored_bytes(&self) -> u64 {
        self.queue.stored_bytes()
    }

    fn full_buffers(&self, wanted: impl Fn(usize) -> bool) -> Vec<(usize, Description)> {
        self.ring
            .full_words()
            .filter(|(index, _)| wanted(*index))
            .map(|(index, words)| (index, Description::new(&words, self.clock)))
            .collect()
    }

    /// False if an earlier buffer of the stream has become full unnoticed by `collect`.
    fn take_in_turn(&mut self, index: usize, buffer: &Description) -> bool {
        let is_possible =
            buffer.is_possible(self.ring.buffer_size()) && self.processes.has_room_for(buffer.image);
        match self.turn(index, buffer) {
            _ if !is_possible => self.discard_damaged(index, buffer),
            Turn::Later => return false,
            Turn::Never => self.discard_damaged(index, buffer),
            Turn::Now => self.take(index, buffer),
            Turn::After(missing) => {
                self.note_damage(buffer, missing);
                self.take(index, buffer);
            }
        }
        true
    }

    fn take(&mut self, index: usize, buffer: &Description) {
        if !self.ring.take(index) {
            return;
        }
        match buffer.kind {
            abi::KIND_MODULE => self.take_module(index, buffer),
            abi::KIND_COUNTS => self.take_node(index, buffer),
            abi::KIND_MAPPINGS => self.take_mappings(index, buffer),
            abi::KIND_DEFINITIONS => self.take_definitions(index, buffer),
            _ => self.take_stream(index, buffer),
        }
    }

    fn take_module(&mut self, index: usize, buffer: &Description) {
        let process = self.process_number(buffer);
        let bytes = self.ring.moved_out(index, buffer.length);
        if buffer.is_abandoned() {
            self.modules.forget(buffer.module_key()); // nothing was recorded with it yet
        } else if !self.modules.add(buffer.module_key(), &bytes) {
            self.note_damage(buffer, 1);
        } else if buffer.is_last() {
            if let Some(payload) = self.modules.complete(buffer.module_key()) {
                self.push_module(buffer, process, payload);
            }
        }
    }

    fn take_definitions(&mut self, index: usize, buffer: &Description) {
        let process = self.process_number(buffer);
        // Zeros end the records.
        let length = match buffer.is_abandoned() {
            true => self.ring.buffer_size(),
            false => buffer.length,
        };
        let bytes = self.ring.moved_out(index, length);
        let code = self.code.entry(buffer.image).or_default();
        code.next_definitions = buffer.sequence + 1;
        let modules = modules_of(
            &bytes,
            &mut code.objects,
            &mut self.executed,
            &mut self.object_bytes,
        );
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
        let mut fields = self.begin_chunk(buffer);
        let kind = fields.kind;
        // An encoding thread moves the bytes out, and what isn't compressed beforehand stays in the ring till then.
        if !buffer.is_abandoned() && kind != ChunkKind::Allocations {
            self.note_bytes(kind, buffer.length);
            let length = buffer.length;
            return self.queue.push(fields, Payload::Buffer { index, length });
        }
        let mut bytes = match buffer.is_abandoned() {
            true => self.ring.moved_out_written(index, self.size_for(kind)),
            false => self.ring.moved_out(index, buffer.length),
        };
        if bytes.is_empty() && buffer.is_abandoned() {
            return;
        }
        self.note_bytes(kind, bytes.len());
        if buffer.is_abandoned() {
            fields.last_ns = self.clock.now_ns();
            if kind == ChunkKind::Records {
                self.interruptions.note(buffer.image, buffer.is_ending());
            }
        }
        if kind == ChunkKind::Allocations {
            self.note_call_stacks(&bytes, buffer.image.pid, fields.last_ns);
        }
        if buffer.is_abandoned() {
            bytes.resize(self.tail_length(kind, bytes.len()), 0);
        }
        self.queue.push(fields, Payload::Bytes(bytes));
    }

    /// The next chunk of the stream of a buffer whose turn it is.
    fn begin_chunk(&mut self, buffer: &Description) -> ChunkFields {
        let process = self.process_number(buffer);
        let state = self.stream_state(buffer.stream, process);
        match buffer.stream_kind() {
            ChunkKind::Records => state.next_records = buffer.sequence + 1,
            ChunkKind::Allocations => state.next_allocations = buffer.sequence + 1,
            _ => state.next_oracle = buffer.sequence + 1,
        }
        self.note_dropped(buffer, process);
        self.fields_of(buffer)
    }

    fn fields_of(&mut self, buffer: &Description) -> ChunkFields {
        ChunkFields {
            kind: buffer.stream_kind(),
            flags: buffer.chunk_flags(),
            process: self.process_number(buffer),
            stream: buffer.stream,
            sequence: buffer.sequence,
            first_ns: buffer.first_ns,
            last_ns: buffer.last_ns,
        }
    }

    fn note_bytes(&mut self, kind: ChunkKind, length: usize) {
        match kind {
            ChunkKind::Records => self.totals.record_bytes += length as u64,
            ChunkKind::Allocations => self.totals.allocation_bytes += length as u64,
            _ => {}
        }
    }

    /// What the stream lost just before this buffer.
    fn note_dropped(&mut self, buffer: &Description, process: u32) {
        let dropped = u64::from(buffer.dropped_before);
        self.stream_state(buffer.stream, process).dropped += dropped;
        if dropped > 0 {
            self.push_gap(buffer.stream, dropped, GapReason::RingFull);
        }
    }

    /// Bytes of a buffer that are for what it is taken for.
    fn size_for(&self, kind: ChunkKind) -> usize {
        match kind {
            ChunkKind::Records => self.ring.size_for_records(),
            _ => self.ring.buffer_size(),
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
        // These types hold strings and numbers only, which JSON always can.
        self.push_whole(kind, process, serde_json::to_vec(info).unwrap_or_default());
    }

    /// A chunk that isn't part of a longer payload.
    fn push_whole(&mut self, kind: ChunkKind, process: u32, payload: Vec<u8>) {
        let sequence = self.next_sequence(kind);
        let fields = ChunkFields {
            process,
            sequence,
            ..ChunkFields::new(kind)
        };
        self.queue.push(fields, Payload::Bytes(payload));
    }

    fn next_sequence(&mut self, kind: ChunkKind) -> u64 {
        let next = self.sequences.entry(kind.into()).or_default();
        *next += 1;
        *next - 1
    }

    /// What is queued by now goes to a snapshot, with what threads still keep of the time before `asked_ticks`.
    pub fn push_snapshot(&mut self, mut request: SnapshotRequest, asked_ticks: u64) {
        let missing = self.copy_newest(asked_ticks);
        if missing > 0 {
            request.reason += &format!(
                "; the newest records of {missing} threads are missing, which didn't hand them over"
            );
        }
        self.queue.push_snapshot(request);
    }

    /// Notes what streams dropped at their end, what is damaged, and what the oracle counted, and then asks for the last
    /// snapshot. Nothing can be collected any more.
    pub fn finish(mut self, reason: GapReason, last: Option<SnapshotRequest>) -> Totals {
        let mut summary = Vec::new();
        for (stream, slot) in (0..).zip(self.ring.slots(0)) {
            self.finish_stream(stream, &slot, reason);
            if slot.oracle_count > 0 {
                summary.extend_from_slice(&u64::from(stream).to_le_bytes());
                summary.extend_from_slice(&slot.oracle_count.to_le_bytes());
                summary.extend_from_slice(&slot.oracle_hash.to_le_bytes());
            }
        }
        if !summary.is_empty() {
            self.queue.push(
                ChunkFields::new(ChunkKind::OracleSummary),
                Payload::Bytes(summary),
            );
        }
        self.finish_damage();
        if let Some(request) = last {
            self.queue.push_snapshot(request); // nobody keeps anything any more
        }
        self.totals.processes = self.processes.numbered().into();
        self.totals.interrupted_streams = self.interruptions.of(|_| true);
        self.totals.interrupted_in_children = self.interruptions.of(|pid| pid != self.program);
        self.totals
    }

    fn finish_stream(&mut self, stream: u32, slot: &SlotWords, reason: GapReason) {
        let noted = self.streams.get(&stream).map_or(0, |state| state.dropped);
        let image = Image {
            pid: slot.pid,
            image: slot.image,
        };
        if slot.dropped > MOST_DROPPED || !self.processes.has_room_for(image) {
            self.totals.is_damaged = true;
            return;
        }
        self.totals.dropped += slot.dropped;
        if slot.dropped > noted {
            let process = self.processes.number(image, 0).number;
            self.stream_state(stream, process);
            self.push_gap(stream, slot.dropped - noted, reason);
        }
    }
}
