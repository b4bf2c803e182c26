//! A decoder that follows the format's text operation by operation, and checks what the fast one takes for granted.

use std::ops::ControlFlow;

use super::{Rule, Violation};
use crate::merge::{Loaded, LoadedModule, MergedTable, NO_SEGMENT};
use crate::table::{
    find_local, Expression, Operation, Segment, MAX_ITERATIONS, SEEN_REGISTERS, STREAM_REGISTERS,
};
use crate::{ChunkRef, Event, FunctionId, SiteId, Trace, TraceError, ValueShape};

/// An access or event, in program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    Access {
        site: SiteId,
        address: u64,
        length: u64,
    },
    Event(Event),
    /// A word of what an earlier access loaded or stored: the access so many before (1: the latest one).
    Value {
        accesses_before: u32,
        shape: ValueShape,
        /// Which of the value's words it is; `word` holds its bits.
        index: u32,
        word: u64,
    },
}

/// Decodes single chunks slowly and carefully.
pub struct Interpreter<'t> {
    trace: &'t Trace,
    payload: Vec<u8>,
    registers: Vec<u64>,
    /// For each register, the number of the chunk that last set it.
    set_in: Vec<u64>,
    /// The present chunk's.
    chunk: u64,
    /// Iterations that the loops of one record may run.
    iteration_limit: u64,
}

/// Where a record leads.
#[derive(Clone, Copy)]
struct Place<'t> {
    module: &'t LoadedModule,
    table: &'t MergedTable,
    segment: &'t Segment,
    function: FunctionId,
}

impl Place<'_> {
    /// Where a register of the function is among those of all.
    fn register(&self, register: u32) -> usize {
        self.module.register(self.segment.function, register) as usize
    }
}

/// The record that is being interpreted, and its results.
struct Run<'a, 't> {
    place: Place<'t>,
    /// Bytes of the record that are still to be read; past them everything reads as 0.
    rest: &'a [u8],
    unset: Option<u32>,
    /// Iterations of the record's loops, those still to come among them.
    iterations: u64,
    /// The lanes that made the latest accesses; none if no lanes made them.
    active: Option<u64>,
    sink: &'a mut dyn FnMut(Decoded),
}

impl<'t> Interpreter<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let registers = trace.loaded().register_count.max(STREAM_REGISTERS) as usize;
        Interpreter {
            trace,
            payload: Vec::new(),
            registers: vec![0; registers],
            set_in: vec![0; registers],
            chunk: 0,
            iteration_limit: MAX_ITERATIONS,
        }
    }

    /// Treats a record as broken if its loops run more often than this, all together. The format's own limit is 2^40. A
    /// lower one bounds the time that a damaged trace can take.
    pub fn with_iteration_limit(self, iteration_limit: u64) -> Self {
        Interpreter {
            iteration_limit,
            ..self
        }
    }

    /// Decodes a chunk of records into `sink`, and returns all rules that it breaks. Unknown ids and truncated records
    /// end the chunk; a register that was not set in the chunk is 0.
    pub fn run(
        &mut self,
        chunk: &ChunkRef,
        sink: &mut dyn FnMut(Decoded),
    ) -> Result<Vec<Violation>, TraceError> {
        let mut payload = std::mem::take(&mut self.payload);
        self.trace.read_payload(chunk, &mut payload)?;
        let violations = self.records(chunk, &payload, sink);
        self.payload = payload;
        Ok(violations)
    }

    fn records(&mut self, chunk: &ChunkRef, payload: &[u8], sink: &mut dyn FnMut(Decoded)) -> Vec<Violation> {
        let tail = chunk.header.is_tail();
        let mut violations = Vec::new();
        self.chunk += 1;
        let mut current: Option<Place<'t>> = None;
        let mut position = 0;
        while position < payload.len() {
            let violation = |rule| Violation {
                chunk_offset: chunk.offset,
                stream: chunk.header.stream,
                position: position as u64,
                rule,
            };
            let (place, start) = match self.find(payload, position, current) {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(rule) => {
                    violations.push(violation(rule));
                    break;
                }
            };
            let end = start + place.segment.record_length as usize;
            if end > payload.len() && !tail {
                violations.push(violation(Rule::Truncated {
                    missing: (end - payload.len()) as u64,
                }));
                break;
            }
            current = Some(place);
            let rest = payload.get(start..).unwrap_or(&[]);
            let mut run = Run {
                place,
                rest,
                unset: None,
                iterations: 0,
                active: None,
                sink,
            };
            let done = self.operations(&place.segment.operations, &mut run);
            let iterations = run.iterations;
            if let Some(register) = run.unset {
                violations.push(violation(Rule::UnsetRegister {
                    function: place.function,
                    register,
                }));
            }
            if done.is_break() {
                // The iteration count of a record that was never completed may be anything.
                let incomplete = tail && is_end(payload, end) && iterations > MAX_ITERATIONS;
                if !incomplete {
                    violations.push(violation(Rule::Iterations {
                        limit: self.iteration_limit,
                    }));
                }
                break;
            }
            position = end;
        }
        violations
    }

    /// The place of the record at `position`, and where its bytes after the id start.
    fn find(
        &self,
        payload: &[u8],
        position: usize,
        current: Option<Place<'t>>,
    ) -> Result<Option<(Place<'t>, usize)>, Rule> {
        let byte = |offset: usize| payload.get(position + offset).copied().unwrap_or(0);
        let bytes = [byte(0), byte(1)];
        if bytes[0] != 0 {
            let local_id = bytes[0];
            let current = current.ok_or(Rule::FirstRecordIsLocal { local_id })?;
            let place = find_in(current, bytes).ok_or(Rule::UnknownLocalId { local_id })?;
            return Ok(Some((place, position + place.segment.local_id_length())));
        }
        match u32::from_le_bytes([byte(1), byte(2), byte(3), 0]) {
            0 => Ok(None),
            id => {
                let place = find_global(self.trace.loaded(), id).ok_or(Rule::UnknownGlobalId { id })?;
                Ok(Some((place, position + 4)))
            }
        }
    }

    fn set(&mut self, register: u32, value: u64, run: &Run<'_, '_>) {
        let place = run.place.register(register);
        self.registers[place] = value;
        self.set_in[place] = self.chunk;
    }

    fn get(&self, register: u32, run: &mut Run<'_, '_>) -> u64 {
        let place = run.place.register(register);
        if self.set_in[place] == self.chunk {
            return self.registers[place];
        }
        if register >= SEEN_REGISTERS {
            run.unset.get_or_insert(register);
        }
        0
    }

    fn value(&self, expression: &Expression, run: &mut Run<'_, '_>) -> u64 {
        let symbol = expression
            .symbol
            .map_or(0, |symbol| run.place.module.symbol_addresses[symbol as usize]);
        let mut value = symbol.wrapping_add(expression.constant as u64);
        for term in &expression.terms {
            value = value.wrapping_add(self.get(term.register, run).wrapping_mul(term.scale as u64));
        }
        value
    }

    /// Breaks off if the loops of the record run too often.
    fn operations(&mut self, operations: &[Operation], run: &mut Run<'_, '_>) -> ControlFlow<()> {
        operations
            .iter()
            .try_for_each(|operation| self.operation(operation, run))
    }

    fn operation(&mut self, operation: &Operation, run: &mut Run<'_, '_>) -> ControlFlow<()> {
        let table = run.place.table;
        match operation {
            Operation::Root { register, encoding } => {
                let value = run.take(usize::from(encoding.width), encoding.signed);
                self.set(*register, value, run);
            }
            Operation::Set { register, value } => {
                let value = self.value(value, run);
                self.set(*register, value, run);
            }
            Operation::Access { site, address } => {
                let address = self.value(address, run);
                run.active = None;
                run.access(self.trace, *site, address);
            }
            Operation::Block {
                site,
                address,
                length,
            } => {
                let address = self.value(address, run);
                let length = self.value(length, run);
                if length > 0 {
                    (run.sink)(Decoded::Access {
                        site: table.site(*site),
                        address,
                        length,
                    });
                }
            }
            Operation::Masked { .. } | Operation::Gather { .. } => self.masked_lanes(operation, run),
            Operation::Enter => (run.sink)(Decoded::Event(Event::Enter(run.place.function))),
            Operation::Exit => (run.sink)(Decoded::Event(Event::Exit(run.place.function))),
            Operation::Allocate { .. } | Operation::Free { .. } | Operation::Reallocate { .. } => {
                self.allocation(operation, run);
            }
            Operation::Order {
                synchronisation,
                location,
                address,
                stamp,
            } => {
                let event = Event::Order {
                    synchronisation: *synchronisation,
                    location: table.location(*location),
                    address: self.value(address, run),
                    time_ns: self.trace.clock().ns(self.value(stamp, run)),
                };
                (run.sink)(Decoded::Event(event));
            }
            Operation::Region { depth, name } => {
                let event = Event::Region {
                    depth: self.value(depth, run),
                    name: self.value(name, run),
                };
                (run.sink)(Decoded::Event(event));
            }
            Operation::Value { shape, words } => {
                let words: Vec<u64> = words.iter().map(|word| self.value(word, run)).collect();
                run.value(*shape, &words);
            }
            Operation::Loop { count, body } => {
                let count = self.value(count, run);
                run.iterations = run.iterations.saturating_add(count);
                if run.iterations > self.iteration_limit {
                    return ControlFlow::Break(());
                }
                return (0..count).try_for_each(|_| self.operations(body, run));
            }
        }
        ControlFlow::Continue(())
    }

    fn masked_lanes(&mut self, operation: &Operation, run: &mut Run<'_, '_>) {
        let mut set_lanes = 0;
        match operation {
            Operation::Masked {
                site,
                address,
                mask,
                lanes,
                packed,
                stride,
            } => {
                let address = self.value(address, run);
                let mask = self.get(*mask, run);
                run.active = Some(mask & u64::MAX >> (64 - lanes));
                for lane in (0..u64::from(*lanes)).filter(|lane| mask >> lane & 1 == 1) {
                    let steps = if *packed { set_lanes } else { lane };
                    run.access(
                        self.trace,
                        *site,
                        address.wrapping_add(steps.wrapping_mul(*stride)),
                    );
                    set_lanes += 1;
                }
            }
            Operation::Gather {
                site,
                mask,
                lanes,
                first_register,
            } => {
                let mask = self.get(*mask, run);
                run.active = Some(mask & u64::MAX >> (64 - lanes));
                for lane in (0..u32::from(*lanes)).filter(|lane| mask >> lane & 1 == 1) {
                    let address = self.get(first_register + lane, run);
                    run.access(self.trace, *site, address);
                }
            }
            _ => {}
        }
    }

    fn allocation(&mut self, operation: &Operation, run: &mut Run<'_, '_>) {
        let table = run.place.table;
        let event = match operation {
            Operation::Allocate { site, block } => Event::Allocate {
                site: table.allocation_site(*site),
                address: self.value(&block.address, run),
                element_size: self.value(&block.element_size, run),
                count: self.value(&block.count, run),
            },
            Operation::Free { site, address } => Event::Free {
                site: table.allocation_site(*site),
                address: self.value(address, run),
            },
            Operation::Reallocate { site, old, block } => Event::Reallocate {
                site: table.allocation_site(*site),
                old_address: self.value(old, run),
                new_address: self.value(&block.address, run),
                element_size: self.value(&block.element_size, run),
                count: self.value(&block.count, run),
            },
            _ => return,
        };
        (run.sink)(Decoded::Event(event));
    }
}

impl Run<'_, '_> {
    /// The next bytes of the record as a number.
    fn take(&mut self, width: usize, signed: bool) -> u64 {
        let mut bytes = [0; 8];
        let present = width.min(self.rest.len());
        bytes[..present].copy_from_slice(&self.rest[..present]);
        self.rest = &self.rest[present..];
        if signed && bytes[width - 1] & 0x80 != 0 {
            bytes[width..].fill(0xff);
        }
        u64::from_le_bytes(bytes)
    }

    /// The value of the latest accesses, bit by bit as the format says it.
    fn value(&mut self, shape: ValueShape, words: &[u64]) {
        let bit = |position: u32| words[position as usize / 64] >> (position % 64) & 1;
        let lanes: Vec<(u32, ValueShape)> = match self.active {
            None => vec![(0, shape)],
            Some(mask) => (0..shape.lanes)
                .filter(|lane| mask >> lane & 1 == 1)
                .map(|lane| (lane, ValueShape { lanes: 1, ..shape }))
                .collect(),
        };
        let count = lanes.len() as u32;
        for (number, (lane, shape)) in (0..count).zip(lanes) {
            let mut value = vec![0; shape.word_count()];
            for position in 0..shape.bits * shape.lanes {
                value[position as usize / 64] |= bit(lane * shape.bits + position) << (position % 64);
            }
            for (index, word) in value.into_iter().enumerate() {
                (self.sink)(Decoded::Value {
                    accesses_before: count - number,
                    shape,
                    index: index as u32,
                    word,
                });
            }
        }
    }

    fn access(&mut self, trace: &Trace, site: u32, address: u64) {
        let site = self.place.table.site(site);
        let length = u64::from(trace.program().site(site).size);
        (self.sink)(Decoded::Access {
            site,
            address,
            length,
        });
    }
}

/// Whether no record begins at `position` of a `tail` chunk's payload, whose missing bytes are 0.
fn is_end(payload: &[u8], position: usize) -> bool {
    payload.iter().skip(position).take(4).all(|byte| *byte == 0)
}

/// The segment of the current function with whose local id a record begins.
fn find_in(current: Place<'_>, bytes: [u8; 2]) -> Option<Place<'_>> {
    let range = &current.table.segments_of_function[current.segment.function as usize];
    let segments = &current.table.segments[range.start as usize..range.end as usize];
    let segment = &segments[find_local(segments, bytes)?];
    Some(Place { segment, ..current })
}

fn find_global(loaded: &Loaded, id: u32) -> Option<Place<'_>> {
    let module = *loaded
        .module_of_segment
        .get(id as usize)
        .filter(|module| **module != NO_SEGMENT)?;
    let module = &loaded.modules[module as usize];
    let table = &loaded.tables[module.table];
    let segment = &table.segments[(id - module.first_segment) as usize];
    Some(Place {
        module,
        table,
        segment,
        function: table.function(segment.function),
    })
}
