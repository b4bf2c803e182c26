//! Turns record streams into batches of accesses, fast.
//!
//! The decoder runs the [`Code`] of the trace. It trusts the code's invariants, which compiling has established, and
//! nothing in the records: the payload is followed by zero bytes enough for any record, and each id is looked up.

mod block;
mod chunk_decoder;
mod expansion;
mod joined;
mod loops;
mod machine;
mod runs;
mod walk;

pub use chunk_decoder::ChunkDecoder;
use joined::JoinedRecords;
use loops::{LoopedRecord, Progress};
use machine::Machine;
use std::sync::Arc;
use walk::{Place, Stop};

use crate::bytes::u32_at;
use crate::code::{entry_class, entry_length, second_place, Code, FIRST_REGISTER, NO_CLASS, PREFIX_CLASS};
use crate::payload::check_raw_length;
use crate::slice::{event_bytes, keep, ChunkCut, ChunkPosition, Kept, Outside, Sliced};
use crate::table::{MAX_ITERATIONS, STREAM_REGISTERS};
use crate::{Batch, ChunkRef, Codec, Trace, TraceError};

/// A batch ends with the first record that brings it to this many accesses: 16 bytes each stay in a core's L2 cache.
const BATCH_ACCESSES: usize = 8192;
/// A batch also ends with the first record that brings it to this many events.
const BATCH_MARKS: usize = 8192;
/// A batch that keeps runs also ends with the first record that brings it to this many lanes of runs.
const BATCH_LANES: usize = 4096;
/// The registers below are the decoder's or the stream's.
const FIRST_OWN_REGISTER: usize = (FIRST_REGISTER + STREAM_REGISTERS) as usize;
/// Entries of the columns past the last access that may be overwritten.
const COLUMN_SLACK: usize = block::Block::LENGTH;

/// Decodes chunks of records. Cheap to make; each thread has its own, and reuses it for many chunks.
pub struct Decoder<'t> {
    trace: &'t Trace,
    code: &'t Code,
    /// A chunk's records, followed by zeros. If the records were split, it holds only those that had to be joined.
    payload: Vec<u8>,
    /// State for chunks whose records were split; it is made for the first of them.
    joined: Option<Box<JoinedRecords>>,
    /// Whether split records are joined to bytes before they are decoded.
    joins_first: bool,
    registers: Vec<u64>,
    looped: LoopedRecord,
    keeps_runs: bool,
    batch: Batch,
    /// What the trace's slice leaves of the batch; none if it leaves all.
    sliced: Option<(&'t Sliced, Box<Batch>)>,
    /// Whether allocations before the slice's end are kept though they lie outside.
    from_start: bool,
}

impl<'t> Decoder<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let mut decoder = Decoder::uncut(trace);
        decoder.sliced = trace.cuts().map(|sliced| (sliced, Box::default()));
        decoder
    }

    /// One that gives all of each chunk, whatever the trace's slice.
    pub(crate) fn uncut(trace: &'t Trace) -> Self {
        let code = trace.code();
        let mut batch = Batch::default();
        let capacity = BATCH_ACCESSES + code.max_accesses + COLUMN_SLACK;
        batch.site.reserve_exact(capacity);
        batch.address.reserve_exact(capacity);
        batch.size.reserve_exact(capacity);
        Decoder {
            trace,
            code,
            payload: Vec::new(),
            joined: None,
            joins_first: false,
            registers: vec![0; code.register_count],
            looped: LoopedRecord::default(),
            keeps_runs: false,
            batch,
            sliced: None,
            from_start: false,
        }
    }

    /// Decodes loops whose addresses move evenly into runs, as far as that is worth it, instead of single accesses.
    pub fn with_runs(mut self) -> Self {
        self.keeps_runs = true;
        self
    }

    /// In a slice of the trace, also gives the allocations and releases that lie outside of it, but not after its end.
    pub fn from_start(mut self) -> Self {
        self.from_start = true;
        self
    }

    /// Joins split records before it decodes them. That is slower, and records before damage in them are lost too. But
    /// then a suspended decoder needn't keep what joining remembers, so there may be thousands of them.
    pub(crate) fn joining_first(mut self) -> Self {
        self.joins_first = true;
        self
    }

    /// Reads a chunk of records and decodes it batch by batch. Chunks may be decoded in any order.
    pub fn decode(&mut self, chunk: &ChunkRef) -> Result<Batches<'_, 't>, TraceError> {
        let trace = self.trace;
        if let Some(cut) = self.known_outside(chunk) {
            return Ok(Batches {
                decoder: self,
                chunk: *chunk,
                length: 0,
                place: Place::START,
                state: State::Ended,
                cut: Some(cut),
            });
        }
        let batches = self.decode_stored(chunk, trace.stored_payload(chunk)?);
        trace.release(chunk);
        batches
    }

    /// The cut of a chunk outside of the slice whose allocations an earlier pass found.
    fn known_outside(&self, chunk: &ChunkRef) -> Option<PartialCut> {
        let (sliced, _) = self.sliced.as_ref().filter(|_| self.from_start)?;
        let known = sliced.outside().of_chunk(chunk.offset)?;
        Some(PartialCut {
            cut: sliced.cut(self.trace, chunk),
            position: ChunkPosition::default(),
            outside: Some(Outside::Known(known)),
        })
    }

    /// The same for a chunk that the trace's file need not hold: `stored` is its payload as it would stand in the file.
    pub fn decode_stored(&mut self, chunk: &ChunkRef, stored: &[u8]) -> Result<Batches<'_, 't>, TraceError> {
        self.batch.clear();
        // Enough for a global id, the longest record, and a root that is read as 8 bytes.
        let padding = 4 + self.code.max_record_length + 8;
        let header = &chunk.header;
        let state = match header.codec {
            Codec::Columns if !self.joins_first => {
                self.open_columns(chunk, stored, padding)?;
                State::Joining
            }
            _ => {
                self.trace
                    .unpack_payload(chunk, stored, padding, &mut self.payload)?;
                State::Running
            }
        };
        // Those of functions are set before they are read.
        self.registers[..FIRST_OWN_REGISTER].fill(0);
        self.batch.process = header.process;
        self.batch.stream = header.stream;
        self.batch.sequence = header.sequence;
        self.batch.first_ns = header.first_ns;
        self.batch.last_ns = header.last_ns;
        let length = self.payload.len() - padding;
        let (trace, from_start) = (self.trace, self.from_start);
        let sliced = self.sliced.as_ref();
        let cut = sliced.map(|(sliced, _)| {
            let cut = sliced.cut(trace, chunk);
            let is_outside = from_start && cut.is_outside() && cut.keeps_allocation(u64::MAX - 1);
            PartialCut {
                cut,
                position: ChunkPosition::default(),
                outside: is_outside.then(|| Outside::Gathered(Box::default())),
            }
        });
        Ok(Batches {
            decoder: self,
            chunk: *chunk,
            length,
            place: Place::START,
            state,
            cut,
        })
    }

    fn open_columns(&mut self, chunk: &ChunkRef, stored: &[u8], padding: usize) -> Result<(), TraceError> {
        let (trace, code) = (self.trace, self.code);
        let new = || Box::new(JoinedRecords::new(trace.columns().take_state(), code));
        let joined = self.joined.get_or_insert_with(new);
        check_raw_length(&chunk.header, stored)
            .and_then(|length| joined.open(stored, length, padding, &mut self.payload))
            .map_err(|what| trace.bad_compression(chunk, what))
    }

    /// Goes on with the chunk that this decoder decoded last.
    pub(crate) fn resume(&mut self, suspended: Suspended) -> Batches<'_, 't> {
        let Suspended {
            chunk,
            length,
            place,
            state,
            cut,
        } = suspended;
        Batches {
            decoder: self,
            chunk,
            length,
            place,
            state,
            cut,
        }
    }

    /// The batch that was decoded last.
    pub(crate) fn last_batch(&self) -> &Batch {
        match &self.sliced {
            Some((_, kept)) => kept,
            None => &self.batch,
        }
    }
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        if let Some(joined) = self.joined.take() {
            self.trace.columns().give_back(joined.into_joiner());
        }
    }
}

/// The batches of one chunk.
pub struct Batches<'d, 't> {
    decoder: &'d mut Decoder<'t>,
    chunk: ChunkRef,
    /// Bytes of the payload without the zeros after it.
    length: usize,
    /// The next record.
    place: Place,
    state: State,
    cut: Option<PartialCut>,
}

/// How the trace's slice cuts the chunk, and how far that has come.
#[derive(Clone)]
struct PartialCut {
    cut: Arc<ChunkCut>,
    /// What of the chunk was decoded.
    position: ChunkPosition,
    /// None if more than allocations may be left of the chunk, or not even these.
    outside: Option<Outside>,
}

/// [`Batches`] without their decoder, to be resumed with the same one.
#[derive(Clone)]
pub(crate) struct Suspended {
    chunk: ChunkRef,
    length: usize,
    place: Place,
    state: State,
    cut: Option<PartialCut>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The next record begins at the place's position, in the columns.
    Joining,
    /// The same, in the payload.
    Running,
    /// The decoder's looped record goes on.
    InLoop {
        joining: bool,
    },
    Ended,
    /// The record at `position` is invalid.
    Failed(Failure),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    UnknownLocalId(u8),
    UnknownGlobalId(u32),
    Truncated,
    Endless,
    Columns(&'static str),
}

impl Failure {
    fn text(self) -> String {
        match self {
            Failure::UnknownLocalId(id) => {
                format!("the local id that begins with {id} is unknown in the current function")
            }
            Failure::UnknownGlobalId(id) => format!("global id {id} belongs to no module of the trace"),
            Failure::Truncated => "it is longer than the rest of the chunk".into(),
            Failure::Columns(what) => what.into(),
            Failure::Endless => format!("its loops run more than {MAX_ITERATIONS} times"),
        }
    }
}

impl Batches<'_, '_> {
    /// Lets go of the decoder, which keeps the last batch.
    pub(crate) fn suspend(self) -> Suspended {
        Suspended {
            chunk: self.chunk,
            length: self.length,
            place: self.place,
            state: self.state,
            cut: self.cut,
        }
    }

    /// The next batch in program order; none after the last. It may be empty, where a loop makes no accesses. An
    /// invalid record ends the chunk with an error, after all batches before it.
    pub fn next_batch(&mut self) -> Result<Option<&Batch>, TraceError> {
        match self.cut {
            None => self.next_whole_batch(),
            Some(_) => self.next_kept_batch(),
        }
    }

    /// The next batch of which the slice leaves something.
    #[cold]
    fn next_kept_batch(&mut self) -> Result<Option<&Batch>, TraceError> {
        if self.give_known() {
            return Ok(Some(self.decoder.last_batch()));
        }
        loop {
            let from_start = self.decoder.from_start;
            if self
                .cut
                .as_ref()
                .is_some_and(|cut| cut.cut.is_over(cut.position.accesses, from_start))
            {
                self.state = State::Ended;
            }
            if self.next_whole_batch()?.is_none() {
                self.remember_outside();
                return Ok(None);
            }
            self.keep();
            if !self.decoder.last_batch().is_empty() {
                return Ok(Some(self.decoder.last_batch()));
            }
        }
    }

    /// Gives what an earlier pass found in a chunk outside; false if that is nothing, or was given, or isn't known.
    fn give_known(&mut self) -> bool {
        let (Some(cut), Some((_, kept))) = (&mut self.cut, &mut self.decoder.sliced) else {
            return false;
        };
        let Some(Outside::Known(known)) = &cut.outside else {
            return false;
        };
        **kept = Batch::clone(known);
        cut.outside = None;
        !kept.is_empty()
    }

    /// Keeps what was found in a chunk outside for later passes, once it has ended.
    fn remember_outside(&mut self) {
        let (Some(cut), Some((sliced, _))) = (&mut self.cut, &self.decoder.sliced) else {
            return;
        };
        if let Some(Outside::Gathered(mut events)) = cut.outside.take() {
            let bytes = event_bytes(&mut events);
            sliced.outside().remember(self.chunk.offset, *events, bytes);
        }
    }

    /// Takes from the batch what the slice has.
    fn keep(&mut self) {
        let decoder = &mut *self.decoder;
        let (batch, from_start) = (&mut decoder.batch, decoder.from_start);
        let (
            Some((sliced, kept)),
            Some(PartialCut {
                cut,
                position,
                outside,
            }),
        ) = (&mut decoder.sliced, &mut self.cut)
        else {
            return;
        };
        let first = *position;
        *position = ChunkPosition {
            accesses: first.accesses.saturating_add(batch.access_count()),
            marks: first.marks + batch.marks.len() as u64,
        };
        let sites = sliced.sites();
        match cut.is_whole() && sites.is_none() {
            true => {
                kept.come_from(batch);
                std::mem::swap(batch, kept);
            }
            false => keep(
                Kept {
                    cut,
                    sites,
                    from_start,
                },
                batch,
                first,
                kept,
            ),
        }
        if let Some(outside) = outside {
            outside.gather(kept);
        }
    }

    fn next_whole_batch(&mut self) -> Result<Option<&Batch>, TraceError> {
        self.decoder.batch.clear();
        if matches!(self.state, State::Joining | State::Running | State::InLoop { .. }) {
            self.fill();
        }
        match self.state {
            State::InLoop { .. } => Ok(Some(&self.decoder.batch)),
            _ if !self.decoder.batch.is_empty() => Ok(Some(&self.decoder.batch)),
            State::Failed(failure) => {
                self.state = State::Ended;
                Err(self.error(failure))
            }
            _ => Ok(None),
        }
    }

    /// The same as [`Batches::next_batch`], for a batch that the caller keeps. The next batch is decoded into `spare`.
    pub fn exchange_batch(&mut self, spare: &mut Batch) -> Result<Option<Batch>, TraceError> {
        if self.next_batch()?.is_none() {
            return Ok(None);
        }
        let batch = match &mut self.decoder.sliced {
            Some((_, kept)) => kept,
            None => &mut self.decoder.batch,
        };
        spare.come_from(batch);
        std::mem::swap(batch, spare);
        Ok(Some(std::mem::take(spare)))
    }

    #[cold]
    fn error(&self, failure: Failure) -> TraceError {
        TraceError::BadRecord {
            file: self.decoder.trace.path().to_path_buf(),
            offset: self.chunk.offset,
            position: self.place.position as u64,
            what: failure.text(),
        }
    }

    /// Decodes records until the batch is full or the chunk ends. One loop over the reasons why the machine stops.
    /// Each of them changes what the loop does next, so parts of it would pass its whole state around.
    fn fill(&mut self) {
        let tail = self.chunk.header.is_tail();
        let length = self.length;
        let decoder = &mut *self.decoder;
        let code = decoder.code;
        let looped = &mut decoder.looped;
        let (registers, batch) = (&mut decoder.registers, &mut decoder.batch);
        let mut machine = Machine::new(code, &mut decoder.payload, registers, batch);
        machine.keep_runs(decoder.keeps_runs);
        let mut place = Place {
            last_start: 0,
            ..self.place
        };
        let mut limit = length;
        let (mut in_loop, joining) = match self.state {
            State::InLoop { joining } => (true, joining),
            state => (false, state == State::Joining),
        };
        if in_loop {
            machine.latest_loops = (place.position, 0);
        }
        let mut columns = decoder.joined.as_mut().filter(|_| joining);
        let joined_end = columns.as_ref().map_or(0, |columns| columns.end());
        // The payload holds no records before `joined_end`.
        let is_end = |payload: &[u8], position| position >= joined_end && is_end(payload, length, position);
        let state = loop {
            if in_loop {
                match looped.run(&mut machine) {
                    Progress::Done => in_loop = false,
                    Progress::Stopped => {
                        let joining = columns.is_some();
                        break State::InLoop { joining };
                    }
                    // The iteration count of a record that was never completed may be anything.
                    Progress::Endless if tail && is_end(machine.payload(), place.position) => {
                        break State::Ended
                    }
                    Progress::Endless => {
                        place.position = looped.position();
                        break State::Failed(Failure::Endless);
                    }
                }
            }
            let stop = match &mut columns {
                Some(columns) => machine.walk_joined(&mut place, columns),
                None => machine.walk(&mut place, limit),
            };
            match stop {
                Stop::Loops {
                    steps,
                    position,
                    start,
                } => {
                    looped.begin(position, start, steps);
                    in_loop = true;
                }
                Stop::Joined => columns = None,
                Stop::Damaged(what) => break State::Failed(Failure::Columns(what)),
                Stop::Full if columns.is_some() => break State::Joining,
                Stop::Full if tail && is_end(machine.payload(), place.position) => break State::Ended,
                Stop::Full => break State::Running,
                Stop::Unclear if place.position >= length => break State::Ended,
                Stop::Unclear => match end_of_record(code, machine.payload(), &place) {
                    Ok(None) => break State::Ended,
                    // What a tail's last record lacks reads as 0.
                    Ok(Some(end)) if tail => limit = end,
                    Ok(Some(_)) => break State::Failed(Failure::Truncated),
                    Err(failure) => break State::Failed(failure),
                },
            }
        };
        let last_record_runs = match state {
            State::Ended => true,
            State::InLoop { .. } => is_end(machine.payload(), place.position),
            State::Joining | State::Running | State::Failed(_) => false,
        };
        let last_start = place.last_start;
        let last_run = machine.runs_before_last(place.position);
        machine.finish();
        self.place = place;
        self.state = state;
        if tail && last_record_runs {
            self.decoder.batch.uncertain_from = Some(last_start as u32);
            self.decoder.batch.uncertain_runs_from = Some(last_run as u32);
        }
    }
}

/// Whether no record begins at `position`, which is at most one record's length after the end.
fn is_end(payload: &[u8], length: usize, position: usize) -> bool {
    position >= length || (payload[position] == 0 && u32_at(payload, position) == 0)
}

/// Where the record at this place ends; none at the end of the stream.
fn end_of_record(code: &Code, payload: &[u8], place: &Place) -> Result<Option<usize>, Failure> {
    let word = u32_at(payload, place.position);
    let (id, local_id) = (word >> 8, word as u8);
    let (index, end) = match (local_id, id) {
        (0, 0) => return Ok(None),
        (0, id) => (id, code.id_count),
        (local_id, _) => (place.locals.first() + u32::from(local_id), place.locals.end()),
    };
    let entry = code.entries.get(index as usize).filter(|_| index < end);
    let entry = match entry {
        Some(prefix) if entry_class(prefix) == PREFIX_CLASS => code.entries.get(second_place(prefix, word)),
        _ => entry,
    };
    match entry {
        Some(entry) if entry_class(entry) != NO_CLASS => Ok(Some(place.position + entry_length(entry))),
        _ if local_id == 0 => Err(Failure::UnknownGlobalId(id)),
        _ => Err(Failure::UnknownLocalId(local_id)),
    }
}
