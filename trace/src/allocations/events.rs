//! The events of all streams in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::reader::{PayloadEvent, PayloadReader};
use super::{AllocationAction, AllocationEvent, AllocationStream, Allocator, StackId, Stacks};
use crate::{Clock, Gap, Trace, TraceError};

/// Merges the events of a trace in the order of their times. That order holds within each process and across all of
/// them. Memory holds one chunk of each stream that has begun.
pub struct AllocationEvents<'t> {
    trace: &'t Trace,
    clock: Clock,
    stacks: Stacks,
    cursors: Vec<Cursor<'t>>,
    /// Time and index of each cursor, the earliest first; finished cursors are absent.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    /// Damage that was found after the latest event.
    damage: Option<TraceError>,
}

/// Where reading a stream stands.
struct Cursor<'t> {
    stream: &'t AllocationStream,
    gaps: Vec<&'t Gap>,
    next_chunk: usize,
    payload: Vec<u8>,
    reader: PayloadReader,
    state: State,
    last_ns: u64,
}

enum State {
    /// The next chunk has not been read yet.
    BeforeChunk,
    Event(PayloadEvent),
}

impl<'t> AllocationEvents<'t> {
    /// The events of all streams.
    pub fn new(trace: &'t Trace) -> Self {
        Self::of(trace, |_| true)
    }

    /// The events of chosen streams.
    pub fn of(trace: &'t Trace, wanted: impl Fn(&AllocationStream) -> bool) -> Self {
        let streams = trace.allocation_streams().iter();
        let cursors: Vec<Cursor> = streams
            .filter(|stream| wanted(stream))
            .map(|stream| Cursor::new(stream, trace.all_gaps()))
            .collect();
        let waiting = (0..cursors.len())
            .filter_map(|index| Some(Reverse((cursors[index].next_chunk_ns()?, index))))
            .collect();
        AllocationEvents {
            trace,
            clock: trace.clock(),
            stacks: Stacks::default(),
            cursors,
            waiting,
            damage: None,
        }
    }

    /// The stacks of all events so far.
    pub fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// The next event; none at the end. After an error the stream goes on after the damaged chunk.
    pub fn next_event(&mut self) -> Result<Option<AllocationEvent>, TraceError> {
        loop {
            if let Some(error) = self.damage.take() {
                return Err(error);
            }
            let Some(Reverse((_, index))) = self.waiting.pop() else {
                return Ok(None);
            };
            let cursor = &mut self.cursors[index];
            let event = match cursor.state {
                State::Event(event) => Some(cursor.event(&event)),
                State::BeforeChunk => cursor.gap(),
            };
            self.damage = match (event, &cursor.state) {
                // The chunk after the gap comes next.
                (Some(_), State::BeforeChunk) => None,
                _ => cursor.advance(self.trace, &self.clock, &mut self.stacks).err(),
            };
            if let Some(time_ns) = cursor.waits_for() {
                self.waiting.push(Reverse((time_ns, index)));
            }
            if event.is_some() {
                return Ok(event);
            }
        }
    }
}

impl<'t> Cursor<'t> {
    fn new(stream: &'t AllocationStream, gaps: &'t [Gap]) -> Self {
        Cursor {
            stream,
            gaps: gaps.iter().filter(|gap| gap.stream == stream.stream).collect(),
            next_chunk: 0,
            payload: Vec::new(),
            reader: PayloadReader::default(),
            state: State::BeforeChunk,
            last_ns: 0,
        }
    }

    /// No event of the next chunk, or of a gap before it, comes earlier.
    fn next_chunk_ns(&self) -> Option<u64> {
        let chunk = self.stream.chunks.get(self.next_chunk);
        let gap = self.gaps.first().map(|_| self.last_ns);
        chunk.map(|chunk| chunk.header.first_ns.max(self.last_ns)).or(gap)
    }

    fn waits_for(&self) -> Option<u64> {
        match &self.state {
            State::Event(event) => Some(event.time_ns),
            State::BeforeChunk => self.next_chunk_ns(),
        }
    }

    fn event(&mut self, event: &PayloadEvent) -> AllocationEvent {
        self.last_ns = event.time_ns;
        AllocationEvent {
            time_ns: event.time_ns,
            process: self.stream.process,
            stream: self.stream.stream,
            thread: event.thread,
            by: event.by,
            what: event.what,
            stack: event.stack,
        }
    }

    /// What is missing before the next chunk; it is returned once.
    fn gap(&mut self) -> Option<AllocationEvent> {
        let sequence = match self.stream.chunks.get(self.next_chunk) {
            Some(chunk) => chunk.header.sequence,
            None => u64::MAX,
        };
        let gap = *self.gaps.first()?;
        if gap.before_sequence > sequence {
            return None;
        }
        self.gaps.remove(0);
        Some(AllocationEvent {
            time_ns: self.last_ns.max(gap.first_ns),
            process: self.stream.process,
            stream: self.stream.stream,
            thread: 0,
            by: Allocator::Nothing,
            what: AllocationAction::Missing {
                buffers: gap.dropped_buffers,
            },
            stack: StackId::default(),
        })
    }

    /// Goes on to the next event, or to the border of a chunk.
    fn advance(&mut self, trace: &Trace, clock: &Clock, stacks: &mut Stacks) -> Result<(), TraceError> {
        if matches!(self.state, State::BeforeChunk) {
            let Some(chunk) = self.stream.chunks.get(self.next_chunk) else {
                return Ok(());
            };
            self.next_chunk += 1;
            self.reader = PayloadReader::default();
            self.payload.clear();
            trace.read_payload(chunk, &mut self.payload)?;
        }
        self.state = State::BeforeChunk;
        match self.reader.next(&self.payload, clock, stacks) {
            Ok(Some(event)) => self.state = State::Event(event),
            Ok(None) => {}
            Err(invalid) => {
                let chunk = &self.stream.chunks[self.next_chunk - 1];
                return Err(trace.bad_record(chunk, invalid.position as u64, invalid.what));
            }
        }
        Ok(())
    }
}
